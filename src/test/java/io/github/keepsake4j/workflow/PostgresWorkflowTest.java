package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;

class PostgresWorkflowTest extends WorkflowContract {

    @Override
    MessageLog open() {
        return open(Postgres.newest().port(), newDatabase());
    }

    @Override
    int rounds() {
        return Counts.of(10, 500);
    }

    static String newDatabase() {
        try {
            return Postgres.newest().newDatabase();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static MessageLog open(int port, String database) {
        return JdbcMessageLog.builder()
                .dataSource(Postgres.database(database, port))
                .schema(JdbcMessageLog.SchemaMode.ALWAYS)
                .build();
    }
}
