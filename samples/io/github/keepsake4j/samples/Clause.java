package io.github.keepsake4j.samples;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A part of a message that says or asks one thing.
 *
 * @param text the part; a statement is turned to its speaker, so that "I like my tea" is "you like your tea"
 * @param isQuestion whether it asks something
 * @param isPersonal whether its speaker talks of himself, or of a person or a thing by name or as one that is known
 */
record Clause(String text, boolean isQuestion, boolean isPersonal) {

    /** How a question begins. "When I was young" begins none. */
    private static final String ASKS = "(?:what|where|who|whose|when|how|why|which)(?! (?:I|we|my) )(?: \\p{L}+){0,2}? "
            + "(?:is|are|am|do|does|did|was|were|have|has|can|should|will|would)\\b"
            + "|(?:do|does|did|is|are|am|was|can|could|will|would|have|has) (?:I|you|my|we|our|your|it|the|there|any)\\b"
            + "|(?:tell|remind) me\\b|(?:list|repeat|guess)\\b";

    /** How a speaker begins to talk of himself. */
    private static final String SAYS = "I\\b|we \\p{L}+|(?:please |you can |just )*call me\\b"
            + "|(?:my|our) [^,.]*?(?:'s|\\b(?:is|are|was|were|has|have|likes|loves|lives|works|plays|studies|speaks))\\b";

    private static final Pattern QUESTION = pattern("^(?:" + ASKS + ")|\\?\\s*$");
    private static final Pattern PERSONAL = pattern("\\b(?:I|me|my|mine|myself|we|our|ours)\\b"
            + "|^(?:(?:the|his|her|their|its) \\p{L}+|he|she|they) .*\\p{L}"
            + "|^(?!(?:it|this|that|there|here|today|what)\\b)(?-i:\\p{Lu})\\p{L}+(?: and (?-i:\\p{Lu})\\p{L}+)* "
            + "(?:is|are|was|were|has|have|likes?|loves?|lives?|works?|plays?)\\b");

    /** What has one value at a time: the newest. "My dog is Rex" says something else than "My dog is brown". */
    private static final Pattern ONE =
            pattern("^(?:you|your [^,]*?) lives? in\\b|^you are called\\b|^you are (?=\\d+ years)"
                    + "|^(?:your|the) (?:[^,]*\\b(?:favou?rite\\b[^,]*?|name|age|birthday|job|address)) (?:is|are)\\b"
                    + "|^(?:your|the) [^,]*? (?:is|are) (?:(?:an?|the|in|at|on|from|called|named)\\b)?");

    /** The old value in "My cat's name is Byte, not Pixel". */
    private static final Pattern CORRECTED = pattern(", not ([^,]+)$");

    /**
     * A sentence ends at its mark or its line, and a clause before a comma or an "and" behind which another one begins,
     * but not in "My sister and I".
     */
    private static final Pattern END = pattern("\\n|(?<=[.!?;])(?<!\\b(?:St|Dr|Mr|Mrs)\\.)\\s+"
            + "|(?<=\\p{Ll}{2}[.!?,;])(?=\\p{L})"
            + "|(?:\\s*[,:–-]+\\s*(?:(?:and|but|so|also|now) )*"
            + "|(?<!(?:^|[.!?\\n] ?)(?:my|our) \\p{L}{1,20})\\s+(?:(?:and|but|so|also|now) )+)(?=(?:" + ASKS
            + ")[^.!?]*\\?|" + SAYS + ")");

    /** What may come before, also the date and the speaker of a recalled message. */
    private static final Pattern FILLER =
            pattern("^(?:(?:\\[[^\\]]*\\]|\\b(?:hi|hello|hey|hallo|ok|okay|well|yes|no|so|and|but|"
                    + "also|actually|please|by the way|remember that|you should know(?: that)?|good (?:morning|evening|day))\\b)"
                    + "[\\s,.!-]*)+");

    private static final Pattern MARKS_AT_END = pattern("(?:[\\s.,;:!?-]|[:;]-?[()DP])+$");

