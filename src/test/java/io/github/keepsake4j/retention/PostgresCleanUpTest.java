package io.github.keepsake4j.retention;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresCleanUpTest extends CleanUpContract {

    private static HikariDataSource pool;

    @BeforeAll
    static void connect() throws SQLException {
        Postgres server = Postgres.newest();
        pool = Postgres.trustingPool(server.database(server.newDatabase()), 4, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
    }

    @Override
    protected MessageLog open() {
        try {
            Postgres.deleteRows(pool);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .listedMetadata(PROJECT)
                .build();
    }
}
