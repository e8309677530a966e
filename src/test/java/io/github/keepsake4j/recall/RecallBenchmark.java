package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.store.embedding.CosineSimilarity;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Measures how much of the evidence of questions is among the first 5, 10 and 20 messages, as the mean over the questions: in
 * memory, over all messages of a conversation, for each step of the features and with each embedding model of the profile
 * {@code models}; and through {@link Recall#find(Scope, String, RecallOptions)}, by words and with each model, which ranks what
 * the index proposes, with messages and index in SQLite or PostgreSQL. The data is no part of the project: LoCoMo (CC BY-NC 4.0, for measuring only), or
 * a file of the form of {@link AskedConversation}.
 *
 * <p>Run it with {@code mvn test-compile exec:java -Pmodels -Dexec.mainClass=io.github.keepsake4j.recall.RecallBenchmark
 * -Dexec.args="<file> [exhaustive|sqlite|postgresql] [others]"}. {@code others} is the number of generated messages around each
 * conversation in its memory, 0 if it is not given. With {@code exhaustive} it does not go through the API.
 */
public final class RecallBenchmark {

    private static final int[] AMONG = {5, 10, 20};
    private static final int CANDIDATES = 100;
    private static final int NEIGHBOURS = 2;
    private static final String TENANT = "benchmark";

    private final Map<String, double[]> sums = new LinkedHashMap<>();
    private final Map<String, long[]> nanos = new LinkedHashMap<>();
    private final Map<String, List<Gate.Measured>> gates = new LinkedHashMap<>();
    private final Map<String, List<Long>> recalls = new LinkedHashMap<>();
    private int questions;

    private RecallBenchmark() {}

    /** Runs the benchmark. */
    public static void main(String[] args) throws Exception {
        RecallBenchmark benchmark = new RecallBenchmark();
        List<AskedConversation> conversations = AskedConversation.read(Path.of(args[0]));
        String where = args.length > 1 ? args[1] : "sqlite";
        Map<String, EmbeddingModel> models = RealModels.byName();
        for (AskedConversation conversation : conversations) {
            benchmark.ask(conversation, Words.standard(), models);
        }
        if (!where.equals("exhaustive")) {
            Home home = Home.valueOf(where.toUpperCase(Locale.ROOT));
            benchmark.recall(conversations, home, args.length > 2 ? Integer.parseInt(args[2]) : 0, models);
        }
        benchmark.print();
        System.exit(0);
    }

    /** Asks through the API, by words and with each model. */
    private void recall(
            List<AskedConversation> conversations, Home home, int others, Map<String, EmbeddingModel> models)
            throws Exception {
        Path directory = Files.createTempDirectory("recall");
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open();
                MessageIndex index = index(home, directory)) {
            for (AskedConversation conversation : conversations) {
                fill(conversation, log, others);
            }
            String method =
                    "recalled, " + home.name().toLowerCase(Locale.ROOT) + (others == 0 ? "" : " among " + others);
            recall(conversations, builder(log, index).build(), method, key -> indexed(index, key), log);
            for (Map.Entry<String, EmbeddingModel> model : models.entrySet()) {
                String id = model.getKey() + " " + model.getValue().dimension();
                recall(
                        conversations,
                        builder(log, index)
                                .embeddingModel(model.getValue(), model.getKey())
                                .build(),
                        method + ", " + model.getKey(),
                        key -> embedded(index, id, key),
                        log);
            }
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder())
                        .forEach(file -> file.toFile().delete());
            }
        }
    }

    private static Keepsake.Builder builder(MessageLog log, MessageIndex index) {
        return Keepsake.builder().messageLog(log).index(index).tenant(TENANT);
    }

    private static long indexed(MessageIndex index, MemoryKey key) {
        MessageIndex.Watermark watermark = index.watermarks(List.of(key)).get(key);
        return watermark == null ? 0 : watermark.sequence();
    }

    private static long embedded(MessageIndex index, String model, MemoryKey key) {
        MessageIndex.VectorMark mark = index.vectorMarks(model, List.of(key)).get(key);
        return mark == null ? 0 : mark.sequence();
    }

    /** Asks when all messages are indexed. */
    private void recall(
            List<AskedConversation> conversations,
            Keepsake keepsake,
            String method,
            ToLongFunction<MemoryKey> done,
            MessageLog log)
            throws InterruptedException {
        // Starts the background work.
        recall(conversations.get(0), keepsake, "");
        for (AskedConversation conversation : conversations) {
            MemoryKey key = key(conversation);
            long last =
                    log.history(key, HistoryQuery.newest(1)).messages().get(0).sequence();
            while (done.applyAsLong(key) < last) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
        }
        recall(conversations.get(0), keepsake, "");
        for (AskedConversation conversation : conversations) {
            recall(conversation, keepsake, method);
        }
    }

    private static MessageIndex index(Home home, Path directory) throws Exception {
        return home == Home.POSTGRESQL
                ? JdbcMessageIndex.builder()
                        .dataSource(Postgres.trustingPool(
                                Postgres.newest().database(Postgres.newest().newDatabase()), 4, true))
                        .schema(SchemaMode.ALWAYS)
                        .build()
                : JdbcMessageIndex.sqlite(directory.resolve("index.db"));
    }

    private static MemoryKey key(AskedConversation conversation) {
        return ConversationKey.of(TENANT, conversation.id());
    }

    /** Appends a conversation between generated messages, which are of the time around it. */
    private void fill(AskedConversation conversation, MessageLog log, int others) {
        List<NewMessage> messages = new ArrayList<>();
        GeneratedText generated = new GeneratedText(3, others == 0 ? 1 : 20_000);
        Instant first = conversation.turns().get(0).time();
        for (int i = 0; i < others / 2; i++) {
            Instant time = first.minus(Duration.ofMinutes(10L * (others / 2 - i) + 600));
            messages.add(message("before" + i, UserMessage.from("Somebody", generated.sentence(4, 24)), time));
        }
        for (AskedConversation.Turn turn : conversation.turns()) {
            messages.add(message(turn.id(), UserMessage.from(turn.speaker(), turn.text()), turn.time()));
        }
        Instant last = conversation.turns().get(conversation.turns().size() - 1).time();
        for (int i = 0; i < others / 2; i++) {
            Instant time = last.plus(Duration.ofMinutes(10L * i + 600));
            messages.add(message("after" + i, UserMessage.from("Somebody", generated.sentence(4, 24)), time));
        }
        for (int i = 0; i < messages.size(); i += 1_000) {
            List<NewMessage> batch = messages.subList(i, Math.min(messages.size(), i + 1_000));
            log.append(key(conversation), Append.under(Parent.head(), batch));
        }
    }

    private static NewMessage message(String id, UserMessage message, Instant time) {
        return new NewMessage(id, message, 1, "none", time);
    }

    private void recall(AskedConversation conversation, Keepsake keepsake, String method) {
        RecallOptions options = RecallOptions.standard()
                .withMaxTokens(Integer.MAX_VALUE)
                .withMaxPassages(AMONG[AMONG.length - 1])
                .withNeighbours(0)
                .shownTo(ConversationKey.of(TENANT, "nobody"));
        for (AskedConversation.Asked asked : conversation.questions()) {
            long start = System.nanoTime();
            Recalled recalled = keepsake.recall().find(Scope.memory(key(conversation)), asked.text(), options);
            if (!method.isEmpty()) {
                long took = System.nanoTime() - start;
                recalls.computeIfAbsent(method, m -> new ArrayList<>()).add(took);
                List<String> ids = recalled.passages().stream()
                        .map(passage -> passage.message().id())
                        .toList();
                add(method, asked, ids);
            }
        }
    }

    private void ask(AskedConversation conversation, Words words, Map<String, EmbeddingModel> models) {
        List<Utterance> utterances = new ArrayList<>();
        Map<Long, String> ids = new HashMap<>();
        long begin = System.nanoTime();
        for (AskedConversation.Turn turn : conversation.turns()) {
            long sequence = utterances.size() + 1L;
            ids.put(sequence, turn.id());
            utterances.add(Utterance.of(
                    sequence, turn.speaker(), turn.time(), turn.text(), CountedTerms.all(turn.text(), words)));
        }
        took("split a message", begin, utterances.size());
        Matches statistics = CountedTerms.of(utterances);
        List<ChatSession> sessions = ChatSession.cut(utterances, Duration.ofHours(4));
        Set<String> speakers =
                utterances.stream().map(Utterance::speaker).collect(Collectors.toCollection(TreeSet::new));
        MemoryKey key = key(conversation);
        List<Embedded> embedded = new ArrayList<>();
        models.forEach((name, model) -> embedded.add(Embedded.of(name, model, conversation, utterances)));
        embedded.forEach(one ->
                gates.computeIfAbsent(one.name(), name -> new ArrayList<>()).add(one.measured()));
        for (AskedConversation.Asked asked : conversation.questions()) {
            questions++;
            long start = System.nanoTime();
            Question question = Question.of(asked.text(), speakers, words, LocalDate.EPOCH);
            took("split a question", start, 1);
            Map<Long, Double> bm25 = bm25(question, utterances, statistics);
            List<Long> byBm25 = bm25.entrySet().stream()
                    .sorted(Map.Entry.<Long, Double>comparingByValue(Comparator.reverseOrder())
                            .thenComparing(Map.Entry.comparingByKey()))
                    .map(Map.Entry::getKey)
                    .toList();
            add("BM25", asked, byBm25, ids);
            start = System.nanoTime();
            List<Ranked> all = fitting(new Ranking(question, statistics, Meaning.NONE, ZoneOffset.UTC), key, sessions);
            took("rank a whole conversation", start, 1);
            STEPS.forEach((step, weights) -> add(step, asked, sequences(all, weights), ids));
            for (Embedded one : embedded) {
                Ranking ranking = new Ranking(question, statistics, one.meaning(key, asked.text()), ZoneOffset.UTC);
                add("words and " + one.name(), asked, sequences(fitting(ranking, key, sessions)), ids);
            }
            Set<Long> candidates = candidates(byBm25, sessions);
            List<ChatSession> known = ChatSession.cut(
                    utterances.stream()
                            .filter(utterance -> candidates.contains(utterance.sequence()))
                            .toList(),
                    Duration.ofHours(4));
            start = System.nanoTime();
            List<Ranked> ranked = new Ranking(question, statistics, Meaning.NONE, ZoneOffset.UTC).rank(key, known);
            took("rank candidates", start, 1);
            add("all behind candidates", asked, sequences(ranked), ids);
        }
    }

    /** The vectors of a conversation. */
    private record Embedded(
            String name,
            EmbeddingModel model,
            List<Utterance> utterances,
            List<Embedding> vectors,
            Gate.Measured measured) {

        static Embedded of(
                String name, EmbeddingModel model, AskedConversation conversation, List<Utterance> utterances) {
            List<Embedding> vectors = model.embedAll(conversation.turns().stream()
                            .map(turn -> TextSegment.from(turn.text()))
                            .toList())
                    .content();
            List<Gate.Sample> sample = new ArrayList<>();
            int step = (utterances.size() + Gate.MOST - 1) / Gate.MOST;
            for (int i = 0; i < utterances.size(); i += step) {
                Utterance utterance = utterances.get(i);
                sample.add(new Gate.Sample(
                        utterance.terms(), utterance.length(), vectors.get(i).vector()));
            }
            return new Embedded(name, model, utterances, vectors, Gate.measure(sample));
        }

        Meaning meaning(MemoryKey key, String question) {
            Embedding asked = model.embed(question).content();
            Meaning.Builder meaning = new Meaning.Builder(measured.weight(), measured.floor(), Duration.ofHours(4));
            for (int i = 0; i < vectors.size(); i++) {
                Utterance utterance = utterances.get(i);
                double cosine = CosineSimilarity.between(asked, vectors.get(i));
                meaning.add(key, utterance.sequence(), utterance.time(), cosine);
            }
            return meaning.build();
        }
    }

    private static final Map<String, Recalled.Features> STEPS = steps();

    private static Map<String, Recalled.Features> steps() {
        Recalled.Features all = Recalled.Features.weights(0);
        Map<String, Recalled.Features> steps = new LinkedHashMap<>();
        steps.put("with neighbours", new Recalled.Features(all.words(), 0, 0, 0, 0));
        steps.put("+ answer", new Recalled.Features(all.words(), all.answer(), 0, 0, 0));
        steps.put("+ speaker", new Recalled.Features(all.words(), all.answer(), 0, all.speaker(), 0));
        steps.put("+ date", all);
        return steps;
    }

    private static Map<Long, Double> bm25(Question question, Collection<Utterance> utterances, Matches statistics) {
        Map<Long, Double> scores = new HashMap<>();
        for (Utterance utterance : utterances) {
            double score = 0;
            for (String term : question.terms()) {
                int count = utterance.terms().getOrDefault(term, 0);
                score += Bm25.idf(statistics.frequency(term), statistics.messages())
                        * Bm25.STANDARD.weight(count, utterance.length(), statistics.averageLength());
            }
            if (score > 0) {
                scores.put(utterance.sequence(), score);
            }
        }
        return scores;
    }

    private static Set<Long> candidates(List<Long> best, List<ChatSession> sessions) {
        Set<Long> candidates = new HashSet<>();
        for (long sequence : best.subList(0, Math.min(CANDIDATES, best.size()))) {
            for (long near = sequence - NEIGHBOURS; near <= sequence + NEIGHBOURS; near++) {
                candidates.add(near);
            }
        }
        return candidates;
    }

    private static List<Ranked> fitting(Ranking ranking, MemoryKey key, List<ChatSession> sessions) {
        return ranking.rank(key, sessions).stream()
                .filter(ranked -> ranking.fits(key, ranked))
                .toList();
    }

    private static List<Long> sequences(List<Ranked> ranked, Recalled.Features weights) {
        return sequences(ranked.stream()
                .sorted(Comparator.comparingDouble(
                                (Ranked one) -> one.features().score(weights))
                        .reversed()
                        .thenComparing(one -> one.utterance().sequence(), Comparator.reverseOrder()))
                .toList());
    }

    private static List<Long> sequences(List<Ranked> ranked) {
        return ranked.stream().map(one -> one.utterance().sequence()).toList();
    }

    private void add(String method, AskedConversation.Asked asked, List<Long> ranked, Map<Long, String> ids) {
        add(method, asked, ranked.stream().map(ids::get).toList());
    }

    private void add(String method, AskedConversation.Asked asked, List<String> ranked) {
        double[] sum = sums.computeIfAbsent(method, m -> new double[AMONG.length]);
        for (int i = 0; i < AMONG.length; i++) {
            long found = ranked.stream()
                    .limit(AMONG[i])
                    .filter(asked.evidence()::contains)
                    .count();
            sum[i] += (double) found / asked.evidence().size();
        }
    }

    private void took(String stage, long begin, int times) {
        long[] sum = nanos.computeIfAbsent(stage, s -> new long[2]);
        sum[0] += System.nanoTime() - begin;
        sum[1] += times;
    }

    private void print() {
        System.out.println(questions + " questions");
        recalls.forEach((method, times) -> {
            long[] sorted = times.stream().mapToLong(Long::longValue).sorted().toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%s, warm: p50 %.1f ms, p95 %.1f ms%n",
                    method,
                    sorted[sorted.length / 2] / 1e6,
                    sorted[sorted.length * 95 / 100] / 1e6);
        });
        sums.forEach((method, sum) -> System.out.printf(
                Locale.ROOT,
                "%-28s %.1f / %.1f / %.1f%n",
                method,
                100 * sum[0] / questions,
                100 * sum[1] / questions,
                100 * sum[2] / questions));
        gates.forEach((model, measured) -> System.out.printf(
                Locale.ROOT,
                "%-28s weight %.2f, floor %.2f (means over the memories)%n",
                model,
                measured.stream().mapToDouble(Gate.Measured::weight).average().orElseThrow(),
                measured.stream().mapToDouble(Gate.Measured::floor).average().orElseThrow()));
        nanos.forEach((stage, sum) -> System.out.printf(Locale.ROOT, "%-28s %.3f ms%n", stage, sum[0] / 1e6 / sum[1]));
    }
}
