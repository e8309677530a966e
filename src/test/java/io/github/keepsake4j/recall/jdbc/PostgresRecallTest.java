package io.github.keepsake4j.recall.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageRecallContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AutoClose;

class PostgresRecallTest extends MessageRecallContract {

    @AutoClose
    private static final HikariDataSource POOL = Postgres.poolOfNewDatabase();

    @Override
    protected MessageLog log() throws SQLException {
        return PostgresSearchTest.emptyLog(POOL);
    }

    @Override
    protected MessageIndex index() {
        return PostgresSearchTest.emptyIndex(POOL);
    }
}
