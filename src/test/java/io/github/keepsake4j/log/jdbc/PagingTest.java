package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteDataSource;

/**
 * A user interface pages through very many conversations, and through a very long one: a page costs one statement and its
 * rows wherever it is, and nothing is missed or met twice while others write.
 */
@Timeout(1_800)
class PagingTest {

    enum Backend {
        SQLITE,
        POSTGRES
    }

    /** Blocks of a page of 20 rows: a root, an inner and some leaf pages of one index, and a heap page for each row. */
    private static final long BLOCKS = 100;

    private static final int PAGE = 20;

    private static final int WRITERS = 8;

    /** Reads through a data source that counts. SQLite's own connections cannot be counted from outside. */
    private static final class Counted implements Connections {
        private final DataSource source;

        Counted(DataSource source) {
            this.source = source;
        }

        @Override
        public <T> T write(Object what, Work<T> work) {
            throw new UnsupportedOperationException("only others write");
        }

        @Override
        public <T> T single(Object what, Work<T> work) {
            try (Connection connection = source.getConnection()) {
                return work.on(new Session(SqlConnection.of(connection)));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public <T> T snapshot(Object what, Work<T> work) {
            return single(what, work);
        }

        @Override
        public void compact(List<String> tables) {}

        @Override
        public void close() {}
    }

    @TempDir
    Path directory;

    private final ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    private final TestClock clock = new TestClock();
    private final Random random = new Random(11);
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final AtomicInteger statements = new AtomicInteger();
    private final AtomicInteger rows = new AtomicInteger();
    private final Set<MemoryKey> written = ConcurrentHashMap.newKeySet();
    private int next;

    /** What others write with. */
    private MessageLog others;

    /** What the user interface reads with. */
    private Keepsake keepsake;

    private LongSupplier blocks = () -> 0;

    /** Removes what the others' writes left in the indexes, as the server does by itself from time to time. */
    private Callable<Void> vacuum = () -> null;

    @AfterEach
    void close() throws Exception {
        threads.shutdown();
        Collections.reverse(opened);
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private void open(Backend backend) throws Exception {
        MessageLog reader;
        if (backend == Backend.SQLITE) {
            Path file = directory.resolve("chat.db");
            others = SqliteMessageLog.open(file, clock);
            SQLiteDataSource source = new SQLiteDataSource();
            source.setUrl("jdbc:sqlite:" + file);
            reader = new JdbcMessageLog(
                    new Counted(counted(source)), new SqliteDialect(), ListedMetadata.NONE, Clock.systemUTC());
        } else {
            Postgres server = Postgres.newest();
            String database = server.newDatabase();
            HikariDataSource writing = Postgres.trustingPool(server.database(database), WRITERS, true);
            HikariDataSource reading = Postgres.trustingPool(server.database(database), 1, true);
            others = JdbcMessageLog.builder()
                    .dataSource(writing)
                    .schema(SchemaMode.ALWAYS)
                    .clock(clock)
                    .build();
            reader = PostgresMessageLog.open(counted(reading));
            blocks = () -> PostgresGrowthTest.blocks(reading);
            vacuum = () -> {
                Postgres.execute(reading, "VACUUM");
                return null;
            };
            opened.addAll(List.of(writing, reading));
        }
        opened.addAll(List.of(others, reader));
        keepsake = Keepsake.builder().messageLog(reader).tenant("acme").build();
        // The first use of a connection sends more.
        others.append(key("first"), batch("a"));
        keepsake.conversation("first").history(HistoryQuery.newest(1));
        others.erase(key("first"));
    }

    private ProxyDataSource counted(DataSource source) {
        return ProxyDataSourceBuilder.create(source)
                .afterQuery((execution, queries) -> statements.addAndGet(queries.size()))
                .proxyResultSet()
                .afterMethod(method -> {
                    if (method.getMethod().getName().equals("next") && Boolean.TRUE.equals(method.getResult())) {
                        rows.incrementAndGet();
                    }
                })
                .build();
    }

    private static ConversationKey key(String id) {
        return ConversationKey.of("acme", id);
    }

    @ParameterizedTest
    @EnumSource
    void e4_pages_of_conversations_cost_the_same_anywhere_and_miss_nothing_while_others_write(Backend backend)
            throws Exception {
        open(backend);
        int count = Counts.of(100, 100_000);
        Set<MemoryKey> all = new HashSet<>();
        List<CompletableFuture<Void>> fillings = new ArrayList<>();
        for (int from = 0; from < WRITERS; from++) {
            int first = from;
            fillings.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = first; i < count; i += WRITERS) {
                            others.append(key("c" + i), batch("a"));
                        }
                    },
                    threads));
        }
        fillings.forEach(CompletableFuture::join);
        for (int i = 0; i < count; i++) {
            all.add(key("c" + i));
        }

