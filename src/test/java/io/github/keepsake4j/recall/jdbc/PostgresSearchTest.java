package io.github.keepsake4j.recall.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearchContract;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import java.time.LocalDate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresSearchTest extends MessageSearchContract {

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
    protected MessageIndex newIndex() {
        return emptyIndex(pool);
    }

    @Override
    protected MessageLog newLog() throws SQLException {
        return emptyLog(pool);
    }

    static MessageIndex emptyIndex(DataSource source) {
        MessageIndex index = JdbcMessageIndex.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
        index.clear();
        return index;
    }

    static MessageLog emptyLog(DataSource source) throws SQLException {
        MessageLog log = JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
        Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH);
        Postgres.deleteRows(source);
        return log;
    }
}
