package io.github.keepsake4j.recall.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageRecallContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresRecallTest extends MessageRecallContract {

    private static HikariDataSource pool;

    @BeforeAll
    static void connect() throws SQLException {
        pool = Postgres.trustingPool(
                Postgres.newest().database(Postgres.newest().newDatabase()), 4, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
    }

    @Override
    protected MessageLog log() throws SQLException {
        return PostgresSearchTest.emptyLog(pool);
    }

    @Override
    protected MessageIndex index() {
        return PostgresSearchTest.emptyIndex(pool);
    }
}
