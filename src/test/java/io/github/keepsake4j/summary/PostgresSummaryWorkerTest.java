package io.github.keepsake4j.summary;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class PostgresSummaryWorkerTest extends SummaryWorkerContract {

    private static DataSource database;

    @BeforeAll
    static void makeDatabase() throws SQLException {
        database = Postgres.newest().kept(Postgres.newest().newDatabase());
    }

    @BeforeEach
    void empty() throws SQLException {
        Postgres.deleteRows(database);
    }

    @Override
    MessageLog open() {
        return JdbcMessageLog.builder()
                .dataSource(database)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
