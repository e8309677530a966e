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
    private static final Pattern WORD = Clause.pattern("(\\p{L}+|\\d+)(?:'s)?");
    private static final Pattern TRADE = Clause.pattern("^you are an? ");
    private static final Pattern ENDING = Clause.pattern("(?<=\\p{L}{3})(?:ing|ied|ies|ed|es|er|ic|e|s|y)+$");

    /** Words that ask for each other. */
    private static final List<Set<String>> TOPICS = Stream.of(
                    "name call",
                    "where live home address city town country from move born",
                    "when old age birthday born year",
                    "job profession work company teach study",
                    "hobby like love enjoy favourite play collect",
                    "pet animal dog cat horse rabbit",
                    "family wife husband partner married son daughter child children kid brother sister mother mum father dad",
                    "eat food drink tea coffee vegetarian vegan allergic",
                    "car bike drive ride")
            .map(ScriptedModel::words)
            .toList();

    /** Words that say nothing of what is asked. */
    private static final Set<String> EMPTY =
            words("a an the is are am was were do does did i you me my your we our myself it "
                    + "that this there have has had of in on at to for and or with what who whose how which can could will would "
                    + "should tell remind say said told know remember think about please much many any some now still again all "
                    + "everything anything else already list repeat guess t");

    private static final Pattern OF_THE_USER =
            Clause.pattern("\\b(?:I|me|my|mine|myself|we|our)\\b|\\bremember|\\bknow");
    private static final Pattern OF_HIM = Clause.pattern("\\bI\\b");
    private static final Pattern OF_THE_MODEL = Clause.pattern("\\b(?:you|your)\\b");

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
        List<Clause> found = asked.isEmpty() ? personal : best(question, asked, said);
        if (TOPICS.get(0).containsAll(asked) && (isWho || !asked.isEmpty())) {
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

    /** Returns the clauses that have most of the words, of which one of the same topic counts a little. */
    private static List<Clause> best(String question, Set<String> asked, List<Clause> said) {
        String subject = OF_HIM.matcher(question).find() ? "you " : "your ";
        TreeMap<Integer, List<Clause>> ranked = said.stream()
                .collect(Collectors.groupingBy(
                        clause -> score(asked, clause, subject), TreeMap::new, Collectors.toList()));
        return ranked.lastKey() == 0 ? List.of() : ranked.lastEntry().getValue();
    }

    private static int score(Set<String> asked, Clause clause, String subject) {
        // "I am a baker" tells a job, by no word of its own.
        Set<String> said = words(TRADE.matcher(clause.text()).find() ? clause.text() + " job" : clause.text());
        int score = 0;
        for (String word : asked) {
            boolean isNear =
                    TOPICS.stream().anyMatch(topic -> topic.contains(word) && !Collections.disjoint(topic, said));
            // All things have names, so what has the name counts more.
            score += said.contains(word) ? (TOPICS.get(0).contains(word) ? 2 : 5) : isNear ? 1 : 0;
        }
        return score > 0 && clause.text().toLowerCase(Locale.ROOT).startsWith(subject) ? score + 2 : score;
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
