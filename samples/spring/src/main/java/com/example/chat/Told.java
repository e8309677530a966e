package com.example.chat;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a user told about himself in a text, found by rules of thumb.
 *
 * @param clause what was told, such as "My favourite colour is green"
 */
record Told(String clause) {

    /** What is told or asked in other words: by which questions, and by which clauses. */
    private record Topic(Predicate<String> asks, Predicate<String> tells) {}

    private static final Map<String, Topic> TOPICS = Map.of(
            "name", topic("who am i\\b|my name|i called", "^(?:i am|i'm|call me)(?: called)? (?-i:\\p{Lu})|my name"),
            "age", topic("how old am i|my age", "^(?:i am|i'm) \\d+(?: years old)?$|my age"),
            "job", topic("what do i do(?: for a living)?\\W*$|my (?:job|work)", "^(?:i am|i'm) an? |i work|my job"),
            "home", topic("where do i live|my (?:home|city|town)", "^i(?:'ve| have)? (?:live|moved to)|my (?:home|city|town)"),
            "likes", topic("what do i (?:like|love|enjoy)", "^i (?:really )?(?:like|love|enjoy) "));

    /** Between clauses: the end of a sentence or a line, a quotation mark, or a comma or an "and" before the next one. */
    private static final Pattern END =
            Pattern.compile("(?i)(?<=[.!?;])\\s+|[\\r\\n“”|\"]+|,? and (?=(?:I|my)\\b)|, (?=(?:I|my|and|but)\\b)");

    /** What may come before a clause, also the date and the speaker of a recalled message. */
    private static final Pattern FILLER = Pattern.compile("(?i)^(?:(?:\\[[^\\]]*\\]|user:|- |(?:hi|hello|hey|well|yes|no|and"
            + "|but|also|so|oh|please|remember(?: that)?)\\b)[ ,.!:]*)+");

    private static final Pattern OF_THE_USER = pattern("^(?:(?:i'm|call me)|(?:i|i've|my|our|we|the user's) \\S+)(?: \\S+)+$");
    private static final Pattern ASKS = pattern("^(?:what|where|who|when|which|how|do|does|did|am|is|are|have|tell me)\\b");
    private static final Pattern PERSONAL = pattern("\\b(?:i|me|my|our)\\b");
    private static final Pattern ALL = pattern("(?:know|tell me|said) about me\\b");
    private static final Pattern OF_WHAT = pattern("^(?:my|our|the user's) (.+?) (?:is|are) .*");
    private static final Pattern OF_WHOM = pattern("^\\S+ ");
    private static final Pattern ENDING = Pattern.compile("(?<=\\p{L}{3})(?:ing|ed|es|e|s)$");
    private static final Set<String> EMPTY = Set.of(("a an the is are am was were do does did i you me my our we of in on at"
                    + " to for and or with what who whose how which where when can many much have has know tell s m")
            .split(" "));
    private static final Map<String, String> TURNED = Map.of(
            "i am", "you are", "i'm", "you are", "i was", "you were", "i've", "you have", "i", "you", "me", "you", "my",
            "your", "we", "you", "our", "your", "the user's", "your");
    private static final Pattern TURNS = pattern("\\b(?:i (?:am|was)|i'm|i've|i|me|my|we|our|the user's)\\b");

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS);
    }

    private static Topic topic(String asks, String tells) {
        return new Topic(pattern(asks).asPredicate(), pattern(tells).asPredicate());
    }

    private static Stream<String> clauses(String text) {
        return END.splitAsStream(text.replaceAll("[’`]", "'"))
                .map(part -> FILLER.matcher(part.strip()).replaceFirst(""));
    }

    /** Returns what a text tells, without what a later clause replaces. The newest is last. */
    static Collection<Told> in(String text) {
        Map<String, Told> newest = new LinkedHashMap<>();
        clauses(text).filter(clause -> !clause.endsWith("?")).forEach(clause -> {
            Told told = new Told(clause.replaceAll("[\\s.,;:!]+$", ""));
            if (OF_THE_USER.matcher(told.clause).matches()) {
                newest.remove(told.subject());
                newest.put(told.subject(), told);
            }
        });
        return newest.values();
    }

    /** Returns the last question about the user in a text. */
    static Optional<String> question(String text) {
        return clauses(text)
                .filter(clause -> clause.endsWith("?") || ASKS.matcher(clause).find())
                .filter(clause -> PERSONAL.matcher(clause).find())
                .reduce((before, last) -> last);
    }

    /** Returns the sentences of a text that answer a question about the user. */
    static Optional<String> answer(String question, String text) {
        Collection<Told> all = in(text);
        Stream<Told> found = ALL.matcher(question).find()
                ? all.stream()
                : all.stream().filter(told -> told.answers(question)).reduce((before, last) -> last).stream();
        return Optional.of(found.map(Told::sentence).collect(Collectors.joining(" "))).filter(each -> !each.isEmpty());
    }

    private boolean answers(String question) {
        Set<String> asked = words(question);
        asked.removeAll(EMPTY);
        return !asked.isEmpty() && words(clause).containsAll(asked)
                || TOPICS.values().stream().anyMatch(topic -> topic.asks.test(question) && topic.tells.test(clause));
    }

    /** Returns words without their endings, so that "lives" is "live". */
    private static Set<String> words(String text) {
        return Stream.of(text.toLowerCase(Locale.ROOT).replace("our", "or").split("[^\\p{L}\\d]+"))
                .map(word -> ENDING.matcher(word).replaceFirst(""))
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns to what the clause gives a value. */
    String subject() {
        return TOPICS.entrySet().stream()
                .filter(topic -> !topic.getKey().equals("likes") && topic.getValue().tells.test(clause))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(() -> (OF_WHAT.matcher(clause).matches()
                                ? OF_WHAT.matcher(clause).replaceFirst("$1")
                                : OF_WHOM.matcher(clause).replaceFirst(""))
                        .toLowerCase(Locale.ROOT));
    }

    /** Returns the clause as the user's answer: "Your favourite colour is green." */
    private String sentence() {
        String turned = TURNS.matcher(clause).replaceAll(found -> TURNED.get(found.group().toLowerCase(Locale.ROOT)));
        return turned.substring(0, 1).toUpperCase(Locale.ROOT) + turned.substring(1) + ".";
    }

    /** Returns the clause as a fact for others: "The user's favourite colour is green." */
    String fact() {
        return OF_WHAT.matcher(clause).matches()
                ? clause.replaceFirst("(?i)^(?:my|our) ", "The user's ") + "."
                : "The user said: “" + clause + ".”";
    }
}
