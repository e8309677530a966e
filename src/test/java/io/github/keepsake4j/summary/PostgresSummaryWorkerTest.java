package io.github.keepsake4j.summary;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;

class PostgresSummaryWorkerTest extends SummaryWorkerContract {

    private String database;

    @Override
    MessageLog open() throws SQLException {
        if (database == null) {
            database = Postgres.newest().newDatabase();
        }
        return JdbcMessageLog.builder()
                .dataSource(Postgres.newest().kept(database))
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
