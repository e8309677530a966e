package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A script in the place of a model, without a network. It repeats what the user said, found by the words of a question. It
 * keeps nothing and reads only the user's messages of the request, so it knows what the memory shows it, and no more.
 */
final class ScriptedModel implements ChatModel {

    static final String ABOUT = "I am a script. I only repeat what you told me, as far as the memory shows it.";

    private static final String NOTHING_NEW =
            "All right. Tell me something about yourself, and ask me for it later, also after a restart.";

    /** Answers to what neither tells nor asks something. */
    private static final List<Map.Entry<Pattern, String>> SMALL_TALK = List.of(
            Map.entry(
                    Clause.pattern("^(?:hi|hello|hey|hallo|good (?:morning|day|evening))\\b"),
                    "Hello. Tell me something about yourself, or ask me what you told me."),
            Map.entry(
                    Clause.pattern("\\b(?:bye|goodbye|good night|see you|ciao)\\b"),
                    "Goodbye. Run me again, and ask me what you told me."),
            Map.entry(Clause.pattern("\\b(?:thanks|thank you|thx|cheers)\\b"), "You are welcome."));

    /** What names the user: by the word "name" or "called", by a capital letter, or by a single word. */
    private static final List<Predicate<String>> NAMES = Stream.of(
                    "(?i)^your (?:full |first |last )?name is .*|^you are called .*|.*\\bcalls? you .*",
                    "(?i:you are )\\p{Lu}.*",
                    "(?i:you are )\\p{L}+")
            .map(text -> Pattern.compile(text).asMatchPredicate())
            .toList();

    private static final Pattern OF_THE_USER =
            Clause.pattern("\\b(?:I|me|my|mine|myself|we|our)\\b|\\bremember|\\bknow");
    private static final Pattern OF_THE_MODEL = Clause.pattern("\\b(?:you|your)\\b");
    private static final Pattern I = Clause.pattern("\\bI\\b");
    private static final Pattern I_OR_MY = Clause.pattern("\\b(?:I|my)\\b");
    private static final Pattern NOT = Clause.pattern("\\bdo(?:es)?(?:n't| not) (?:I )?(\\p{L}+)");
    private static final Pattern YES_OR_NO = Clause.pattern("^(?:do|does|did|am|is|are|was|were|have|has) ");

    /** Of whom or of what a question is, such as "Rex", or "my sister's birthday". Its answer speaks of it. */
    private static final Pattern OF_WHAT = Clause.pattern("(?<=. )(?-i:(\\p{Lu}\\p{L}+))"
            + "|\\b(?:my|our|the) QUALIFIED(\\p{L}+)(?:'s QUALIFIED(\\p{L}+))?"
                    .replace("QUALIFIED", Vocabulary.QUALIFIED));

