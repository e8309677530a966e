package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.store.embedding.CosineSimilarity;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.AskedConversation.Asked;
import io.github.keepsake4j.recall.AskedConversation.Turn;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
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
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Measures how much of the evidence of questions is among the first 5, 10 and 20 messages that {@link Keepsake#recall()}
 * returns, as the mean over the questions, and how much of it the passages of the standard options show. It asks by words and
 * with each model of the profile {@code models}, beside Lucene's BM25 over all messages and over those of people, and beside the
 * cosine alone. The data is no part of the project: files of {@link Locomo}, of {@link Beam}, or of the form of {@link
 * AskedConversation}.
 *
 * <p>Run it with {@code mvn test-compile exec:java -Pmodels -Dexec.mainClass=io.github.keepsake4j.recall.RecallBenchmark
 * -Dexec.args="[in_memory|sqlite|postgresql] [others=<number>] [after] <file> …"}. {@code others} is the number of generated messages
 * around each conversation in its memory, 0 if it is not given. With {@code after}, each question is asked after another one of
 * the same user, which does not make it clearer.
 */
public final class RecallBenchmark {

    private static final int[] AMONG = {5, 10, 20};
    private static final String TENANT = "benchmark";

    /** A model is shown none of the messages. */
    private static final MemoryKey NOBODY = ConversationKey.of(TENANT, "nobody");

    private static final RecallOptions SHOWN = RecallOptions.standard().shownTo(NOBODY);

    private static final RecallOptions RANKED = SHOWN.withMaxTokens(Integer.MAX_VALUE)
            .withMaxPassages(AMONG[AMONG.length - 1])
            .withNeighbours(0);

    private final List<AskedConversation> conversations;
    private final boolean after;
    private final Map<String, Measured> measured = new LinkedHashMap<>();

    private RecallBenchmark(List<AskedConversation> conversations, boolean after) {
        this.conversations = conversations;
        this.after = after;
    }

    /** Runs the benchmark. */
    public static void main(String[] args) throws Exception {
        Home home = Home.IN_MEMORY;
        int others = 0;
        boolean after = false;
        List<Path> files = new ArrayList<>();
        for (String arg : args) {
            if (Stream.of(Home.values()).anyMatch(one -> one.name().equalsIgnoreCase(arg))) {
                home = Home.valueOf(arg.toUpperCase(Locale.ROOT));
            } else if (arg.startsWith("others=")) {
                others = Integer.parseInt(arg.substring("others=".length()));
            } else if (arg.equals("after")) {
                after = true;
            } else {
                files.add(Path.of(arg));
            }
        }
        Map<String, EmbeddingModel> models = new LinkedHashMap<>();
        RealModels.byName().forEach((name, model) -> models.put(name, new RememberingModel(model)));
        for (Path file : files) {
            run(file, home, others, after, models);
        }
        System.exit(0);
    }

    /** Measures and prints one file. */
    static void run(Path file, Home home, int others, boolean after, Map<String, EmbeddingModel> models)
            throws Exception {
        RecallBenchmark benchmark = new RecallBenchmark(AskedConversation.read(file), after);
        benchmark.rivals(models);
        benchmark.recall(home, others, models);
        benchmark.print(file.getFileName() + ", " + home.name().toLowerCase(Locale.ROOT)
                + (others == 0 ? "" : " among " + others + " others"));
    }

    /** What was found with one method: the shares of the evidence, and how long each call took. */
    private static final class Measured {

        private final double[] among = new double[AMONG.length];
        private final Map<String, List<Double>> byKind = new TreeMap<>();
        private final List<Double> shown = new ArrayList<>();
        private final List<Long> nanos = new ArrayList<>();

        void add(AskedConversation conversation, Asked asked, List<String> ranked) {
            for (int i = 0; i < AMONG.length; i++) {
                among[i] +=
                        share(asked.evidence(), ranked.stream().limit(AMONG[i]).toList());
            }
            List<String> best = ranked.stream().limit(10).toList();
            byKind.computeIfAbsent(asked.kind(), kind -> new ArrayList<>()).add(share(asked.evidence(), best));
            List<String> ofAssistant = asked.evidence().stream()
                    .filter(id -> !conversation.idsOfPeople().contains(id))
                    .toList();
            if (!ofAssistant.isEmpty() && !asked.kind().equals("summarization")) {
                byKind.computeIfAbsent("(evidence of the assistant, without summaries)", kind -> new ArrayList<>())
                        .add(share(ofAssistant, best));
            }
        }

        static double share(Collection<String> evidence, List<String> found) {
            return (double) evidence.stream().filter(found::contains).count() / evidence.size();
        }

        static double mean(List<Double> shares) {
            return 100 * shares.stream().mapToDouble(share -> share).average().orElse(Double.NaN);
        }
    }

    private Measured of(String method) {
        return measured.computeIfAbsent(method, m -> new Measured());
    }

    private void rivals(Map<String, EmbeddingModel> models) throws Exception {
        int most = AMONG[AMONG.length - 1];
        for (AskedConversation conversation : conversations) {
            Set<String> all = new HashSet<>();
            conversation.turns().forEach(turn -> all.add(turn.id()));
            Set<String> people = conversation.idsOfPeople();
            try (LuceneBm25 lucene = new LuceneBm25(conversation.turns())) {
                for (Asked asked : conversation.questions()) {
                    of("Lucene, all messages").add(conversation, asked, lucene.best(asked.text(), most, all));
                    if (people.size() < all.size()) {
                        of("Lucene, the user's messages")
                                .add(conversation, asked, lucene.best(asked.text(), most, people));
                    }
                }
            }
            for (Map.Entry<String, EmbeddingModel> model : models.entrySet()) {
                byCosine(conversation, "cosine of " + model.getKey(), model.getValue(), most);
            }
        }
    }

    private void byCosine(AskedConversation conversation, String method, EmbeddingModel model, int most) {
        Map<String, Embedding> vectors = new HashMap<>();
        for (Turn turn : conversation.turns()) {
            Embeddings.parts(turn.text()).stream()
                    .findFirst()
                    .ifPresent(part -> vectors.put(turn.id(), model.embed(part).content()));
        }
        for (Asked asked : conversation.questions()) {
            Embedding question = model.embed(asked.text()).content();
            Map<String, Double> cosines = new HashMap<>();
            vectors.forEach((id, vector) -> cosines.put(id, CosineSimilarity.between(question, vector)));
            List<String> best = cosines.entrySet().stream()
                    .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                    .limit(most)
                    .map(Map.Entry::getKey)
                    .toList();
            of(method).add(conversation, asked, best);
        }
    }

    /** Asks through the API, by words and with each model. */
    private void recall(Home home, int others, Map<String, EmbeddingModel> models) throws Exception {
        Path directory = Files.createTempDirectory("recall");
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open();
                MessageIndex index = index(home, directory)) {
            Map<MemoryKey, Long> last = new HashMap<>();
            for (AskedConversation conversation : conversations) {
                last.put(key(conversation), fill(conversation, log, others));
            }
            recall(builder(log, index).build(), log, "words", last, key -> indexed(index, key));
            for (Map.Entry<String, EmbeddingModel> model : models.entrySet()) {
                Keepsake keepsake = builder(log, index)
                        .embeddingModel(model.getValue(), model.getKey())
                        .build();
                String id = new Embeddings(model.getValue(), model.getKey()).indexId();
                recall(keepsake, log, "words and " + model.getKey(), last, key -> embedded(index, id, key));
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
            Keepsake keepsake, MessageLog log, String method, Map<MemoryKey, Long> last, ToLongFunction<MemoryKey> done)
            throws InterruptedException {
        for (Map.Entry<MemoryKey, Long> memory : last.entrySet()) {
            // Starts the background work.
            keepsake.recall().find(Scope.memory(memory.getKey()), "wake up", RANKED);
            while (done.applyAsLong(memory.getKey()) < memory.getValue()) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
        conversations.forEach(conversation -> recall(conversation, keepsake, log, method));
    }

    private void recall(AskedConversation conversation, Keepsake keepsake, MessageLog log, String method) {
        Scope scope = Scope.memory(key(conversation));
        Asked before = conversation.questions().get(conversation.questions().size() - 1);
        for (Asked asked : conversation.questions()) {
            if (after) {
                NewMessage said = NewMessage.of(UserMessage.from(before.text()), 1, "none");
                log.append(NOBODY, Append.under(Parent.head(), List.of(said)));
                before = asked;
            }
            long start = System.nanoTime();
            Recalled ranked = keepsake.recall().find(scope, asked.text(), RANKED);
            of(method).nanos.add(System.nanoTime() - start);
            of(method)
                    .add(
                            conversation,
                            asked,
                            ranked.passages().stream()
                                    .map(passage -> passage.message().id())
                                    .toList());
            List<String> shown = keepsake.recall().find(scope, asked.text(), SHOWN).passages().stream()
                    .flatMap(passage -> passage.messages().stream())
                    .map(message -> message.id())
                    .toList();
            of(method).shown.add(Measured.share(asked.evidence(), shown));
        }
    }

    private static MessageIndex index(Home home, Path directory) throws Exception {
        return switch (home) {
            case IN_MEMORY -> new InMemoryMessageIndex();
            case POSTGRESQL ->
                Postgres.index(Postgres.trustingPool(
                        Postgres.newest().database(Postgres.newest().newDatabase()), 4, true));
            default -> JdbcMessageIndex.sqlite(directory.resolve("index.db"));
        };
    }

    private static MemoryKey key(AskedConversation conversation) {
        return ConversationKey.of(TENANT, conversation.id());
    }

    /** Appends a conversation between generated messages, which are of the time around it. Returns the last sequence. */
    private static long fill(AskedConversation conversation, MessageLog log, int others) {
        List<NewMessage> messages = new ArrayList<>();
        GeneratedText generated = new GeneratedText(3, others == 0 ? 1 : 20_000);
        Instant first = conversation.turns().get(0).time();
        for (int i = 0; i < others / 2; i++) {
            Instant time = first.minus(Duration.ofMinutes(10L * (others / 2 - i) + 600));
            messages.add(message("before" + i, UserMessage.from("Somebody", generated.sentence(4, 24)), time));
        }
        for (Turn turn : conversation.turns()) {
            messages.add(message(turn.id(), said(turn), turn.time()));
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
        return messages.size();
    }

    /** A user without a name is the user of an assistant. */
    private static ChatMessage said(Turn turn) {
        return turn.assistant()
                ? AiMessage.from(turn.text())
                : turn.speaker().equals(Named.USER)
                        ? UserMessage.from(turn.text())
                        : UserMessage.from(turn.speaker(), turn.text());
    }

    private static NewMessage message(String id, ChatMessage message, Instant time) {
        return new NewMessage(id, message, 1, "none", time);
    }

    private void print(String title) {
        int questions = conversations.stream()
                .mapToInt(conversation -> conversation.questions().size())
                .sum();
        System.out.println(title + ": " + questions + " questions");
        measured.forEach((method, of) -> {
            long[] sorted =
                    of.nanos.stream().mapToLong(Long::longValue).sorted().toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%-32s R@5/10/20 %.1f / %.1f / %.1f%s%n",
                    method,
                    100 * of.among[0] / questions,
                    100 * of.among[1] / questions,
                    100 * of.among[2] / questions,
                    sorted.length == 0
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    "; shown %.1f; p50 %.1f ms, p95 %.1f ms",
                                    Measured.mean(of.shown),
                                    sorted[sorted.length / 2] / 1e6,
                                    sorted[sorted.length * 95 / 100] / 1e6));
        });
        measured.forEach((method, of) -> {
            if (of.byKind.size() > 1) {
                of.byKind.forEach((kind, shares) -> System.out.printf(
                        Locale.ROOT,
                        "  R@10 of %s (%d), %s: %.1f%n",
                        kind,
                        shares.size(),
                        method,
                        Measured.mean(shares)));
            }
        });
    }

    /** Embeds no text twice. */
    private static final class RememberingModel implements EmbeddingModel {

        private final EmbeddingModel model;
        private final Map<String, Embedding> known = new ConcurrentHashMap<>();

        RememberingModel(EmbeddingModel model) {
            this.model = model;
        }

        @Override
        public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
            return Response.from(segments.stream()
                    .map(segment -> known.computeIfAbsent(
                            segment.text(), text -> model.embed(text).content()))
                    .toList());
        }

        @Override
        public int dimension() {
            return model.dimension();
        }
    }
}
