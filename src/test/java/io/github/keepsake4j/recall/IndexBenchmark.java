package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.WantedTerms;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.text.OwnText;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Prints how fast an index is made, how large it is, how long a whole search and a whole recall take, and what appends cost
 * while the indexer runs: {@code IndexBenchmark sqlite|postgresql messages memories [postings]}, or {@code IndexBenchmark
 * sqlite|postgresql appends seconds [rate [millis]]}. With {@code -Dkeepsake.vectors=true} it compares recalls with those that read made-up vectors too.
 * With a time in milliseconds, the indexer also makes such vectors, each in this time. With {@code -Dkeepsake.directory} SQLite's files are made there, and used again; with
 * {@code -Dkeepsake.url} a database of PostgreSQL is.
 */
public final class IndexBenchmark {

    private static final int VOCABULARY = 50_000;
    private static final int SECONDS_OF_A_TURN = 5;

    private final boolean sqlite;
    private final Path directory;
    private final @Nullable DataSource source;

    private IndexBenchmark(String backend) throws Exception {
        sqlite = backend.equals("sqlite");
        String kept = System.getProperty("keepsake.directory");
        directory = kept == null ? Files.createTempDirectory("index") : Files.createDirectories(Path.of(kept));
        String url = System.getProperty("keepsake.url");
        PGSimpleDataSource given = new PGSimpleDataSource();
        if (url != null) {
            given.setUrl(url);
        }
        source = sqlite
                ? null
                : Postgres.trustingPool(
                        url != null
                                ? given
                                : Postgres.newest().database(Postgres.newest().newDatabase()),
                        8,
                        true);
    }

    public static void main(String[] arguments) throws Exception {
        IndexBenchmark benchmark = new IndexBenchmark(arguments[0]);
        try (MessageLog log = benchmark.log();
                MessageIndex index = benchmark.index()) {
            if (arguments[1].equals("appends")) {
                benchmark.appends(
                        log,
                        index,
                        Integer.parseInt(arguments[2]),
                        arguments.length > 3 ? Integer.parseInt(arguments[3]) : 200,
                        arguments.length > 4 ? new MadeUp(Integer.parseInt(arguments[4])) : null);
            } else {
                benchmark.searches(
                        log,
                        index,
                        Integer.parseInt(arguments[1]),
                        Integer.parseInt(arguments[2]),
                        arguments.length > 3 ? Integer.parseInt(arguments[3]) : MessageSearch.MAX_POSTINGS);
            }
        }
        System.exit(0);
    }

    private MessageLog log() {
        return sqlite
                ? SqliteMessageLog.open(directory.resolve("chat.db"))
                : JdbcMessageLog.builder()
                        .dataSource(source)
                        .schema(SchemaMode.ALWAYS)
                        .build();
    }

    private MessageIndex index() {
        return sqlite
                ? JdbcMessageIndex.sqlite(directory.resolve("index.db"))
                : JdbcMessageIndex.builder()
                        .dataSource(source)
                        .schema(SchemaMode.ALWAYS)
                        .build();
    }

    private static MemoryKey key(int memory) {
        return ConversationKey.of("acme", "memory" + memory);
    }

