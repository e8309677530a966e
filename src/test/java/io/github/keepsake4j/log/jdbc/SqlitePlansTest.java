package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.sql.NamedSql;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each statement finds its rows by an index, and in the order in which it returns them. */
class SqlitePlansTest {

    @TempDir
    Path directory;

    @Test
    void walks_use_indexes() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(LogTesting.KEY, LogTesting.batch("a", "b"));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            Session session = new Session(SqlConnection.of(connection));
            for (String sql : List.of(SqliteSql.BRANCH, SqliteSql.IS_ON_BRANCH, SqliteSql.OLDEST)) {
                List<String> plan = session.list("EXPLAIN QUERY PLAN " + sql, row -> row.getString("detail"));
                assertThat(plan)
                        .filteredOn(
                                step -> step.startsWith("S") && !step.startsWith("SCAN run") && !step.equals("SETUP"))
                        .as("%s", plan)
                        .isNotEmpty()
                        .allMatch(step -> step.startsWith("SEARCH") || step.startsWith("SCALAR"))
                        .filteredOn(step -> step.startsWith("SEARCH"))
                        .allMatch(step -> step.endsWith("(memory_key=? AND seq=?)")
                                || (step.startsWith("SEARCH m ") && step.endsWith("AND seq>? AND seq<?)")));
            }
        }
    }

    /** SQLite sorts more than a few rows in a file. */
    @Test
    void no_read_sorts() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(LogTesting.KEY, LogTesting.batch("a"));
        }
        SoftAssertions softly = new SoftAssertions();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            Session session = new Session(SqlConnection.of(connection));
            for (Map.Entry<String, String> read : reads().entrySet()) {
                softly.assertThat(session.list("EXPLAIN QUERY PLAN " + read.getValue(), row -> row.getString("detail")))
                        .as(read.getKey())
                        .isNotEmpty()
                        .noneMatch(step -> step.contains("ORDER BY"));
            }
        }
        softly.assertAll();
    }

    /** However many memories have the cursor's time. */
    @Test
    void a_page_by_activity_begins_at_its_cursor() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            log.append(LogTesting.KEY, LogTesting.batch("a"));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            Session session = new Session(SqlConnection.of(connection));
            assertThat(session.list("EXPLAIN QUERY PLAN " + SqliteSql.LIST.text(), row -> row.getString("detail")))
                    .filteredOn(step -> step.startsWith("SEARCH"))
                    .extracting(step -> step.substring(step.indexOf('(')))
                    .containsExactly(
                            "(list=? AND place=? AND number<?)",
                            "(rowid=?) LEFT-JOIN",
                            "(list=? AND place<?)",
                            "(rowid=?) LEFT-JOIN");
        }
    }

    private static Map<String, String> reads() throws IllegalAccessException {
        Map<String, String> reads = new LinkedHashMap<>();
        for (Class<?> statements : List.of(SqliteSql.class, Sql.class)) {
            for (Field field : statements.getDeclaredFields()) {
                if (Modifier.isPrivate(field.getModifiers())) {
                    // A part of several statements.
                    continue;
                }
                String sql = field.get(null) instanceof NamedSql named ? named.text() : String.valueOf(field.get(null));
                if (sql.startsWith("SELECT") || sql.startsWith("WITH")) {
                    reads.put(field.getName(), sql);
                }
            }
        }
        // A row of it is as small as an id, and there is one for each branch.
        assertThat(reads.remove("LEAVES")).isNotNull();
        // It sorts at most two pages.
        assertThat(reads.remove("LIST")).isNotNull();
        // They sort the memories of one page, with their days.
        assertThat(reads.remove("USAGE")).isNotNull();
        assertThat(reads).containsKeys("BRANCH", "OLDEST", "IS_ON_BRANCH", "FIND", "HISTORY_BACK");
        return reads;
    }
}
