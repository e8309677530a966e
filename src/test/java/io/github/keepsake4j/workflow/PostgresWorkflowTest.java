package io.github.keepsake4j.workflow;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on one database, which is emptied before each test, because creating one takes longer than a test. */
class PostgresWorkflowTest extends WorkflowContract {

    private static HikariDataSource database;

    private boolean emptied;

    @BeforeAll
    static void create() throws SQLException {
        Postgres server = Postgres.newest();
        database = Postgres.trustingPool(server.database(server.newDatabase()), 6, true);
        try (MessageLog log = log(database)) {
            // The first call makes the tables.
            log.read(NodeKey.of("acme", "app", "c1", "writer"), ReadQuery.newest(1));
        }
    }

    @AfterAll
    static void disconnect() {
        database.close();
    }

    @Override
    MessageLog open() {
        if (!emptied) {
            empty();
            emptied = true;
        }
        return log(database);
    }

    @Override
    int rounds() {
        return Counts.of(5, 100);
    }

    private static void empty() {
        try {
            Postgres.deleteRows(database);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static MessageLog log(DataSource source) {
        return JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
