package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.AfterFailure;
import io.github.keepsake4j.message.InvalidInputException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection in use. It runs one statement after the other, each with its parameters in order. */
public final class Session {

    private static final int BATCH = 1_000;

    /**
     * The query does not use {@code to_regclass}, because a session remembers for a while that a table did not exist, even
     * while it holds a lock.
     */
    private static final String IS_IN_POSTGRESQL =
            "SELECT 1 FROM pg_catalog.pg_class WHERE relname = ? AND pg_catalog.pg_table_is_visible(oid)";

    private static final String IS_IN_SQLITE = "SELECT 1 FROM sqlite_master WHERE name = ?";

    private final SqlConnection connection;
    private final @Nullable Watchdog watchdog;
    private final @Nullable Preparation preparation;
    private final @Nullable Map<String, PreparedStatement> kept;

    /**
     * Creates the object.
     *
     * @param watchdog cancels statements that run for too long; null for none
     * @param preparation decides which statements may be prepared on the server; null for none
     * @param kept statements that stay open as long as the connection, by their text; null for none if the driver keeps
     * them
     */
    Session(
            SqlConnection connection,
            @Nullable Watchdog watchdog,
            @Nullable Preparation preparation,
            @Nullable Map<String, PreparedStatement> kept) {
        this.connection = connection;
        this.watchdog = watchdog;
        this.preparation = preparation;
        this.kept = kept;
    }

    /**
     * Uses a connection without a limit of time.
     *
     * @param connection the connection, which the caller closes
     */
    public Session(SqlConnection connection) {
        this(connection, null, null, null);
    }

    SqlConnection connection() {
        return connection;
    }

    @Nullable
    Watchdog watchdog() {
        return watchdog;
    }

    /**
     * Converts a row to a value.
     *
     * @param <T> the value's type
     */
    @FunctionalInterface
    public interface Mapper<T> {

        /**
         * Converts a row.
         *
         * @param row the row
         * @return the value
         */
        T map(ResultSet row) throws SQLException;
    }

    /** Runs a statement. */
    @FunctionalInterface
    private interface Run<S extends Statement, T extends @Nullable Object> {
        T on(S statement) throws SQLException;
    }

    /**
     * Runs a query.
     *
     * @param <T> the values' type
     * @param sql the text
     * @param mapper converts a row
     * @param parameters the values of the parameters
     * @return the converted rows, which may be changed
     */
    public <T> List<T> list(String sql, Mapper<T> mapper, @Nullable Object... parameters) throws SQLException {
        return use(sql, false, statement -> {
            bind(statement, parameters);
            List<T> found = new ArrayList<>();
            try (ResultSet rows = watched(statement, PreparedStatement::executeQuery, parameters)) {
                while (rows.next()) {
                    found.add(map(mapper, rows));
                }
            }
            return found;
        });
    }

    /**
     * Runs a query and passes its converted rows on one by one, so that they are not in the heap together. On PostgreSQL,
     * a transaction is needed for this.
     *
     * @param <T> the values' type
     * @param sql the text
     * @param atOnce the number of rows that are read from PostgreSQL in one round trip
     * @param mapper converts a row
     * @param consumer receives the values
     * @param parameters the values of the parameters
     */
    public <T> void each(String sql, int atOnce, Mapper<T> mapper, Consumer<T> consumer, @Nullable Object... parameters)
            throws SQLException {
        use(sql, false, statement -> {
            bind(statement, parameters);
            statement.setFetchSize(atOnce);
            Run<PreparedStatement, Boolean> read = query -> {
                try (ResultSet rows = query.executeQuery()) {
                    while (rows.next()) {
                        consumer.accept(map(mapper, rows));
                    }
                }
                return true;
            };
            return watched(statement, read, parameters);
        });
    }

    /**
     * Runs a query and reads its first row.
     *
     * @param <T> the value's type
     * @param sql the text
     * @param mapper converts a row
     * @param parameters the values of the parameters
     * @return the converted row, or null if there is none
     */
    public <T> @Nullable T first(String sql, Mapper<T> mapper, @Nullable Object... parameters) throws SQLException {
        return this.<@Nullable T>use(sql, false, statement -> {
            bind(statement, parameters);
            try (ResultSet rows = watched(statement, PreparedStatement::executeQuery, parameters)) {
                return rows.next() ? map(mapper, rows) : null;
            }
        });
    }

    /**
     * Runs a query with named parameters.
     *
     * @param <T> the values' type
     * @param sql the query
     * @param mapper converts a row
     * @param values the values in the order of the names
     * @return the converted rows, which may be changed
     */
    public <T> List<T> list(NamedSql sql, Mapper<T> mapper, @Nullable Object... values) throws SQLException {
        return list(sql.text(), mapper, sql.bind(values));
    }

    /**
     * Runs a query with named parameters and reads its first row.
     *
     * @param <T> the value's type
     * @param sql the query
     * @param mapper converts a row
     * @param values the values in the order of the names
     * @return the converted row, or null if there is none
     */
    public <T> @Nullable T first(NamedSql sql, Mapper<T> mapper, @Nullable Object... values) throws SQLException {
        return first(sql.text(), mapper, sql.bind(values));
    }

