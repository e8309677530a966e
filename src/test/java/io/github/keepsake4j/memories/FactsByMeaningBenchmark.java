package io.github.keepsake4j.memories;

import dev.langchain4j.model.embedding.EmbeddingModel;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore;
import io.github.keepsake4j.memories.store.FactsByMeaning;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Measures how many facts are among the first five for a paraphrase of them. Run it with {@code mvn -Pmodels
 * test-compile exec:java -Dexec.mainClass=io.github.keepsake4j.memories.FactsByMeaningBenchmark -Dexec.args="<class of the
 * model>"}.
 */
public final class FactsByMeaningBenchmark {

    /** Title, summary, and a question that shares no word with them. */
    private static final List<List<String>> ASKED = List.of(
            List.of(
                    "Her puppy Luna",
                    "She has a brown puppy that she walks every morning",
                    "Which animal lives at home?"),
            List.of("Allergic to peanuts", "He gets a rash from peanuts", "Is there any food to avoid?"),
            List.of("Nurse at night", "She works night shifts in a hospital ward", "What is the profession?"),
            List.of("Moved to Lisbon", "He moved to Lisbon in spring", "In which city is his apartment now?"),
            List.of("Plays the cello", "She has played the cello since childhood", "Any musical instrument?"),
            List.of("Twin daughters", "He has twin daughters aged four", "How many children are there?"),
            List.of("Afraid of flying", "She takes the train because planes scare her", "Would an air trip be fine?"),
            List.of("Vegetarian", "He stopped eating meat last year", "Should I suggest a steak for dinner?"),
            List.of("Runs marathons", "She trains for a marathon in autumn", "What sport does the user practise?"),
            List.of("Broken leg", "He broke his leg while skiing", "Was there an injury in winter?"),
            List.of("Saving for a house", "She puts money aside to buy a house", "What is the financial goal?"),
            List.of("Divorced", "He and his wife separated two years ago", "Is the user married?"),
            List.of("Learns Japanese", "She takes Japanese lessons on Tuesdays", "Which foreign language is studied?"),
            List.of("Drives an electric car", "He bought an electric car", "What kind of vehicle is used?"),
            List.of(
                    "Grandmother's soup",
                    "Her grandmother's lentil soup is what she loves most",
                    "What is the favourite dish?"),
            List.of("Hates loud bars", "He prefers quiet places to loud bars", "Would a nightclub be a good idea?"),
            List.of("Bad sleep", "She wakes at four and cannot fall asleep again", "Does insomnia bother the user?"),
            List.of("Reads crime novels", "He reads a crime novel each week", "What literature would be a nice gift?"),
            List.of("Wears glasses", "She is short-sighted and wears glasses", "How good is the eyesight?"),
            List.of("Left-handed", "He writes with his left hand", "Which of the two palms holds the pen?"));

    private static final List<String> OTHERS = List.of(
            "Uses Java 17 at work",
            "Wants short answers",
            "Meets Tom on Fridays",
            "Garden has roses",
            "Lost an umbrella",
            "Watches old films",
            "Has a blue bicycle",
            "Prefers tea to coffee",
            "Writes a blog",
            "Sister is a lawyer",
            "Paints the kitchen yellow",
            "Uses Linux",
            "Likes mountains",
            "Collects stamps",
            "Sings in a choir",
            "Bakes bread on Sundays",
            "Cousin lives in Peru",
            "Needs a new phone",
            "Born in March",
            "Cleans on Saturdays");

    private FactsByMeaningBenchmark() {}

    /** Prints the hits with words alone and with the model. */
    public static void main(String[] args) throws Exception {
        EmbeddingModel model =
                (EmbeddingModel) Class.forName(args[0]).getConstructor().newInstance();
        InMemoryLongTermMemoryStore store = new InMemoryLongTermMemoryStore();
        MessageLog log = new InMemoryMessageLog();
        MessageSearch search = new MessageSearch(
                new InMemoryMessageIndex(),
                any -> log,
                List.of(log),
                Words.standard(),
                Runnable::run,
                pause -> work -> {},
                new MessageSearch.Embedding(model, args[0], Runnable::run, Duration.ofMinutes(1), Metrics.NONE));
        FactsByMeaning meaning = new FactsByMeaning(store, search);
        ConversationKey key = ConversationKey.of("acme", "chat");
        List<MadeMemory> facts = new ArrayList<>();
        ASKED.forEach(fact ->
                facts.add(MadeMemory.fact(fact.get(0), fact.get(1), List.of(), List.of(), Passage.NONE, Trust.USER)));
        OTHERS.forEach(fact -> facts.add(MadeMemory.fact(fact, "", List.of(), List.of(), Passage.NONE, Trust.USER)));
        meaning.add(key, MadeMemory.Kind.FACT, 0, Passage.NONE, facts);
        System.out.println(
                "words " + hits(store, key) + ", with the model " + hits(meaning, key) + " of " + ASKED.size());
        for (String text :
                List.of("Hello!", "Thanks, bye", "Tell me a joke", "What is 12 times 12?", "How do I sort a list?")) {
            System.out.println(
                    text + ": " + meaning.search(key, FactQuery.of(text)).size());
        }
        System.exit(0);
    }

    private static long hits(LongTermMemoryStore in, ConversationKey key) {
        return IntStream.range(0, ASKED.size())
                .filter(i -> in.search(key, FactQuery.of(ASKED.get(i).get(2))).stream()
                        .anyMatch(found ->
                                found.memory().title().equals(ASKED.get(i).get(0))))
                .count();
    }
}