        for (boolean byActivity : new boolean[] {false, true}) {
            ListQuery first = byActivity ? ListQuery.first(PAGE).byActivity() : ListQuery.first(PAGE);
            written.clear();
            List<MemoryKey> met = new ArrayList<>();
            meanwhile(
                    () -> {
                        Optional<ListQuery> query = Optional.of(first);
                        while (query.isPresent()) {
                            MemoryPage page = page(query.get());
                            page.memories().stream().map(MemoryInfo::key).forEach(met::add);
                            query = page.next();
                            writeToSome(count);
                        }
                    },
                    own -> key(own.nextBoolean() ? "extra " + own.nextInt() : "c" + own.nextInt(count)));
            assertThat(met).doesNotHaveDuplicates();
            Set<MemoryKey> missing = new HashSet<>(all);
            met.forEach(missing::remove);
            // What moves to the front during the walk may be met there only.
            missing.removeAll(byActivity ? written : Set.of());
            assertThat(missing).isEmpty();
            assertThat(written).isNotEmpty();
            Tell.line(
                    "%s, %s: %d conversations met, %d written to meanwhile",
                    backend, byActivity ? "by activity" : "by creation", met.size(), written.size());

            vacuum.call();
            ListQuery deep = first;
            for (int skipped = PAGE; skipped < count; skipped += PAGE) {
                deep = keepsake.conversations(deep).next().orElseThrow();
            }
            ListQuery last = deep;
            cost(backend, "a list's first page", () -> page(first));
            cost(backend, "a list's last page", () -> page(last));
        }
    }

    /** Reads a page, and checks what it costs: one row more than it returns tells that there is a next one. */
    private MemoryPage page(ListQuery query) {
        statements.set(0);
        rows.set(0);
        MemoryPage page = keepsake.conversations(query);
        int returned = page.memories().size();
        assertThat(statements).as("statements").hasValue(1);
        assertThat(rows).hasValue(page.next().isPresent() ? returned + 1 : returned);
        assertThat(returned).isEqualTo(page.next().isPresent() ? PAGE : returned);
        return page;
    }

    private void writeToSome(int count) {
        for (int i = 0; i < 2; i++) {
            ConversationKey key = random.nextInt(4) == 0 ? key("new " + next) : key("c" + random.nextInt(count));
            clock.advance(Duration.ofMinutes(61));
            written.add(key);
            others.append(key, batch("m" + next++));
        }
    }

    @ParameterizedTest
    @EnumSource
    void e4_pages_of_a_history_cost_the_same_anywhere_and_miss_nothing_while_others_write(Backend backend)
            throws Exception {
        open(backend);
        int count = Counts.of(400, 100_000);
        MemoryKey key = key("c");
        for (int i = 0; i < count; i += 100) {
            String[] ids = IntStream.range(i, i + 100).mapToObj(n -> "a" + n).toArray(String[]::new);
            others.append(key, i % 400 == 300 ? batchUnder("a" + (i - 150), ids) : batch(ids));
        }
        List<String> all = IntStream.range(0, count).mapToObj(n -> "a" + n).toList();
        Conversation conversation = keepsake.conversation("c");

        for (HistoryQuery first : List.of(HistoryQuery.newest(PAGE), HistoryQuery.oldest(PAGE))) {
            List<String> met = new ArrayList<>();
            AtomicInteger pages = new AtomicInteger();
            meanwhile(
                    () -> {
                        Optional<HistoryQuery> query = Optional.of(first);
                        // A walk forward would follow the writers for ever.
                        while (query.isPresent() && met.size() < 2 * count) {
                            HistoryPage page = page(conversation, query.get());
                            met.addAll(
                                    first.forward() ? met.size() : 0,
                                    page.messages().stream()
                                            .map(LoggedMessage::id)
                                            .toList());
                            query = page.next();
                            if (pages.incrementAndGet() < count / PAGE) {
                                others.append(
                                        key,
                                        random.nextInt(4) == 0
                                                ? batchUnder("a" + random.nextInt(count), "m" + next++)
                                                : batch("m" + next++));
                            }
                        }
                    },
                    own -> key(own.nextBoolean() ? "other" : "c"));
            assertThat(met).doesNotHaveDuplicates();
            assertThat(met.stream().filter(id -> id.startsWith("a"))).isEqualTo(all);
            Tell.line("%s, %s: %d messages met", backend, first.forward() ? "forward" : "back", met.size());
        }
        try (Stream<LoggedMessage> stream = conversation.historyStream(HistoryQuery.newest(1_000))) {
            List<String> ids = new ArrayList<>(stream.map(LoggedMessage::id)
                    .filter(id -> id.startsWith("a"))
                    .toList());
            Collections.reverse(ids);
            assertThat(ids).isEqualTo(all);
        }
        for (HistoryQuery query : List.of(
                HistoryQuery.newest(PAGE),
                HistoryQuery.before(count / 2, PAGE),
                HistoryQuery.before(PAGE + 2, PAGE),
                HistoryQuery.oldest(PAGE),
                HistoryQuery.after(count / 2, PAGE),
                HistoryQuery.after(count - PAGE, PAGE))) {
            cost(backend, "a page from " + query.sequence(), () -> page(conversation, query));
        }
    }

    private HistoryPage page(Conversation conversation, HistoryQuery query) {
        statements.set(0);
        rows.set(0);
        HistoryPage page = conversation.history(query);
        int returned = page.messages().size();
        assertThat(statements).as("statements").hasValue(1);
        assertThat(rows).hasValue(page.next().isPresent() ? returned + 1 : returned);
        assertThat(returned).isEqualTo(page.next().isPresent() ? PAGE : returned);
        return page;
    }

    /** Reads while another thread writes to conversations that the walk may meet. */
    private void meanwhile(Runnable walk, Function<Random, ConversationKey> keys) {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            Random own = new Random();
            while (!done.get()) {
                ConversationKey key = keys.apply(own);
                written.add(key);
                others.append(key, batch("w" + System.nanoTime()));
            }
        });
        try {
            walk.run();
        } finally {
            done.set(true);
            writer.join();
        }
    }

    private void cost(Backend backend, String what, Runnable page) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long begin = System.nanoTime();
            page.run();
            best = Math.min(best, System.nanoTime() - begin);
        }
        // The server counts for all connections, and those of the writers tell some seconds later what they did. That
        // only adds.
        long read = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = blocks.getAsLong();
            page.run();
            read = Math.min(read, blocks.getAsLong() - before);
        }
        Tell.line("%s, %s: %d us, %d blocks", backend, what, best / 1_000, read);
        assertThat(read).as("blocks of %s", what).isLessThanOrEqualTo(BLOCKS);
    }
}
