package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.output.Response;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.ConceptModel;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Indexes and embeds all that a log has, again and again, and recalls meanwhile: {@code EmbeddingProcess sqlite directory model
 * dimension rounds}, or {@code EmbeddingProcess postgresql database port model dimension rounds}. Prints {@code words} for each
 * recall that found the answer by its words, {@code meaning} for one that found it by a paraphrase, and at the end how many texts
 * were embedded. With 0 rounds, the model hangs in its second call, after a line that says so.
 */
public final class EmbeddingProcess {

    static final ConversationKey KEY = ConversationKey.of("acme", "alice");
    static final String FACT = "We brought home a puppy called Luna.";
    static final String PARAPHRASE = "Describe Emma's hound";

    private EmbeddingProcess() {}

    /** The log and the index of a home. */
    record Storage(MessageLog log, MessageIndex index) implements AutoCloseable {

        static Storage sqlite(Path directory) {
            return new Storage(
                    SqliteMessageLog.open(directory.resolve("chat.db")),
                    JdbcMessageIndex.sqlite(directory.resolve("index.db")));
        }

        static Storage postgres(DataSource source) {
            return new Storage(PostgresMessageLog.open(source), JdbcMessageIndex.postgres(source));
        }

        @Override
        public void close() {
            log.close();
            index.close();
        }
    }

    /** A model of any dimension from 4 on. */
    private static final class Model extends ConceptModel {

        private final int dimension;
        private final boolean hangs;
        private final Consumer<String> told;

        Model(int dimension, boolean hangs, Consumer<String> told) {
            this.dimension = dimension;
            this.hangs = hangs;
            this.told = told;
        }

        @Override
        public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
            if (hangs && !calls.isEmpty()) {
                told.accept("hangs");
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return super.embedAll(segments);
        }

        @Override
        protected Embedding vector(String text) {
            return Embedding.from(Arrays.copyOf(super.vector(text).vector(), dimension));
        }

        @Override
        public int dimension() {
            return dimension;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int next = arguments.length - 3;
        try (Storage storage = arguments[0].equals("sqlite")
                ? Storage.sqlite(Path.of(arguments[1]))
                : Storage.postgres(Postgres.kept(arguments[1], Integer.parseInt(arguments[2])))) {
            work(
                    storage,
                    arguments[next],
                    Integer.parseInt(arguments[next + 1]),
                    Integer.parseInt(arguments[next + 2]),
                    EmbeddingProcess::print);
        }
    }

    static void work(Storage storage, String name, int dimension, int rounds, Consumer<String> told) {
        ConceptModel model = new Model(dimension, rounds == 0, told);
        Deque<Runnable> waiting = new ArrayDeque<>();
        Indexer.Settings settings =
                new Indexer.Settings(Duration.ofMillis(1), Duration.ofSeconds(30), 1, 1_024, Duration.ofSeconds(1));
        Embedder embedder = new Embedder(
                storage.index(),
                key -> storage.log(),
                Words.standard(),
                new Embeddings(model, name),
                Runnable::run,
                pause -> waiting::add,
                settings);
        Indexer indexer = new Indexer(
                storage.index(),
                key -> storage.log(),
                List.of(storage.log()),
                Words.standard(),
                Runnable::run,
                pause -> waiting::add,
                settings,
                embedder);
        ConceptModel ofQuestions = new Model(dimension, false, told);
        MessageSearch search = new MessageSearch(
                storage.index(),
                key -> storage.log(),
                List.of(storage.log()),
                Words.standard(),
                task -> {},
                pause -> task -> {},
                new MessageSearch.Embedding(
                        ofQuestions, name, task -> new Thread(task).start(), Duration.ofMinutes(1), new Metrics() {}));
        MessageRecall recall =
                new MessageRecall(search, key -> MessageRecallContract.seen(storage.log(), key, Set.of()));
        indexer.use(KEY.tenant());
        for (int round = 0; round < Math.max(1, rounds); round++) {
            indexer.sweep();
            while (!waiting.isEmpty()) {
                waiting.remove().run();
                told.accept(found(recall, "Luna", "words"));
            }
            told.accept(found(recall, PARAPHRASE, "meaning"));
        }
        told.accept("embedded " + model.texts());
    }

    private static String found(MessageRecall recall, String question, String found) {
        boolean isThere = recall.recall(Scope.memory(KEY), question, RecallOptions.standard()).passages().stream()
                .flatMap(passage -> passage.messages().stream())
                .anyMatch(message -> IndexedText.of(message).equals(FACT));
        return isThere ? found : "no " + found;
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
