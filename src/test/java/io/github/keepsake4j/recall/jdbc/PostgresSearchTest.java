package io.github.keepsake4j.recall.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearchContract;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import java.time.LocalDate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;

class PostgresSearchTest extends MessageSearchContract {

    @AutoClose
    private static final HikariDataSource POOL = Postgres.poolOfNewDatabase();

    @Override
    protected MessageIndex newIndex() {
        return emptyIndex(POOL);
    }

    @Override
    protected MessageLog newLog() throws SQLException {
        return emptyLog(POOL);
    }

    static MessageIndex emptyIndex(DataSource source) {
        MessageIndex index = Postgres.index(source);
        index.clear();
        return index;
    }

    static MessageLog emptyLog(DataSource source) throws SQLException {
        MessageLog log = Postgres.log(source);
        Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH);
        Postgres.deleteRows(source);
        return log;
    }
}
