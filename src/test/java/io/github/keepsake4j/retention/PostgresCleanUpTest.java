package io.github.keepsake4j.retention;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;

class PostgresCleanUpTest extends CleanUpContract {

    private HikariDataSource pool;

    @Override
    protected MessageLog open() {
        try {
            Postgres server = Postgres.newest();
            pool = Postgres.trustingPool(server.database(server.newDatabase()), 4, true);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    @AfterEach
    void closePool() {
        pool.close();
    }
}
