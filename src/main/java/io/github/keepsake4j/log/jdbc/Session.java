package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.sql.SqlConnection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A connection in use. It runs one statement after the other, each with its parameters in order.
 *
 * @param connection the connection
 * @param dialect the differences of the database behind the connection
 * @param watchdog cancels statements that run for too long; null for none
 * @param preparation says what may be prepared on the server; null for nothing
 * @param kept statements that stay open as long as the connection, by their text; null for none, as the driver keeps them
 */
record Session(
        SqlConnection connection,
        Dialect dialect,
        @Nullable Watchdog watchdog,
        @Nullable Preparation preparation,
        @Nullable Map<String, PreparedStatement> kept) {

    Session(SqlConnection connection, Dialect dialect) {
        this(connection, dialect, null, null, null);
    }

    /**
     * A statement in use, which is not among the kept ones meanwhile. It is kept again only if it succeeded: SQLite's driver
     * finalizes a statement that fails. What was written is not kept with it. The values of a query are: they are short, and
     * SQLite plans a query anew after its values were cleared, which takes longer than to run it.
     */
    private static final class Use implements AutoCloseable {

        private final String sql;
        private final PreparedStatement statement;
        private final @Nullable Object[] parameters;
        private final @Nullable Map<String, PreparedStatement> kept;
        private boolean succeeded;
        private boolean wrote;

        Use(
                String sql,
                PreparedStatement statement,
                @Nullable Object[] parameters,
                @Nullable Map<String, PreparedStatement> kept) {
            this.sql = sql;
            this.statement = statement;
            this.parameters = parameters;
            this.kept = kept;
        }

        PreparedStatement statement() {
            return statement;
        }

        void succeeded() {
            succeeded = true;
        }

        void wrote() {
            succeeded = true;
            wrote = true;
        }

        @Override
        public void close() throws SQLException {
            PreparedStatement unused = statement;
            if (succeeded && kept != null) {
                if (wrote) {
                    statement.clearParameters();
                }
                // Another one if the same text was run meanwhile, for a row of this one.
                unused = kept.put(sql, statement);
            }
            if (unused != null) {
                unused.close();
            }
        }
    }

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
        try (Use use = use(sql, parameters);
                ResultSet rows = watched(use, PreparedStatement::executeQuery)) {
            List<T> found = new ArrayList<>();
            while (rows.next()) {
                found.add(map(mapper, rows));
            }
            use.succeeded();
            return found;
        }
    }

    <T> @Nullable T first(String sql, Mapper<T> mapper, @Nullable Object... parameters) throws SQLException {
        try (Use use = use(sql, parameters);
                ResultSet rows = watched(use, PreparedStatement::executeQuery)) {
            T found = rows.next() ? map(mapper, rows) : null;
            use.succeeded();
            return found;
        }
    }

    /** Runs a statement with named parameters, whose values are given in the order of the names. */
    <T> List<T> list(NamedSql sql, Mapper<T> mapper, @Nullable Object... values) throws SQLException {
        return list(sql.text(), mapper, sql.bind(values));
    }

    <T> @Nullable T first(NamedSql sql, Mapper<T> mapper, @Nullable Object... values) throws SQLException {
        return first(sql.text(), mapper, sql.bind(values));
    }

    /** Runs several statements in one round trip, which begin and end a transaction, and returns the one row of them. */
    <T> @Nullable T firstOfSeveral(NamedSql sql, Mapper<T> mapper, @Nullable Object... values) throws SQLException {
        try (Use use = use(sql.text(), sql.bind(values))) {
            PreparedStatement statement = use.statement();
            T found = null;
            boolean hasRows = watched(use, PreparedStatement::execute);
            while (hasRows || statement.getUpdateCount() >= 0) {
                if (hasRows) {
                    try (ResultSet rows = statement.getResultSet()) {
                        found = rows.next() ? map(mapper, rows) : found;
                    }
                }
                hasRows = statement.getMoreResults();
            }
            use.succeeded();
            return found;
        } catch (SQLException e) {
            try {
                connection.execute("ROLLBACK");
            } catch (SQLException unreachable) {
                e.addSuppressed(unreachable);
            }
            throw e;
        }
    }

    int update(NamedSql sql, @Nullable Object... values) throws SQLException {
        return update(sql.text(), sql.bind(values));
    }

    int update(String sql, @Nullable Object... parameters) throws SQLException {
        try (Use use = use(sql, parameters)) {
            int changed = watched(use, PreparedStatement::executeUpdate);
            use.wrote();
            return changed;
        }
    }

    /** What records refuse was checked before it was written, so a row that holds it is damaged. */
    private static <T> T map(Mapper<T> mapper, ResultSet row) throws SQLException {
        try {
            return mapper.map(row);
        } catch (InvalidInputException e) {
            throw new DamagedException("a row holds what no row may hold (" + e.getMessage() + ")", e);
        }
    }

    private <T> T watched(Use use, Run<T> run) throws SQLException {
        Watchdog.Watch watch = watchdog == null ? null : watchdog.watch(use.statement());
        try {
            return run.on(use.statement());
        } catch (SQLException e) {
            throw TooLargeException.of(e, use.parameters);
        } finally {
            if (watch != null) {
                watch.end();
            }
        }
    }

    private Use use(String sql, @Nullable Object... parameters) throws SQLException {
        PreparedStatement known = kept == null ? null : kept.remove(sql);
        Use use = new Use(sql, known == null ? create(sql) : known, parameters, kept);
        try {
            for (int i = 0; i < parameters.length; i++) {
                use.statement().setObject(i + 1, parameters[i]);
            }
            return use;
        } catch (SQLException | RuntimeException e) {
            use.close();
            throw e;
        }
    }

    private PreparedStatement create(String sql) throws SQLException {
        return preparation == null ? connection.prepare(sql) : preparation.create(connection, sql);
    }
}