    private static final Pattern YOU = Clause.pattern("^you\\b");
    private static final Pattern YOURS = Clause.pattern("^your " + Vocabulary.QUALIFIED + "(\\p{L}+)");

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<UserMessage> shown = request.messages().stream()
                .filter(UserMessage.class::isInstance)
                .map(UserMessage.class::cast)
                .toList();
        List<Clause> said = Clause.newest(shown.stream()
                .flatMap(message -> Clause.of(message.singleText()).stream())
                .filter(clause -> !clause.isQuestion())
                .toList());
        String last = shown.get(shown.size() - 1).singleText();
        List<Clause> now = Clause.of(last);
        List<Clause> news = now.stream().filter(Clause::isNews).toList();
        String answer = news.isEmpty() ? small(last) : "Noted. " + sentences(news);
        if (now.stream().anyMatch(Clause::isQuestion)) {
            answer = now.stream()
                    .filter(Clause::isQuestion)
                    .map(question -> answer(question.text(), said))
                    .distinct()
                    .collect(Collectors.joining(" "));
        }
        return ChatResponse.builder().aiMessage(AiMessage.from(answer)).build();
    }

    /**
     * Summarizes as a script can: it keeps the lines in which a user told something, word by word.
     *
     * @param previous the summary before, or {@code null}
     * @param messages what the summary will replace
     */
    static String notes(@Nullable String previous, List<ChatMessage> messages) {
        Stream<String> said = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText());
        Set<String> notes = new LinkedHashSet<>();
        Stream.concat(Stream.ofNullable(previous), said)
                .flatMap(String::lines)
                .filter(line -> Clause.of(line).stream().anyMatch(Clause::isNews))
                // What is told again is the newest.
                .peek(notes::remove)
                .forEach(notes::add);
        return notes.isEmpty() ? "Small talk." : String.join("\n", notes);
    }

    private static String small(String text) {
        return SMALL_TALK.stream()
                .filter(line -> line.getKey().matcher(text).find())
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(NOTHING_NEW);
    }

    private static String answer(String question, List<Clause> said) {
        if (OF_THE_MODEL.matcher(question).find()
                && !OF_THE_USER.matcher(question).find()) {
            return ABOUT;
        }
        List<Clause> personal = said.stream().filter(Clause::isPersonal).toList();
        if (personal.isEmpty()) {
            return "The memory shows me nothing that you said of yourself.";
        }
        Set<String> asked = Vocabulary.words(question);
        boolean isWho = asked.contains("who");
        asked.removeAll(Vocabulary.EMPTY);
        Set<String> keys = Vocabulary.without(asked, Vocabulary.QUALIFIERS);
        List<Clause> all = OF_THE_USER.matcher(question).find() ? personal : List.of();
        List<Clause> found = keys.isEmpty() ? all : best(question, asked, said);
        if (Vocabulary.NAME.containsAll(keys) && (isWho || !keys.isEmpty())) {
            found = NAMES.stream()
                    .map(names -> personal.stream()
                            .filter(clause -> names.test(clause.text()))
                            .toList())
                    .filter(named -> !named.isEmpty())
                    .findFirst()
                    .orElse(found);
        }
        return found.isEmpty()
                ? "I find no answer to that in what the memory shows me. Ask “What do you know about me?” to see all of it."
                : sentences(found);
    }

    /** Returns the clauses that answer best. */
    private static List<Clause> best(String question, Set<String> asked, List<Clause> said) {
        TreeMap<Integer, List<Clause>> ranked = said.stream()
                .collect(Collectors.groupingBy(
                        clause -> score(question, asked, clause), TreeMap::new, Collectors.toList()));
        return ranked.lastKey() == 0 ? List.of() : ranked.lastEntry().getValue();
    }

    /**
     * Returns how well a clause answers. It is 0 unless all that the question is about is told, for a yes or a no all that
     * is asked, and for what a person has, such as an age, also of whom.
     */
    private static int score(String question, Set<String> asked, Clause clause) {
        Set<String> told = Vocabulary.told(clause.text());
        Set<String> keys = Vocabulary.without(asked, Vocabulary.QUALIFIERS);
        boolean isYesOrNo = YES_OR_NO.matcher(question).find();
        Set<String> needed = isYesOrNo ? new HashSet<>(keys) : ofWhat(question);
        if (!isYesOrNo && !NOT.matcher(question).find()) {
            // "I don't like tea" is no answer to "What do I like?"
            NOT.matcher(clause.text()).results().forEach(not -> told.removeAll(Vocabulary.words(not.group(1))));
        }
        keys.stream().filter(Vocabulary.PROPERTIES::contains).forEach(needed::add);
        boolean isOfHim = I_OR_MY.matcher(question).find() && Vocabulary.OWN.containsAll(keys);
        boolean lacks = needed.stream().anyMatch(word -> Vocabulary.closeness(word, told) == 0);
        if (lacks || isOfHim && !isOfHim(clause) || Vocabulary.closeness(keys, told) == 0) {
            return 0;
        }
        // Where "I" live is told by what begins with "you" rather than by where a sister lives.
        boolean isTold =
                I.matcher(question).find() && YOU.matcher(clause.text()).find();
        return 10 * Vocabulary.closeness(keys, told)
                + Vocabulary.closeness(Vocabulary.without(asked, keys), told)
                + (isTold ? 1 : 0);
    }

    private static Set<String> ofWhat(String question) {
        Set<String> of = OF_WHAT.matcher(question)
                .results()
                .flatMap(found -> IntStream.rangeClosed(1, found.groupCount()).mapToObj(found::group))
                .filter(Objects::nonNull)
                .flatMap(word -> Vocabulary.words(word).stream())
                .collect(Collectors.toSet());
        return Vocabulary.without(of, Vocabulary.NAME, Vocabulary.EMPTY);
    }

    /** Returns whether its subject is the speaker, or what each person has. */
    private static boolean isOfHim(Clause clause) {
        Matcher yours = YOURS.matcher(clause.text());
        return YOU.matcher(clause.text()).find()
                || yours.find() && Vocabulary.OWN.containsAll(Vocabulary.words(yours.group(1)));
    }

    private static String sentences(List<Clause> clauses) {
        return clauses.stream().map(Clause::sentence).collect(Collectors.joining(" "));
    }
}