    /** What is written in several ways, and how the script reads it. */
    private static final List<Map.Entry<Pattern, String>> READ_AS = List.of(
            Map.entry(pattern("[’‘`´]"), "'"),
            Map.entry(pattern("\\bI ?'?a?m\\b"), "I am"),
            Map.entry(pattern("\\bI'?ve\\b"), "I have"),
            Map.entry(pattern("\\b(what|where|who|when|how|name)(?:'s|(?<!name)s)\\b"), "$1 is"),
            Map.entry(pattern("\\bfor a living\\b"), "as my job"),
            Map.entry(pattern("\\bhow old\\b"), "what age"),
            Map.entry(pattern("\\b(am|is|are|lives?) now\\b"), "$1"),
            Map.entry(pattern("^I am (\\d{1,3})(?=$|,? and\\b)"), "I am $1 years old"),
            Map.entry(pattern("^(?:please |you can |just )*call me\\b"), "I am called"));

    /** Words of a speaker, and those of one who answers him. */
    private static final Map<String, String> TURNED = Stream.of(
                    ("i am=you are,i was=you were,am=are,i=you,me=you,my=your,"
                                    + "mine=yours,myself=yourself,we=you,us=you,our=your,ours=yours")
                            .split(","))
            .map(words -> words.split("="))
            .collect(Collectors.toMap(words -> words[0], words -> words[1]));

    private static final Pattern TURNS =
            pattern("\\bI (?:am|was)\\b|(?<!\\d ?)\\b(?:" + String.join("|", TURNED.keySet()) + ")\\b");

    /** Splits a message. */
    static List<Clause> of(String message) {
        return Arrays.stream(END.split(read(message)))
                .map(part -> FILLER.matcher(part).replaceFirst("").strip())
                .filter(part -> part.matches(".*\\p{L}.*"))
                .map(Clause::clause)
                .filter(clause -> clause.text.contains(" "))
                .toList();
    }

    /** Returns clauses without those whose value a later one replaces. */
    static List<Clause> newest(List<Clause> clauses) {
        Map<String, Clause> newest = new LinkedHashMap<>();
        for (Clause clause : clauses) {
            Matcher old = CORRECTED.matcher(clause.text);
            if (old.find()) {
                newest.values().removeIf(each -> each.text.endsWith(" " + old.group(1)));
            }
            newest.remove(clause.subject());
            newest.put(clause.subject(), clause);
        }
        return List.copyOf(newest.values());
    }

    /** Returns what it gives a value to, with the kind of the value by its first letter or digit. */
    private String subject() {
        Matcher one = ONE.matcher(text);
        String subject = one.find() ? one.group() : text;
        boolean isKindOpen = subject.endsWith(" ") && one.end() < text.length();
        return spelled(subject) + (isKindOpen ? Character.getType(text.charAt(one.end())) : "");
    }

    private static Clause clause(String part) {
        String bare = read(MARKS_AT_END.matcher(part).replaceFirst(""));
        String turned =
                TURNS.matcher(bare).replaceAll(found -> TURNED.get(found.group().toLowerCase(Locale.ROOT)));
        boolean asks = QUESTION.matcher(part).find();
        return new Clause(asks ? bare : turned, asks, PERSONAL.matcher(part).find());
    }

    private static String read(String written) {
        String text = written;
        for (Map.Entry<Pattern, String> form : READ_AS) {
            text = form.getKey().matcher(text).replaceAll(form.getValue());
        }
        return text;
    }

    /** Returns a text in small letters, and "favourite" as "favorite". */
    static String spelled(String text) {
        return text.toLowerCase(Locale.ROOT).replace("our", "or");
    }

    /** Compiles a pattern that takes small and capital letters of all languages as the same. */
    static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS);
    }

    /** Returns whether it tells what a question can ask for later. */
    boolean isNews() {
        return isPersonal && !isQuestion;
    }

    /** Returns it as a sentence. */
    String sentence() {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
    }
}
