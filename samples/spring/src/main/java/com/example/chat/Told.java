package com.example.chat;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What users told about themselves in a text, found by rules of thumb.
 *
 * @param clause what was told, such as "My favourite colour is green"
 */
record Told(String clause) {

    /** Words that are meant, although a question or a clause has others. */
    private static final Map<String, Pattern> MEANT = Map.of(
            "name", pattern("who am i\\b|i called|^(?:i am|i'm|call me)(?: called)? (?-i:\\p{Lu})"),
            "age", pattern("how old|years old$|^(?:i am|i'm) \\d+$"),
            "job", pattern("do i do\\W*$|for a living|i work as|^(?:i am|i'm) an? "),
            "live", pattern("^i(?:'ve| have)? (?:live|moved to)"));

    /** Between clauses: the end of a sentence or a line, a quotation mark, or a comma or an "and" before the next one. */
    private static final Pattern END =
            pattern("(?<=[.!?;])\\s+|[\\r\\n“”|\"]+|,? and (?=(?:I|my)\\b)|, (?=(?:I|my|and|but)\\b)");

    /** What may come before a clause, also the date and the speaker of a recalled message. */
    private static final Pattern FILLER =
            pattern("^(?:(?:\\[[^\\]]*\\]|user:|- |[^:]*: (?=the user's)|(?:hi|hello|hey|well|yes|no|and|but|also|so"
                    + "|please|remember(?: that)?)\\b)[ ,.!:]*)+");

    private static final Pattern OF_THE_USER =
            pattern("^(?:(?:i'm|call me)|(?:i|i've|my|our|we|the user's) \\S+)(?: \\S+){1,30}$");
    private static final Pattern ASKS = pattern("^(?:what|where|who|when|which|how|do|does|did|am|tell me)\\b|\\?$");
    private static final Pattern PERSONAL = pattern("\\b(?:i|me|my|our)\\b");
    private static final Pattern OF_WHAT = pattern("^(?:my|our|the user's) (.+?) (?:is|are) .*");
    private static final Set<String> EMPTY =
            Set.of(("a an the is are am was were do does did i you me my our we of in on at to for and or with what"
                            + " who whose how which where when can many much have has old called tell know s m")
                    .split(" "));
    private static final Map<String, String> TURNED = Stream.of(
                    ("i am=you are,i'm=you are,i was=you were,i've=you have,"
                                    + "i=you,me=you,my=your,we=you,our=your,the user's=your")
                            .split(","))
            .map(pair -> pair.split("="))
            .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    private static final Pattern TURNS = pattern("\\b(?:i (?:am|was)|i'm|i've|i|me|my|we|our|the user's)\\b");

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS);
    }

    private static List<String> clauses(String text) {
        return END.splitAsStream(text.replaceAll("[’`]", "'"))
                .map(part -> FILLER.matcher(part.strip()).replaceFirst(""))
                .toList();
    }

    /** Returns what a text tells, without what a later clause replaces. The newest is last. */
    static Collection<Told> in(String text) {
        Map<String, Told> newest = new LinkedHashMap<>();
        for (String clause : clauses(text)) {
            Told told = new Told(clause.replaceAll("[\\s.,;:!]+$", ""));
            if (!clause.endsWith("?") && OF_THE_USER.matcher(told.clause).matches()) {
                newest.remove(told.subject());
                newest.put(told.subject(), told);
            }
        }
        return newest.values();
    }

    /** Returns the last question about the user in a text. */
    static Optional<String> question(String text) {
        return clauses(text).stream()
                .filter(clause ->
                        ASKS.matcher(clause).find() && PERSONAL.matcher(clause).find())
                .reduce((before, last) -> last);
    }

    /** Returns the newest sentence of a text that answers a question about the user, or all for "about me". */
    static Optional<String> answer(String question, String text) {
        Set<String> asked = words(question);
        boolean isAll = question.contains("about me");
        return in(text).stream()
                .filter(told -> isAll || !asked.isEmpty() && words(told.clause).containsAll(asked))
                .map(Told::sentence)
                .reduce((before, last) -> isAll ? before + " " + last : last);
    }

    /** Returns the words that say something, without their endings, so that "lives" is "live", and those that are meant. */
    private static Set<String> words(String text) {
        String plain = text.toLowerCase(Locale.ROOT).replace("our", "or").replaceAll("\\b(?:love|enjoy)", "like");
        return Stream.concat(Arrays.stream(plain.split("[^\\p{L}\\d]+")), meant(text))
                .filter(word -> !EMPTY.contains(word))
                .map(word -> word.replaceFirst("(?<=\\p{L}{3})(?:ing|ed|es|e|s)$", ""))
                .collect(Collectors.toSet());
    }

    private static Stream<String> meant(String text) {
        return MEANT.keySet().stream()
                .filter(word -> MEANT.get(word).matcher(text).find());
    }

    /** Returns to what the clause gives a value. */
    String subject() {
        return meant(clause).findFirst().orElseGet(() -> OF_WHAT.matcher(clause)
                .replaceFirst("$1")
                .replaceFirst("^(?i:i|i'm|i've|we|my|our) ", "")
                .toLowerCase(Locale.ROOT));
    }

    /** Returns the clause as the user's answer: "Your favourite colour is green." */
    private String sentence() {
        String turned = TURNS.matcher(clause)
                .replaceAll(found -> TURNED.get(found.group().toLowerCase(Locale.ROOT)));
        return turned.substring(0, 1).toUpperCase(Locale.ROOT) + turned.substring(1) + ".";
    }

    /** Returns the clause as a fact for others: "The user's favourite colour is green." */
    String fact() {
        return OF_WHAT.matcher(clause).matches()
                ? clause.replaceFirst("(?i)^(?:my|our) ", "The user's ") + "."
                : "The user said: “" + clause + ".”";
    }
}
