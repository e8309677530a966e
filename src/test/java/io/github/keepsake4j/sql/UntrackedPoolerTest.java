package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.Type;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.TransactionPooler;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.transfer.jdbc.JdbcImportSource;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import io.github.keepsake4j.workflow.files.jdbc.JdbcFileResolver;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Look-ups of files and imports behind a pooler in transaction mode that does not track prepared statements. */
@Timeout(600)
class UntrackedPoolerTest {

    private static final int CLIENTS = 8;
    private static final int SERVERS = 3;
    private static final int ROWS = 400;
    private static final String TENANT = UUID.randomUUID().toString();
    private static final String FILE = UUID.randomUUID().toString();

    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();
    private DataSource direct;
    private TransactionPooler pooler;
    private String database;

    @BeforeEach
    void open() throws Exception {
        Postgres server = Postgres.newest();
        database = server.newDatabase();
        direct = server.database(database);
        pooler = new TransactionPooler(server.port(), database, "postgres", SERVERS);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
        pooler.close();
    }

    @Test
    void a_look_up_of_a_file_never_finds_the_one_of_the_other_table() throws Exception {
        makeFiles();
        int lookUps = Counts.of(400, 1_200) / CLIENTS;
        Threads.run(CLIENTS, client -> {
            JdbcFileResolver resolver = JdbcFileResolver.of(pool(client % 3 == 0));
            FileReference file = client % 2 == 0
                    ? FileReference.localFile(Type.IMAGE, FILE)
                    : FileReference.toolFile(Type.IMAGE, FILE);
            for (int i = 0; i < lookUps; i++) {
                lookUp(resolver, file, client % 2 == 0 ? "uploaded" : "made");
            }
        });
        assertThat(wrong).hasValue(0);
        assertThat(failed).hasValue(0);
    }

    private void lookUp(JdbcFileResolver resolver, FileReference file, String expected) {
        try {
            ResolvedFile found = resolver.resolve(TENANT, List.of(file)).get(file);
            if (found == null || !found.storageKey().equals(expected)) {
                wrong.incrementAndGet();
            }
        } catch (RuntimeException e) {
            failed.incrementAndGet();
        }
    }

    /** Half of the clients prepare a statement that deletes a conversation's rows, of conversations that are not there. */
    @Test
    void an_import_runs_no_statement_of_another_client() throws Exception {
        makeMessages();
        int conversations = ROWS / 10;
        int rounds = Counts.of(1, 3);
        Threads.run(CLIENTS, client -> {
            if (client % 2 == 0) {
                ImportSource source = JdbcImportSource.dify(pool(client % 4 == 0));
                for (int i = 0; i < rounds * conversations; i++) {
                    read(source, "c" + i % conversations);
                }
            } else {
                delete(client, 2 * rounds * conversations);
            }
        });
        int left = rows();
        assertThat(left).isEqualTo(ROWS);
        assertThat(wrong).hasValue(0);
        assertThat(failed).hasValue(0);
    }

    private void read(ImportSource source, String conversation) {
        try {
            if (source.messages(ConversationKey.of("acme", conversation)).size() != 20) {
                wrong.incrementAndGet();
            }
        } catch (RuntimeException e) {
            failed.incrementAndGet();
        }
    }

    private void delete(int client, int times) {
        DataSource source = Postgres.database(database, pooler.port());
        for (int i = 0; i < times; ) {
            try (Connection connection = source.getConnection();
                    PreparedStatement statement =
                            connection.prepareStatement("DELETE FROM messages WHERE conversation_id = ?")) {
                for (; i < times; i++) {
                    statement.setString(1, "none" + client);
                    statement.executeUpdate();
                }
            } catch (SQLException e) {
                // This client names a statement that is not in its session: it begins anew.
                i++;
            }
        }
    }

    private void makeFiles() throws SQLException {
        Postgres.execute(
                direct,
                """
                CREATE TABLE upload_files (id text, tenant_id text, key text, name text, mime_type text, size int);
                CREATE TABLE tool_files (id text, tenant_id text, file_key text, name text, mimetype text, size int);
                INSERT INTO upload_files VALUES ('%1$s', '%2$s', 'uploaded', 'n', 'image/png', 3);
                INSERT INTO tool_files VALUES ('%1$s', '%2$s', 'made', 'n', 'image/png', 3);
                """
                        .formatted(FILE, TENANT));
    }

    private void makeMessages() throws SQLException {
        Postgres.execute(
                direct,
                """
                CREATE TABLE messages (id text, parent_message_id text, conversation_id text, query text, answer text,
                  created_at timestamp);
                CREATE TABLE message_files (id text, message_id text, type text, transfer_method text, url text,
                  belongs_to text, upload_file_id text, created_at timestamp);
                INSERT INTO messages
                SELECT 'm' || i, CASE WHEN i %% 10 = 0 THEN NULL ELSE 'm' || i - 1 END, 'c' || i / 10, 'q', 'a',
                  timestamp '2026-01-01' + i * interval '1 second'
                FROM generate_series(0, %d) i
                """
                        .formatted(ROWS - 1));
    }

    private int rows() throws SQLException {
        try (Connection connection = direct.getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT count(*) FROM messages");
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    private HikariDataSource pool(boolean autoCommit) {
        HikariDataSource pool = Postgres.pool(Postgres.database(database, pooler.port()), 1, autoCommit);
        synchronized (open) {
            open.add(pool);
        }
        return pool;
    }
}
