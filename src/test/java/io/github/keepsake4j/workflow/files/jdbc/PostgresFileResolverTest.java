package io.github.keepsake4j.workflow.files.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.TextContent;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.Type;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import io.github.keepsake4j.workflow.files.RemoteHosts;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Rows of files in PostgreSQL, where Dify's ids are columns of the type {@code uuid}. */
class PostgresFileResolverTest {

    private static final String ACME = UUID.randomUUID().toString();
    private static final String OTHER = UUID.randomUUID().toString();
    private static final String FILE = UUID.randomUUID().toString();
    private static final String THEIRS = UUID.randomUUID().toString();

    private static DataSource database;

    @BeforeAll
    static void fill() throws Exception {
        Postgres server = Postgres.newest();
        database = server.kept(server.newDatabase());
        for (String table : List.of(
                "upload_files (id uuid, tenant_id uuid, key text, name text, mime_type text, size int)",
                "tool_files (id uuid, tenant_id uuid, file_key text, name text, mimetype text, size int)")) {
            Postgres.execute(database, "CREATE TABLE " + table);
            Postgres.execute(
                    database,
                    "INSERT INTO %s VALUES ('%s', '%s', 'k', 'n', 'image/png', 3), ('%s', '%s', 'x', 'x', 'x', 1)"
                            .formatted(table.substring(0, table.indexOf(' ')), FILE, ACME, THEIRS, OTHER));
        }
    }

    @Test
    void a15_columns_of_the_type_uuid_are_found_by_tenant() {
        FileReference mine = FileReference.localFile(Type.IMAGE, FILE);
        FileReference sameInUpperCase = FileReference.localFile(Type.IMAGE, FILE.toUpperCase(java.util.Locale.ROOT));
        FileReference tools = FileReference.toolFile(Type.IMAGE, FILE);
        FileReference theirs = FileReference.localFile(Type.IMAGE, THEIRS);
        List<FileReference> all = List.of(mine, sameInUpperCase, tools, theirs);
        JdbcFileResolver resolver = JdbcFileResolver.of(database);

        assertThat(resolver.resolve(ACME, all))
                .containsOnlyKeys(mine, sameInUpperCase, tools)
                .containsEntry(mine, new ResolvedFile(mine, "k", "n", "image/png", 3));
        assertThat(resolver.resolve(OTHER, all)).containsOnlyKeys(theirs);
    }

    @Test
    void a15_an_id_that_is_no_uuid_is_not_there_and_does_not_cost_the_others() {
        FileReference mine = FileReference.localFile(Type.IMAGE, FILE);
        List<FileReference> files = List.of(
                FileReference.localFile(Type.IMAGE, "no uuid"),
                FileReference.localFile(Type.IMAGE, "1-1-1-1-1"),
                FileReference.localFile(Type.IMAGE, FILE + "' OR true --"),
                mine);
        JdbcFileResolver resolver = JdbcFileResolver.of(database);

        assertThat(resolver.resolve(ACME, files)).containsOnlyKeys(mine);
        assertThat(resolver.resolve("no uuid", files)).isEmpty();
    }

    @Test
    void a_look_up_does_not_end_the_transaction_of_its_caller() throws Exception {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            JdbcFileResolver resolver = JdbcFileResolver.of(new SingleConnectionDataSource(connection, true));
            FileReference mine = FileReference.localFile(Type.IMAGE, FILE);
            Postgres.execute(database, "CREATE TABLE IF NOT EXISTS written (id text)");
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO written VALUES ('a')");
            }

            assertThat(resolver.resolve(ACME, List.of(mine))).hasSize(1);

            connection.rollback();
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT count(*) FROM written")) {
                row.next();
                assertThat(row.getInt(1)).isZero();
            }
        }
    }

    @Test
    void a_table_that_is_not_there_is_named_and_not_retried() {
        FileReference mine = FileReference.localFile(Type.IMAGE, FILE);
        JdbcFileResolver.Table missing =
                new JdbcFileResolver.Table("no_files", "id", "tenant_id", "key", "name", "mime_type", "size");
        assertThatThrownBy(() ->
                        JdbcFileResolver.of(database).tables(missing, missing).resolve(ACME, List.of(mine)))
                .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                        .isFalse())
                .hasMessageContainingAll("no_files", "42P01");
    }

    @Test
    void the_state_of_the_first_failure_is_the_only_reason_that_is_logged() {
        FileReference mine = FileReference.localFile(Type.IMAGE, FILE);
        JdbcFileResolver.Table missing =
                new JdbcFileResolver.Table("no_files", "id", "tenant_id", "key", "name", "mime_type", "size");
        FileRebuilder rebuilder = FileRebuilder.of(
                JdbcFileResolver.of(database).tables(missing, missing),
                (tenant, file) -> {
                    throw new IllegalStateException();
                },
                RemoteHosts.openWeb());
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(logged, true));
        try {
            assertThat(rebuilder
                            .rebuild(KEY, ACME, FileUploadConfig.STANDARD, List.of(mine))
                            .apply(mine))
                    .isEqualTo(TextContent.from("[image: not available]"));
        } finally {
            System.setErr(before);
        }
        assertThat(logged.toString().lines()).singleElement().asString().contains("42P01");
    }
}
