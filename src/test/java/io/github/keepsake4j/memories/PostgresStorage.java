package io.github.keepsake4j.memories;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;

/** An empty database of a real server, for a log and a store of memories of one test at a time. It counts the statements. */
final class PostgresStorage {

    final List<String> statements = Collections.synchronizedList(new ArrayList<>());
    private final DataSource pool;
    private final DataSource counting;

    PostgresStorage() {
        try {
            pool = Postgres.common("memories");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        counting = ProxyDataSourceBuilder.create(pool)
                .afterQuery((execution, queries) -> queries.forEach(query -> statements.add(query.getQuery())))
                .build();
    }

    MessageLog newLog() {
        return JdbcMessageLog.builder()
                .dataSource(counting)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    LongTermMemoryStore newStore() {
        return JdbcLongTermMemoryStore.builder()
                .dataSource(counting)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    /** Returns all rows of the memories' tables. */
    String stored() throws SQLException {
        StringBuilder all = new StringBuilder();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("progress", "step", "memory", "word", "lease")) {
                try (ResultSet rows =
                        statement.executeQuery("SELECT CAST(t AS text) FROM keepsake_made_" + table + " t")) {
                    while (rows.next()) {
                        all.append(rows.getString(1)).append('\n');
                    }
                }
            }
        }
        return all.toString();
    }
}
