package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A model without a network. It repeats what the user said of himself, found by the words of a question. It keeps nothing
 * and reads only the user's messages of the request, so it knows what the memory shows it, and no more.
 */
final class ScriptedModel implements ChatModel {

    static final String ABOUT =
            "I am a script. I only repeat what you say of yourself, as far as the memory shows it to me.";

    private static final String NOTHING_NEW =
            "All right. Tell me something about yourself, and ask me for it later, also after a restart.";
    private static final Pattern WORD = Clause.pattern("(\\p{L}+|\\d{2,})(?:'s)?");
    private static final Pattern TRADE = Clause.pattern("^you are an? ");
    private static final Pattern ENDING = Clause.pattern("(?<=\\p{L}{3})(?:ing|ied|ies|ed|es|er|ic|e|s|y)+$");

    /** Words that ask for something, and words that tell it. */
    private static final List<Map.Entry<Set<String>, Set<String>>> TOPICS = Stream.of(
                    "name call = name call",
                    "where live home address city town country = live from move born",
                    "when = birthday born",
                    "old age birthday = old birthday born turn",
                    "job work profession = job work company teach study",
                    "hobby like enjoy = hobby like love enjoy favourite play collect",
                    "pet animal = dog cat horse rabbit hamster bird fish tortoise",
                    "sibling = brother sister",
                    "child children kid = child children kid son daughter",
                    "husband wife partner = husband wife partner married girlfriend boyfriend",
                    "mum mother parent = mum mother",
                    "dad father parent = dad father",
                    "family = wife husband son daughter brother sister mother father mum dad",
                    "eat food drink = eat food drink tea coffee vegetarian vegan",
                    "car = drive")
            .map(line -> line.split("="))
            .map(topic -> Map.entry(words(topic[0]), words(topic[1])))
            .toList();

    /** Words that say nothing of what is asked. */
    private static final Set<String> EMPTY =
            words("a an the is are am was were do does did i you me my your we our myself it "
                    + "that this there have has had of in on at to for and or with what who whose how which can could will would "
                    + "should tell remind say said told know remember think about please much many any some now still again all "
                    + "everything anything else already list repeat guess t full first last");

    private static final Pattern OF_THE_USER =
            Clause.pattern("\\b(?:I|me|my|mine|myself|we|our)\\b|\\bremember|\\bknow");
    private static final Pattern YOU = Clause.pattern("^you\\b");
    private static final Pattern OF_HIM = Clause.pattern("\\bI\\b");
    private static final Pattern OF_THE_MODEL = Clause.pattern("\\b(?:you|your)\\b");

    private static final Set<String> NAME = TOPICS.get(0).getKey();

    /** What names the user: by the word "name" or "called", by a capital letter, or by a single word. */
    private static final List<Predicate<String>> NAMES = Stream.of(
                    "(?i)^your (?:full |first |last )?name is .*|.*\\b(?:are called|calls? you) .*",
                    "(?i:you are )\\p{Lu}.*",
                    "(?i:you are )\\p{L}+")
            .map(text -> Pattern.compile(text).asMatchPredicate())
            .toList();

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<UserMessage> shown = request.messages().stream()
                .filter(UserMessage.class::isInstance)
                .map(UserMessage.class::cast)
                .toList();
        List<Clause> said = shown.stream()
                .flatMap(message -> Clause.of(message.singleText()).stream())
                .filter(clause -> !clause.isQuestion())
                .distinct()
                .toList();
        List<Clause> now = Clause.of(shown.get(shown.size() - 1).singleText());
        List<Clause> news = now.stream().filter(Clause::isPersonal).toList();
        String answer = news.isEmpty() ? NOTHING_NEW : "Noted. " + sentences(news);
        if (now.stream().anyMatch(Clause::isQuestion)) {
            answer = now.stream()
                    .filter(Clause::isQuestion)
                    .map(question -> answer(question.text(), said))
                    .distinct()
                    .collect(Collectors.joining(" "));
        }
        return ChatResponse.builder().aiMessage(AiMessage.from(answer)).build();
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
        Set<String> asked = words(question);
        boolean isWho = asked.contains("who");
        asked.removeAll(EMPTY);
        List<Clause> all = OF_THE_USER.matcher(question).find() ? personal : List.of();
        List<Clause> found = asked.isEmpty() ? all : best(question, asked, said);
        if (NAME.containsAll(asked) && (isWho || !asked.isEmpty())) {
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

    /** Returns the clauses that have most of the words. */
    private static List<Clause> best(String question, Set<String> asked, List<Clause> said) {
        boolean isOfHim = OF_HIM.matcher(question).find();
        TreeMap<Integer, List<Clause>> ranked = said.stream()
                .collect(Collectors.groupingBy(
                        clause -> score(asked, clause, isOfHim), TreeMap::new, Collectors.toList()));
        return ranked.lastKey() == 0 ? List.of() : ranked.lastEntry().getValue();
    }

    /**
     * A word of the same topic counts little, and so does a name, because all things have one. Where "I" live is told by
     * what begins with "you", and not by where a sister lives.
     */
    private static int score(Set<String> asked, Clause clause, boolean isOfHim) {
        // "I am a baker" tells a job, by no word of its own.
        Set<String> said = words(TRADE.matcher(clause.text()).find() ? clause.text() + " job" : clause.text());
        int score = 0;
        for (String word : asked) {
            boolean isNear = TOPICS.stream()
                    .anyMatch(topic -> topic.getKey().contains(word) && !Collections.disjoint(topic.getValue(), said));
            score += said.contains(word) ? (NAME.contains(word) ? 4 : 10) : isNear ? 2 : 0;
        }
        return score > 0 && isOfHim && YOU.matcher(clause.text()).find() ? score + 1 : score;
    }

    /** Returns the words of a text without their endings, so that "lives" is "living". */
    private static Set<String> words(String text) {
        return WORD.matcher(text.toLowerCase(Locale.ROOT))
                .results()
                .map(found -> ENDING.matcher(found.group(1)).replaceFirst("").replace("our", "or"))
                .collect(Collectors.toCollection(HashSet::new));
    }

    private static String sentences(List<Clause> clauses) {
        return clauses.stream().map(Clause::sentence).collect(Collectors.joining(" "));
    }
}