    private static NewMessage message(GeneratedText text, int number) {
        String sentence = text.sentence(4, 24);
        return NewMessage.of(number % 2 == 0 ? UserMessage.from(sentence) : AiMessage.from(sentence), 10, "benchmark");
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format + "%n", arguments);
    }

    private void searches(MessageLog log, MessageIndex index, int messages, int memories, int postings)
            throws Exception {
        GeneratedText text = new GeneratedText(1, VOCABULARY);
        boolean isThere = !log.history(key(memories - 1), HistoryQuery.newest(1))
                .messages()
                .isEmpty();
        for (int memory = 0; memory < memories && !isThere; memory++) {
            for (int done = 0; done < messages / memories; ) {
                List<NewMessage> batch = new ArrayList<>();
                while (batch.size() < 1_000 && done < messages / memories) {
                    batch.add(message(text, done++));
                }
                log.append(key(memory), Append.underHead(batch.toArray(NewMessage[]::new)));
            }
        }
        Indexer indexer = new Indexer(
                index,
                key -> log,
                List.of(log),
                Words.standard(),
                task -> {},
                pause -> task -> {},
                Indexer.Settings.STANDARD,
                null);
        indexer.use("acme");
        long start = System.nanoTime();
        long cpu = cpu();
        indexer.sweep();
        indexer.drain();
        double seconds = (System.nanoTime() - start) / 1e9;
        print(
                "%s, %d messages in %d memories: indexed in %.1f s (%.0f a second; %.1f s of this thread's CPU)",
                index.backend(), messages, memories, seconds, messages / seconds, (cpu() - cpu) / 1e9);
        indexer.sweep();
        printSize();
        if (Boolean.getBoolean("keepsake.vectors")) {
            meanings(
                    log,
                    index,
                    IntStream.range(0, memories).mapToObj(IndexBenchmark::key).toList());
            return;
        }
        MessageSearch search = new MessageSearch(index, key -> log, Words.standard(), indexer, postings);
        print("at most %d postings are read, of many memories a quarter", postings);
        MessageRecall recall = new MessageRecall(search, key -> MessageRecallContract.seen(log, key, Set.of()));
        List<MemoryKey> all =
                IntStream.range(0, memories).mapToObj(IndexBenchmark::key).toList();
        List<Scope> scopes = memories == 1
                ? List.of(Scope.memory(key(0)))
                : List.of(Scope.memory(key(0)), Scope.memories(all), Scope.tenant("acme"));
        for (Scope scope : scopes) {
            for (int[] length : new int[][] {{1, 2}, {3, 6}, {8, 12}}) {
                measure("search", scope, length, question -> search.search(scope, question, SearchOptions.standard())
                        .hits()
                        .size());
                if (scope.memories() != null) {
                    measure("recall", scope, length, question -> recall.recall(
                                    scope, question, RecallOptions.standard())
                            .passages()
                            .size());
                }
            }
        }
        stages(search, scopes.get(Math.min(1, scopes.size() - 1)));
    }

    /** Measures recalls in memories whose messages have made-up vectors. */
    private static void meanings(MessageLog log, MessageIndex index, List<MemoryKey> memories) throws Exception {
        MadeUp model = new MadeUp(0);
        String id = new Embeddings(model, MadeUp.NAME).indexId();
        for (MemoryKey key : memories) {
            MessageIndex.Watermark watermark = index.watermarks(List.of(key)).get(key);
            MessageIndex.VectorMark mark = index.vectorMarks(id, List.of(key)).get(key);
            while (mark == null || mark.sequence() < watermark.sequence()) {
                long from = mark == null ? 1 : mark.sequence() + 1;
                long to = Math.min(watermark.sequence(), from + 100L * MessageIndex.VECTOR_BLOCK - 2);
                List<MessageIndex.MessageVector> vectors = LongStream.rangeClosed(from, to)
                        .mapToObj(sequence -> new MessageIndex.MessageVector(
                                sequence, Instant.ofEpochSecond(60 * sequence), MadeUp.vector(sequence)))
                        .toList();
                MessageIndex.VectorMark after = new MessageIndex.VectorMark(watermark.epoch(), to, 1, to);
                index.addVectors(id, key, mark, after, vectors);
                mark = after;
            }
        }
        ExecutorService executor = Executors.newCachedThreadPool();
        Scope scope = memories.size() == 1 ? Scope.memory(memories.get(0)) : Scope.memories(memories);
        for (MessageSearch.Embedding embedding : Arrays.asList(null, model.embedding(executor))) {
            MessageSearch search = new MessageSearch(
                    index, key -> log, List.of(log), Words.standard(), executor, IndexBenchmark::after, embedding);
            search.start("acme");
            // The first sweep, so that what is indexed is known.
            TimeUnit.SECONDS.sleep(5);
            MessageRecall recall = new MessageRecall(search, key -> MessageRecallContract.seen(log, key, Set.of()));
            String what = embedding == null ? "recall by words" : "recall by words and meaning";
            measure(what, scope, new int[] {3, 6}, question -> recall.recall(scope, question, RecallOptions.standard())
                    .passages()
                    .size());
        }
        executor.shutdown();
    }

    /** A model that makes vectors out of nothing, each in the same time. */
    private record MadeUp(int millis) implements EmbeddingModel {

        private static final String NAME = "made-up";

        static float[] vector(long seed) {
            Random random = new Random(seed);
            float[] vector = new float[384];
            for (int i = 0; i < vector.length; i++) {
                vector[i] = (float) random.nextGaussian();
            }
            return vector;
        }

        @Override
        public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
            LockSupport.parkNanos(1_000_000L * millis * segments.size());
            return Response.from(segments.stream()
                    .map(segment -> Embedding.from(vector(segment.text().hashCode())))
                    .toList());
        }

        @Override
        public int dimension() {
            return 384;
        }

        MessageSearch.Embedding embedding(Executor calls) {
            return new MessageSearch.Embedding(this, NAME, calls, Duration.ofSeconds(2), new Metrics() {});
        }
    }

    /** What a recall does, one after another. */
    private static void stages(MessageSearch search, Scope scope) {
        GeneratedText questions = new GeneratedText(99, VOCABULARY);
        long[] nanos = new long[4];
        long read = 0;
        int rounds = 300;
        for (int round = -100; round < rounds; round++) {
            String text = questions.sentence(3, 12);
            long start = cpu();
            Question question =
                    Question.of(text, "", Set.of(Named.USER, Named.ASSISTANT), search.words(), LocalDate.EPOCH);
            Candidates candidates = search.finder()
                    .find(
                            scope,
                            question.terms(),
                            Finder.Times.NONE,
                            MessageRecall.most(scope),
                            new Heads(search::log));
            long found = cpu();
            Map<MemoryKey, Set<Long>> places = new LinkedHashMap<>();
            candidates.best().forEach(candidate -> places.computeIfAbsent(
                            candidates.keys().get(candidate.posting().memory()), key -> new HashSet<>())
                    .addAll(Finder.around(List.of(candidate.posting().sequence()), 2)));
            List<LoggedMessage> messages = search.finder().at(places).values().stream()
                    .flatMap(ofMemory -> ofMemory.values().stream())
                    .toList();
            long looked = cpu();
            WantedTerms terms = WantedTerms.of(question.terms());
            List<Utterance> utterances = messages.stream()
                    .map(message -> {
                        String said = OwnText.blanked(message.message());
                        List<Recalled.Excerpt> parts = List.of(new Recalled.Excerpt(0, said.length()));
                        return Utterance.of(message, said, parts, search.words().tokens(said, terms), false);
                    })
                    .toList();
            long split = cpu();
            new Ranking(question, candidates.statistics(), Meaning.NONE, ZoneOffset.UTC)
                    .rank(key(0), ChatSession.cut(utterances, Duration.ofHours(4)));
            long ranked = cpu();
            if (round >= 0) {
                read += messages.size();
                long[] took = {found - start, looked - found, split - looked, ranked - split};
                Arrays.setAll(nanos, i -> nanos[i] + took[i]);
            }
        }
        print(
                "a recall's stages, mean of this thread's CPU: candidates %.1f ms, read %d messages %.1f ms, split"
                        + " them %.1f ms, rank them %.1f ms",
                nanos[0] / 1e6 / rounds,
                read / rounds,
                nanos[1] / 1e6 / rounds,
                nanos[2] / 1e6 / rounds,
                nanos[3] / 1e6 / rounds);
    }

    private void printSize() throws Exception {
        if (sqlite) {
            print("index %d MB, log %d MB", size("index.db"), size("chat.db"));
            return;
        }
        Postgres.execute(source, "VACUUM ANALYZE");
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        """
                        SELECT relname, pg_total_relation_size(oid) / 1000000, pg_indexes_size(oid) / 1000000, reltuples
                        FROM pg_class WHERE relname LIKE 'keepsake%' AND relkind = 'r'
                        ORDER BY 2 DESC LIMIT 4
                        """)) {
            while (rows.next()) {
                print(
                        "%s: %d MB, of which indexes %d MB; %d rows",
                        rows.getString(1), rows.getLong(2), rows.getLong(3), rows.getLong(4));
            }
        }
    }

    private long size(String file) throws Exception {
        return Files.size(directory.resolve(file)) / 1_000_000;
    }

    private static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void measure(String what, Scope scope, int[] length, ToIntFunction<String> asked) {
        GeneratedText questions = new GeneratedText(99, VOCABULARY);
        int rounds = 400;
        double[] millis = new double[rounds];
        double[] cpuMillis = new double[rounds];
        long hits = 0;
        for (int round = -200; round < rounds; round++) {
            String question = questions.sentence(length[0], length[1]);
            long cpu = cpu();
            long start = System.nanoTime();
            int found = asked.applyAsInt(question);
            double took = (System.nanoTime() - start) / 1e6;
            if (round >= 0) {
                millis[round] = took;
                cpuMillis[round] = (cpu() - cpu) / 1e6;
                hits += found;
            }
        }
        Arrays.sort(millis);
        Arrays.sort(cpuMillis);
        print(
                "%s in %s, %d to %d words: median %.1f ms, p95 %.1f ms (client's CPU: %.1f and %.1f ms); %.1f found",
                what,
                scope.memories() == null ? "a tenant" : scope.memories().size() + " memories",
                length[0],
                length[1],
                millis[rounds / 2],
                millis[rounds * 95 / 100],
                cpuMillis[rounds / 2],
                cpuMillis[rounds * 95 / 100],
                (double) hits / rounds);
    }

    /**
     * Appends messages to 50 memories, by turns without and with an indexer behind them. A turn is longer than the indexer's
     * pause, so that it is at work while messages are appended.
     *
     * @param rate the number of messages a second
     * @param model makes vectors too, or null
     */
    private void appends(MessageLog log, MessageIndex index, int seconds, int rate, @Nullable MadeUp model)
            throws Exception {
        ExecutorService executor =
                model == null ? Executors.newSingleThreadExecutor() : Executors.newCachedThreadPool();
        AtomicLong atWork = new AtomicLong();
        Executor timed = task -> executor.execute(() -> {
            long start = System.nanoTime();
            task.run();
            atWork.addAndGet(System.nanoTime() - start);
        });
        MessageSearch search = new MessageSearch(
                index,
                key -> log,
                List.of(log),
                Words.standard(),
                timed,
                IndexBenchmark::after,
                model == null ? null : model.embedding(executor));
        MessageLog watched = search.watched(log);
        GeneratedText text = new GeneratedText(1, VOCABULARY);
        List<Double> plain = new ArrayList<>();
        List<Double> indexed = new ArrayList<>();
        List<Double> lags = new ArrayList<>();
        for (int turn = -2; turn < 2 * seconds / SECONDS_OF_A_TURN; turn++) {
            if (turn == 0) {
                atWork.set(0);
            }
            boolean isIndexed = turn % 2 != 0;
            MemoryKey last = key(0);
            for (int i = 0; i < rate * SECONDS_OF_A_TURN; i++) {
                NewMessage message = message(text, i);
                last = ConversationKey.of(isIndexed ? "indexed" : "plain", "memory" + i % 50);
                long start = System.nanoTime();
                (isIndexed ? watched : log).append(last, Append.underHead(message));
                double micros = (System.nanoTime() - start) / 1e3;
                if (turn >= 0) {
                    (isIndexed ? indexed : plain).add(micros);
                }
                LockSupport.parkNanos(Math.max(0, start + 1_000_000_000 / rate - System.nanoTime()));
            }
            if (isIndexed) {
                long start = System.nanoTime();
                long newest = log.history(last, HistoryQuery.newest(1))
                        .messages()
                        .get(0)
                        .sequence();
                while (true) {
                    MessageIndex.Watermark watermark =
                            index.watermarks(List.of(last)).get(last);
                    if (watermark != null && watermark.sequence() >= newest) {
                        break;
                    }
                    LockSupport.parkNanos(50_000_000);
                }
                lags.add((System.nanoTime() - start) / 1e9);
            }
        }
        print(
                "%s: append without index median %.0f us, with the indexer running %.0f us, ratio %.3f; p95 %.0f and"
                        + " %.0f us; the last append is indexed after at most %.2f s; the indexer is at work for %.2f s in"
                        + " %d s",
                index.backend(),
                at(plain, 50),
                at(indexed, 50),
                at(indexed, 50) / at(plain, 50),
                at(plain, 95),
                at(indexed, 95),
                lags.stream().mapToDouble(Double::doubleValue).max().orElse(0),
                atWork.get() / 1e9,
                seconds);
        if (model != null) {
            List<MemoryKey> keys = IntStream.range(0, 50)
                    .mapToObj(i -> (MemoryKey) ConversationKey.of("indexed", "memory" + i))
                    .toList();
            long words = index.watermarks(keys).values().stream()
                    .mapToLong(MessageIndex.Watermark::sequence)
                    .sum();
            long vectors = index.vectorMarks(MadeUp.NAME + " " + model.dimension(), keys).values().stream()
                    .mapToLong(MessageIndex.VectorMark::sequence)
                    .sum();
            print("of %d messages that are indexed, %d have vectors", words, vectors);
        }
        executor.shutdown();
        executor.awaitTermination(1, TimeUnit.MINUTES);
    }

    private static Executor after(Duration pause) {
        return CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static double at(List<Double> values, int percent) {
        return values.stream()
                .sorted()
                .skip((long) values.size() * percent / 100)
                .findFirst()
                .orElse(0.0);
    }
}
