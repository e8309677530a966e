package io.github.keepsake4j.recall;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the pronouns of a question tell, in English, German and Chinese, and in part in Japanese. The boundaries of words
 * are Unicode's: from Java 19 on, patterns without this flag use those of ASCII. Pure functions.
 */
final class Pronouns {

    static final Pattern FIRST =
            Pattern.compile("(?iU)\\b(i|me|my|mine|myself|ich|mich|mir|mein(e[mnrs]?)?)\\b|[我私僕俺]");

    /** The polite form of German is written with a capital letter, and tells nothing at the beginning of a sentence. */
    static final Pattern SECOND =
            Pattern.compile("(?U)(?i:\\b(you|yours?|yourself|du|dich|dir|dein(e[mnrs]?)?)\\b|[你您])"
                    + "|(?<=[\\p{L}\\p{N},] )(Sie|Ihnen|Ihre?[mnrs]?)\\b");

    /** Words with which a question asks for an answer, not for what was said. */
    private static final Pattern REQUEST = Pattern.compile(
            "(?iU)\\b(can|could|would|will|should|may|might|do|if) you\\b|\\b(tell|remind|show|give|help|let) me\\b"
                    + "|\\b(kann|könnte|würde|will|weiß|erinner)e?s?t du( dich| mich| mir)?\\b"
                    + "|\\b(können|könnten|würden|wollen|wissen|erinnern) Sie( sich| mich| mir)?\\b"
                    + "|\\b(sage?|zeige?|gib|nenne?|erzähle?|erinnere?|hilf)n?( Sie)? (mir|mich)\\b"
                    + "|[你您](能|可以|会|愿意|知道|觉得|认为|还?记得)|请[你您]|(告诉|提醒|帮|给)我");

    /**
     * Those of the third person in the first clause, where nothing before them is what they mean; not the polite form of
     * German. The characters are also parts of other words.
     */
    private static final Pattern THIRD = Pattern.compile("(?U)^[^,;:.!?，；：。！？]*?("
            + "\\b(?i:he|him|his|she|hers?|it|its|they|them|theirs?|er|ihn|ihm|sein(e[mnrs]?)?|es)\\b"
            + "|\\b(sie|ihr(e[mnrs]?)?|ihnen)\\b|(?<![其吉])[他她它])");

    /** Where "it" and "es" mean nothing. */
    private static final Pattern EXPLETIVE = Pattern.compile(
            "(?iU)\\b(is|was|would) it (true|possible|okay|ok|better|worth|safe|normal|raining|snowing|cold|warm|hot)\\b"
                    + "|\\b(time|date|day) (is|was) it\\b|\\bit (seems|rains|depends|takes|is (true|possible))\\b"
                    + "|\\b(gibt|gab|geht|ging|regnet|schneit|stimmt|kommt) es\\b|\\bspät (ist|war) es\\b"
                    + "|\\bes (gibt|gab|geht|ging|regnet|schneit|stimmt|kommt)\\b"
                    + "|\\b(ist|war|wäre) es (wahr|möglich|besser|sicher|normal|kalt|warm|heiß)\\b");

    /** More than two sentences tell themselves what their pronouns mean. */
    private static final Pattern LONG = Pattern.compile("(?s)(?:.*?(?:[.!?]++\\s|[。！？]++)){2}\\s*+\\S");

    private Pronouns() {}

    /** Returns whether a question has a pronoun for something that was said before it. */
    static boolean refersBack(String question) {
        return THIRD.matcher(EXPLETIVE.matcher(question).replaceAll(" ")).find()
                && !LONG.matcher(question).lookingAt();
    }

    /** Returns whether a question asks what the assistant said: its first pronoun is of the second person. */
    static boolean asksAssistant(String question) {
        String rest = REQUEST.matcher(question).replaceAll(" ");
        Matcher second = SECOND.matcher(rest);
        Matcher first = FIRST.matcher(rest);
        return second.find() && (!first.find() || second.start() < first.start());
    }
}
