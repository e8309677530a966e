package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.sql.SqlConnection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A connection in use. What was written is not kept with a statement. The values of a query are: SQLite plans a query anew after
 * its values were cleared.
 *
 * @param connection the connection
 * @param timeoutSeconds how long a statement may take, or 0 for no limit
 * @param kept statements that stay open as long as the connection, by their text; null for none
 */
record Session(SqlConnection connection, int timeoutSeconds, @Nullable Map<String, PreparedStatement> kept) {

    private static final int BATCH = 1_000;

    /** Converts a row to a value. */
    @FunctionalInterface
    interface Mapper<T> {
        T map(ResultSet row) throws SQLException;
    }

    /** Runs a statement. */
    @FunctionalInterface
    private interface Run<T> {
        T on(PreparedStatement statement) throws SQLException;
    }

    <T> List<T> list(String sql, Mapper<T> mapper, @Nullable Object... parameters) throws SQLException {
        return use(sql, statement -> {
            bind(statement, parameters);
            List<T> found = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(mapper.map(rows));
                }
            }
            return found;
        });
    }

    <T> @Nullable T first(String sql, Mapper<T> mapper, @Nullable Object... parameters) throws SQLException {
        List<T> found = list(sql, mapper, parameters);
        return found.isEmpty() ? null : found.get(0);
    }

    int update(String sql, @Nullable Object... parameters) throws SQLException {
        return use(sql, statement -> {
            bind(statement, parameters);
            int changed = statement.executeUpdate();
            statement.clearParameters();
            return changed;
        });
    }

    /** Runs a statement once for each row of parameters. */
    void updateAll(String sql, Iterable<Object[]> rows) throws SQLException {
        use(sql, statement -> {
            int waiting = 0;
            for (Object[] row : rows) {
                bind(statement, row);
                statement.addBatch();
                if (++waiting == BATCH) {
                    statement.executeBatch();
                    waiting = 0;
                }
            }
            int[] last = statement.executeBatch();
            statement.clearParameters();
            return last;
        });
    }

    private <T> T use(String sql, Run<T> run) throws SQLException {
        PreparedStatement known = kept == null ? null : kept.remove(sql);
        PreparedStatement statement = known == null ? connection.prepare(sql) : known;
        boolean succeeded = false;
        try {
            if (timeoutSeconds > 0) {
                statement.setQueryTimeout(timeoutSeconds);
            }
            T result = run.on(statement);
            succeeded = true;
            return result;
        } finally {
            // SQLite's driver finalizes a statement that fails.
            if (succeeded && kept != null) {
                kept.put(sql, statement);
            } else {
                statement.close();
            }
        }
    }

    private static void bind(PreparedStatement statement, @Nullable Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
    }
}
