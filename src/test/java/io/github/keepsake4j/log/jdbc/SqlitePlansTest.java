package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What walks from run to run finds its rows by an index. */
class SqlitePlansTest {

    @TempDir
    Path directory;

    @Test
    void walks_use_indexes() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = JdbcMessageLog.sqlite(file)) {
            log.append(LogTesting.KEY, LogTesting.batch("a", "b"));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            Session session = new Session(connection, new SqliteDialect());
            for (String sql : List.of(SqliteSql.BRANCH, SqliteSql.IS_ON_BRANCH, SqliteSql.OLDEST)) {
                List<String> plan = session.list("EXPLAIN QUERY PLAN " + sql, row -> row.getString("detail"));
                assertThat(plan)
                        .filteredOn(
                                step -> step.startsWith("S") && !step.startsWith("SCAN run") && !step.equals("SETUP"))
                        .as("%s", plan)
                        .isNotEmpty()
                        .allMatch(step -> step.startsWith("SEARCH") || step.startsWith("SCALAR"))
                        .filteredOn(step -> step.startsWith("SEARCH"))
                        .allMatch(step -> step.contains("(memory_key=? AND seq"));
            }
        }
    }
}