    /**
     * Runs several statements in one round trip, which begin and end a transaction.
     *
     * @param <T> the value's type
     * @param sql the statements
     * @param mapper converts a row
     * @param values the values in the order of the names
     * @return the one row of them, or null if there is none
     */
    public <T> @Nullable T firstOfSeveral(NamedSql sql, Mapper<T> mapper, @Nullable Object... values)
            throws SQLException {
        @Nullable Object[] parameters = sql.bind(values);
        try {
            return this.<@Nullable T>use(sql.text(), false, statement -> {
                bind(statement, parameters);
                T found = null;
                boolean hasRows = watched(statement, PreparedStatement::execute, parameters);
                while (hasRows || statement.getUpdateCount() >= 0) {
                    if (hasRows) {
                        try (ResultSet rows = statement.getResultSet()) {
                            found = rows.next() ? map(mapper, rows) : found;
                        }
                    }
                    hasRows = statement.getMoreResults();
                }
                return found;
            });
        } catch (SQLException e) {
            AfterFailure.run(e, () -> connection.execute("ROLLBACK"));
            throw e;
        }
    }

    /**
     * Runs a statement that changes rows.
     *
     * @param sql the text
     * @param parameters the values of the parameters
     * @return the number of rows
     */
    public int update(String sql, @Nullable Object... parameters) throws SQLException {
        return use(sql, true, statement -> {
            bind(statement, parameters);
            return watched(statement, PreparedStatement::executeUpdate, parameters);
        });
    }

    /**
     * Runs a statement with named parameters that changes rows.
     *
     * @param sql the statement
     * @param values the values in the order of the names
     * @return the number of rows
     */
    public int update(NamedSql sql, @Nullable Object... values) throws SQLException {
        return update(sql.text(), sql.bind(values));
    }

    /**
     * Runs a statement once for each row of parameters.
     *
     * @param sql the text
     * @param rows the values of the parameters
     */
    public void updateAll(String sql, List<Object[]> rows) throws SQLException {
        use(sql, true, statement -> {
            for (int first = 0; first < rows.size(); first += BATCH) {
                for (Object[] row : rows.subList(first, Math.min(rows.size(), first + BATCH))) {
                    bind(statement, row);
                    statement.addBatch();
                }
                watched(statement, PreparedStatement::executeBatch);
            }
            return rows;
        });
    }

    /**
     * Returns whether a table is there.
     *
     * @param table its name
     * @return whether it is
     */
    public boolean hasTable(String table) throws SQLException {
        return first(connection.isPostgres() ? IS_IN_POSTGRESQL : IS_IN_SQLITE, row -> true, table) != null;
    }

    /**
     * Waits for PostgreSQL's advisory lock, which is held until the transaction ends.
     *
     * @param key the lock's key
     */
    public void lock(long key) throws SQLException {
        first("SELECT pg_advisory_xact_lock(?)", row -> true, key);
    }

    /** Runs several statements without parameters. */
    void script(String text) throws SQLException {
        try (Statement statement = connection.create()) {
            // SQLite's driver runs only the first one by execute().
            watched(statement, connection.isPostgres() ? each -> each.execute(text) : each -> each.executeUpdate(text));
        }
    }

    /** Values are checked before they are written, so a row with values that records refuse is damaged. */
    private static <T> T map(Mapper<T> mapper, ResultSet row) throws SQLException {
        try {
            return mapper.map(row);
        } catch (InvalidInputException e) {
            throw new DamagedException("a row has an invalid value (" + e.getMessage() + ")", e);
        }
    }

    private <S extends Statement, T extends @Nullable Object> T watched(
            S statement, Run<S, T> run, @Nullable Object... parameters) throws SQLException {
        Watchdog.Watch watch = watchdog == null ? null : watchdog.watch(statement);
        try {
            return run.on(statement);
        } catch (SQLException e) {
            throw TooLargeException.of(e, parameters);
        } finally {
            if (watch != null) {
                watch.end();
            }
        }
    }

    /**
     * Runs a statement, and removes it from the kept ones meanwhile. It is kept again only if it succeeded: SQLite's
     * driver finalizes a statement that fails. Values of writes are cleared. Values of a query are kept: they are
     * short, and SQLite plans a query again after its values were cleared, which takes longer than running it.
     */
    private <T extends @Nullable Object> T use(String sql, boolean writes, Run<PreparedStatement, T> run)
            throws SQLException {
        PreparedStatement known = kept == null ? null : kept.remove(sql);
        PreparedStatement statement = known == null ? create(sql) : known;
        PreparedStatement unused = statement;
        try {
            T result = run.on(statement);
            if (kept != null) {
                if (writes) {
                    statement.clearParameters();
                }
                // Another statement, if the same text was run meanwhile for a row of this one.
                unused = kept.put(sql, statement);
            }
            return result;
        } finally {
            if (unused != null) {
                unused.close();
            }
        }
    }

    private static void bind(PreparedStatement statement, @Nullable Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i] instanceof NamedSql.Null typed) {
                statement.setNull(i + 1, typed.type());
            } else {
                statement.setObject(i + 1, parameters[i]);
            }
        }
    }

    private PreparedStatement create(String sql) throws SQLException {
        return preparation == null ? connection.prepare(sql) : preparation.create(connection, sql);
    }
}
