package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SchemaScriptsTest;
import io.github.keepsake4j.testing.Postgres;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/**
 * Databases that an earlier build wrote: a SQLite file, and the rows of PostgreSQL's tables as COPY writes them, in a folder for
 * each version of the tables. From release 0.1.0 on none is ever changed or removed. A folder of the present version is written by
 * {@code -Dtest=GoldenDatabaseTest#write -Dgroups=golden}.
 */
class GoldenDatabaseTest {

    private static final String SCRIPT = "postgresql/V1__keepsake.sql";
    private static final int BASE = SchemaScriptsTest.version(SCRIPT);

    /** In the order in which rows may be there. */
    private static final List<String> TABLES = List.of(
            "keepsake_schema",
            "keepsake_memory",
            "keepsake_listed",
            "keepsake_listed_name",
            "keepsake_message",
            "keepsake_view",
            "keepsake_summary",
            "keepsake_reference",
            "keepsake_usage");

    private static final ConversationKey ERASED = ConversationKey.of("acme", "erased");

    @TempDir
    Path directory;

    static List<Integer> versions() throws IOException, URISyntaxException {
        Path golden = Path.of(GoldenDatabaseTest.class.getResource("golden").toURI());
        try (Stream<Path> folders = Files.list(golden)) {
            return folders.map(folder -> Integer.parseInt(folder.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }

    private static Path folder(int version) throws URISyntaxException {
        return Path.of(GoldenDatabaseTest.class.getResource("golden/" + version).toURI());
    }

    @ParameterizedTest
    @MethodSource("versions")
    void a_file_of_sqlite_is_opened_or_refused_by_name(int version) throws Exception {
        Path file = Files.copy(folder(version).resolve("log.db"), directory.resolve("log.db"));
        try (MessageLog log = SqliteMessageLog.open(file)) {
            if (version < BASE) {
                assertThrown(
                        KeepsakeException.class,
                        () -> log.list("acme", ListQuery.first(1)),
                        "older than this library",
                        "snapshot",
                        "version " + version);
            } else {
                assertGolden(log);
            }
        }
    }

    /** Those from the first release on. What a snapshot of before wrote is refused. */
    static List<Integer> readable() throws IOException, URISyntaxException {
        return versions().stream().filter(version -> version >= BASE).toList();
    }

    @ParameterizedTest
    @MethodSource("readable")
    void rows_of_postgresql_are_read_and_written(int version) throws Exception {
        DataSource database = Postgres.newest().kept(Postgres.newest().newDatabase());
        Postgres.execute(database, SchemaScriptsTest.read(SCRIPT));
        Postgres.execute(database, "DELETE FROM keepsake_schema");
        try (Connection connection = database.getConnection()) {
            for (String table : TABLES) {
                try (Reader rows = Files.newBufferedReader(folder(version).resolve(table + ".copy"))) {
                    connection
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyIn("COPY " + table + " FROM STDIN (FORMAT text, HEADER match)", rows);
                }
            }
        }
        Postgres.execute(database, "SELECT setval('keepsake_memory_number', max(number)) FROM keepsake_memory");
        try (MessageLog log = Postgres.log(database)) {
            assertGolden(log);
        }
    }

    private static void assertGolden(MessageLog log) {
        try (MessageLog golden = GoldenMemory.log()) {
            GoldenFormsTest.assertSame(golden, log);
        }
        assertThat(log.list("acme", ListQuery.first(10)).memories()).hasSize(2);
        GoldenFormsTest.assertGoesOn(log);
    }

    private static void fill(MessageLog log) {
        log.append(ERASED, batch("a"));
        log.erase(ERASED);
        try (MessageLog golden = GoldenMemory.log()) {
            MemoryCopy.between(golden, log).tenant("acme");
        }
    }

    @Test
    @Tag("golden")
    void write() throws Exception {
        Path folder =
                Files.createDirectories(Path.of("src/test/resources/io/github/keepsake4j/transfer/golden/" + BASE));
        try (MessageLog log = SqliteMessageLog.open(folder.resolve("log.db"))) {
            fill(log);
        }
        DataSource database = Postgres.newest().database(Postgres.newest().newDatabase());
        try (MessageLog log = Postgres.log(database)) {
            fill(log);
        }
        for (String table : TABLES) {
            copyOut(database, table, folder.resolve(table + ".copy"));
        }
    }

    private static void copyOut(DataSource database, String table, Path file) throws SQLException, IOException {
        try (Connection connection = database.getConnection();
                OutputStream out = Files.newOutputStream(file)) {
            connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyOut("COPY " + table + " TO STDOUT (FORMAT text, HEADER)", out);
        }
    }
}
