package io.github.keepsake4j.sql;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.history;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

/** Which versions of tables and library go together, and that a library that does not fit says so and does nothing. */
@Timeout(300)
class SchemaVersionsTest {

    private static final String DEADLOCK = "40P01";
    private static final int NEWER = 1_000;

    @TempDir
    Path directory;

    private DataSource database;

    private DataSource postgres() {
        if (database == null) {
            try {
                database = Postgres.newest().kept(Postgres.newest().newDatabase());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
        return database;
    }

    /** What is open, with all that it does to its tables. */
    private record Opened(AutoCloseable resource, List<Call> calls) implements AutoCloseable {
        void use() throws Exception {
            for (Call call : calls) {
                call.run();
            }
        }

        @Override
        public void close() throws Exception {
            resource.close();
        }
    }

    /** A call that reads or writes. */
    private interface Call {
        void run() throws Exception;
    }

    private enum Tables {
        LOG_POSTGRESQL("keepsake_schema"),
        LOG_SQLITE("keepsake_schema"),
        INDEX_POSTGRESQL("keepsake_index_schema"),
        INDEX_SQLITE("keepsake_index_schema"),
        MEMORIES_POSTGRESQL("keepsake_made_schema"),
        MEMORIES_SQLITE("keepsake_made_schema");

        final String versions;

        Tables(String versions) {
            this.versions = versions;
        }

        boolean isSqlite() {
            return name().endsWith("SQLITE");
        }
    }

    private Opened open(Tables tables) {
        return switch (tables) {
            case LOG_POSTGRESQL -> log(postgresLog());
            case LOG_SQLITE -> log(SqliteMessageLog.open(file(tables)));
            case INDEX_POSTGRESQL -> index(Postgres.index(postgres()));
            case INDEX_SQLITE -> index(JdbcMessageIndex.sqlite(file(tables)));
            case MEMORIES_POSTGRESQL ->
                memories(JdbcLongTermMemoryStore.builder()
                        .dataSource(postgres())
                        .schema(SchemaMode.ALWAYS)
                        .build());
            case MEMORIES_SQLITE -> memories(FileLongTermMemoryStore.of(directory));
        };
    }

    private JdbcMessageLog postgresLog() {
        return JdbcMessageLog.builder()
                .dataSource(postgres())
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    private Path file(Tables tables) {
        if (tables != Tables.MEMORIES_SQLITE) {
            return directory.resolve(tables.name());
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".db"))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Opened log(MessageLog log) {
        AtomicInteger number = new AtomicInteger((int) System.nanoTime());
        return new Opened(
                log,
                List.of(
                        () -> log.append(KEY, batch("m" + number.incrementAndGet())),
                        () -> log.read(KEY, ReadQuery.newest(10)),
                        () -> log.history(KEY, HistoryQuery.oldest(10)),
                        () -> log.branches(KEY),
                        () -> log.list(KEY.tenant(), ListQuery.first(10)),
                        () -> Logs.setTitle(log, KEY, "title"),
                        () -> Logs.details(log, KEY),
                        () -> log.erase(KEY)));
    }

    private static Opened index(MessageIndex index) {
        AtomicInteger sequence = new AtomicInteger();
        return new Opened(
                index,
                List.of(
                        () -> index.remove(KEY),
                        () -> index.add(
                                KEY,
                                null,
                                new Watermark(1, sequence.incrementAndGet()),
                                List.of(new IndexedMessage(sequence.get(), ChatMessageType.USER, 1, Map.of("a", 1)))),
                        index::tenants,
                        () -> index.watermarks(List.of(KEY))));
    }

    private static Opened memories(LongTermMemoryStore store) {
        Passage passage = new Passage(List.of("id"), 1, "hash", "", "end");
        AtomicInteger number = new AtomicInteger();
        return new Opened(
                store,
                List.of(
                        () -> store.add(
                                KEY,
                                MadeMemory.Kind.FACT,
                                store.progress(KEY, MadeMemory.Kind.FACT).revision(),
                                passage,
                                List.of(MadeMemory.fact(
                                        "t" + number.incrementAndGet(),
                                        "s",
                                        List.of(),
                                        List.of(),
                                        passage,
                                        Trust.USER))),
                        () -> store.facts(KEY, 3)));
    }

    private DataSource source(Tables tables) {
        if (!tables.isSqlite()) {
            return postgres();
        }
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + file(tables));
        source.getConfig().setBusyTimeout(60_000);
        return source;
    }

    private void execute(Tables tables, String sql) throws SQLException {
        while (true) {
            try (Connection connection = source(tables).getConnection();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate("BEGIN" + (tables.isSqlite() ? " IMMEDIATE; " : "; ") + sql + "; COMMIT");
                return;
            } catch (SQLException e) {
                // A script that meets writers may be the one that the server ends, as a whole. It is run again.
                if (!DEADLOCK.equals(e.getSQLState())) {
                    throw e;
                }
            }
        }
    }

    private List<String> names(Tables tables) throws SQLException {
        String sql = tables.isSqlite()
                ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'keepsake%'"
                : "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'keepsake%'";
        List<String> names = new ArrayList<>();
        try (Connection connection = source(tables).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        names.remove(tables.versions);
        return names;
    }

    /** What a script does that raises both numbers. */
    private void raise(Tables tables) throws SQLException {
        StringBuilder script = new StringBuilder();
        for (String name : names(tables)) {
            script.append("ALTER TABLE %1$s RENAME TO %1$s_of_%2$d; ".formatted(name, NEWER));
        }
        script.append(
                ("DROP TABLE %1$s; CREATE TABLE %1$s (version integer NOT NULL PRIMARY KEY, oldest_writer integer NOT NULL);"
                                + " INSERT INTO %1$s VALUES (%2$d, %2$d)")
                        .formatted(tables.versions, NEWER));
        execute(tables, script.toString());
    }

    private static void assertRefused(Opened opened) {
        for (Call call : opened.calls()) {
            assertThatThrownBy(call::run)
                    .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                            .isFalse())
                    .hasMessageContainingAll("This library is older than the tables", "oldest_writer " + NEWER);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_older_library_is_refused_by_name_and_so_is_one_that_runs_meanwhile(Tables tables) throws Exception {
        try (Opened running = open(tables)) {
            running.use();
            raise(tables);
            assertRefused(running);
            assertRefused(running);
            assertThatThrownBy(running.calls().get(0)::run)
                    .hasMessageContaining(
                            tables.isSqlite() ? " in SQLite file " + file(tables) + ":" : "tables of the ");
            try (Opened opened = open(tables)) {
                assertRefused(opened);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_additive_script_changes_nothing_for_an_older_library(Tables tables) throws Exception {
        try (Opened running = open(tables)) {
            running.use();
            execute(tables, "UPDATE " + tables.versions + " SET version = " + NEWER);
            running.use();
            try (Opened opened = open(tables)) {
                opened.use();
            }
        }
    }

    /** A library that runs would not see it. */
    @ParameterizedTest
    @EnumSource
    void oldest_writer_alone_is_not_raised(Tables tables) throws Exception {
        try (Opened opened = open(tables)) {
            opened.use();
            assertThatThrownBy(() -> execute(tables, "UPDATE " + tables.versions + " SET oldest_writer = " + NEWER))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining(tables.versions + "_raised_with_tables");
        }
    }

    @ParameterizedTest
    @EnumSource
    void tables_of_a_snapshot_are_refused_by_name(Tables tables) throws Exception {
        try (Opened opened = open(tables)) {
            opened.use();
        }
        execute(
                tables,
                ("DROP TABLE %1$s; "
                                + (tables.isSqlite() && tables != Tables.LOG_SQLITE
                                        ? "PRAGMA user_version = 1"
                                        : "CREATE TABLE %1$s (version integer PRIMARY KEY); INSERT INTO %1$s VALUES (1)"))
                        .formatted(tables.versions));
        try (Opened opened = open(tables)) {
            for (Call call : opened.calls()) {
                assertThatThrownBy(call::run)
                        .isInstanceOf(KeepsakeException.class)
                        .hasMessageContainingAll("older than this library", "snapshot", "version 1");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOG_POSTGRESQL", "LOG_SQLITE"})
    void no_message_is_lost_while_an_additive_script_runs(Tables tables) throws Exception {
        try (MessageLog log = (MessageLog) open(tables).resource()) {
            int threads = 4;
            int each = Counts.of(100, 1_000);
            AtomicInteger acknowledged = new AtomicInteger();
            List<CompletableFuture<Void>> writers = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int writer = thread;
                writers.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < each; i++) {
                        log.append(KEY, batch("w" + writer + "-" + i));
                        acknowledged.incrementAndGet();
                    }
                }));
            }
            Awaitility.await().until(() -> acknowledged.get() > threads * each / 4);
            execute(
                    tables,
                    "ALTER TABLE keepsake_memory ADD COLUMN extra text; ALTER TABLE keepsake_message ADD COLUMN extra text;"
                            + " UPDATE keepsake_schema SET version = " + NEWER);
            int before = acknowledged.get();
            CompletableFuture.allOf(writers.toArray(CompletableFuture[]::new)).join();
            int stored = history(log, KEY).size();
            Tell.line(
                    "%s: %d acknowledged, %d of them before the script, %d stored",
                    tables, acknowledged.get(), before, stored);

            assertThat(stored).isEqualTo(acknowledged.get()).isEqualTo(threads * each);
        }
    }

    /** What was acknowledged before the script is there, under the new names; what was not is in none of the tables. */
    @ParameterizedTest
    @EnumSource(names = {"LOG_POSTGRESQL", "LOG_SQLITE"})
    void nothing_is_written_after_oldest_writer_is_raised(Tables tables) throws Exception {
        try (MessageLog log = (MessageLog) open(tables).resource()) {
            AtomicInteger acknowledged = new AtomicInteger();
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                while (true) {
                    log.append(KEY, batch("m" + acknowledged.get()));
                    acknowledged.incrementAndGet();
                }
            });
            Awaitility.await().until(() -> acknowledged.get() > 50 || writer.isDone());
            raise(tables);
            assertThatThrownBy(writer::join).hasMessageContaining("This library is older than the tables of the log");

            assertThat(count(tables, "keepsake_message_of_" + NEWER)).isEqualTo(acknowledged.get());
        }
    }

    private int count(Tables tables, String table) throws SQLException {
        try (Connection connection = source(tables).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** The library's next release has one more script. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tables_that_lack_a_script_are_told_by_its_name_or_get_it(boolean isSqlite) throws Exception {
        Tables tables = isSqlite ? Tables.INDEX_SQLITE : Tables.INDEX_POSTGRESQL;
        String folder = isSqlite ? "index/sqlite" : "index/postgresql";
        int current = SchemaScriptsTest.version(folder + "/V1__keepsake_index.sql");
        try (Opened opened = open(tables)) {
            opened.use();
        }
        SqlSchema.Script[] scripts = {
            new SqlSchema.Script("V1__keepsake_index.sql", current), new SqlSchema.Script("V2__test.sql", current + 1)
        };
        SqlSchema schema = new SqlSchema("index", "index/", tables.versions, 1, "mend it", null, List.of(scripts));
        SchemaScripts next = new SchemaScripts(schema, isSqlite, "");
        try (SqlConnection connection = SqlConnection.reader(source(tables))) {
            Session session = new Session(connection);
            SchemaScripts.Versions versions = next.versions(session);

            assertThatThrownBy(() -> next.check(versions, "it was not applied"))
                    .isInstanceOf(KeepsakeException.class)
                    .hasMessageContainingAll("older than this library", folder + "/V2__test.sql");

            assertThat(next.complete(session).version()).isEqualTo(current + 1);
            assertThat(next.complete(session).oldestWriter()).isEqualTo(current);
        }
        try (Opened opened = open(tables)) {
            opened.use();
        }
    }

    @Test
    void tables_that_are_not_there_are_told_by_the_first_script() {
        try (MessageLog log = PostgresMessageLog.open(postgres())) {
            assertThatThrownBy(() -> log.list("acme", ListQuery.first(1)))
                    .isInstanceOf(KeepsakeException.class)
                    .hasMessageContainingAll("are missing", "schema/postgresql/V1__keepsake.sql");
        }
    }

    @ParameterizedTest
    @EnumSource(Tables.class)
    void a_table_of_versions_that_was_dropped_or_emptied_is_told_with_its_script(Tables tables) throws Exception {
        try (Opened opened = open(tables)) {
            opened.use();
        }
        for (String loss : List.of("DELETE FROM ", "DROP TABLE ")) {
            execute(tables, loss + tables.versions);
            for (int again = 0; again < 2; again++) {
                try (Opened opened = open(tables)) {
                    assertThatThrownBy(opened.calls().get(0)::run)
                            .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                                    .isFalse())
                            .hasMessageContaining(tables.versions + " is missing or empty")
                            .hasMessageContaining("V1__keepsake");
                }
            }
        }
    }
}
