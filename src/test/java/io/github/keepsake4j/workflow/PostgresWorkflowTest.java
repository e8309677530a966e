package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeAll;

/** The contract on one database, which is emptied before each test, because creating one takes longer than a test. */
class PostgresWorkflowTest extends WorkflowContract {

    private static String database;

    private boolean emptied;

    @BeforeAll
    static void create() throws SQLException {
        database = Postgres.newest().newDatabase();
        open(Postgres.newest().port(), database).close();
    }

    @Override
    MessageLog open() {
        if (!emptied) {
            empty();
            emptied = true;
        }
        return open(Postgres.newest().port(), database);
    }

    @Override
    int rounds() {
        return Counts.of(5, 100);
    }

    private static void empty() {
        try {
            Postgres.execute(
                    Postgres.newest().database(database),
                    "TRUNCATE keepsake_memory, keepsake_message, keepsake_summary, keepsake_view, keepsake_lease");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static MessageLog open(int port, String name) {
        return JdbcMessageLog.builder()
                .dataSource(Postgres.database(name, port))
                .schema(JdbcMessageLog.SchemaMode.ALWAYS)
                .build();
    }
}
