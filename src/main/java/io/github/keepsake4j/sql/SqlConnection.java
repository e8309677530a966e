package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.AfterFailure;
import io.github.keepsake4j.message.KeepsakeException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A connection while it is in use. Only this class creates statements, so that only {@link #prepareOnServer} prepares
 * one on a PostgreSQL server. The driver names prepared statements S_1, S_2 and so on. Behind a transaction pooler that
 * does not track these names, a name may be that of another client's statement in the session that a call got. The
 * server then runs the other statement with this call's values. A commit that the driver prepared could be another
 * client's rollback too, so transactions end by statements that were never prepared.
 */
public final class SqlConnection implements AutoCloseable {

    private static final String POSTGRESQL = "PostgreSQL";

    private final Connection connection;
    private final boolean isPostgres;
    private final boolean autoCommit;
    private final @Nullable DriverPreparation driver;

    private SqlConnection(Connection connection, boolean isPostgres) throws SQLException {
        try {
            this.connection = connection;
            this.isPostgres = isPostgres;
            this.autoCommit = connection.getAutoCommit();
            this.driver = isPostgres ? DriverPreparation.stop(connection) : null;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Takes a connection to any database.
     *
     * @param connection the connection, which is closed with this object
     * @return the connection in use
     */
    public static SqlConnection of(Connection connection) throws SQLException {
        return new SqlConnection(
                connection, POSTGRESQL.equals(connection.getMetaData().getDatabaseProductName()));
    }

    /**
     * Takes a connection to any database for reads. On PostgreSQL, each statement is a separate transaction, so no pool
     * ends it by a statement that the driver prepared. If the caller's transaction is open on the connection, the
     * transaction continues.
     *
     * @param dataSource the data source
     * @return the connection in use
     */
    public static SqlConnection reader(DataSource dataSource) throws SQLException {
        SqlConnection taken = of(dataSource.getConnection());
        try {
            if (taken.driver != null && !taken.driver.isInTransaction()) {
                taken.setAutoCommit(true);
            }
            return taken;
        } catch (SQLException | RuntimeException e) {
            taken.close();
            throw e;
        }
    }

    /**
     * Takes a connection to PostgreSQL. Unlike {@link #of} this requires PostgreSQL's driver.
     *
     * @param connection the connection, which is closed with this object
     * @return the connection in use
     */
    public static SqlConnection postgres(Connection connection) throws SQLException {
        return new SqlConnection(connection, true);
    }

    /**
     * Checks that nothing is prepared on the server.
     *
     * @param setting the setting that requires this
     */
    void requireUnprepared(String setting) {
        if (driver == null) {
            throw new KeepsakeException(
                    setting + " requires connections that unwrap to org.postgresql.PGConnection; these are "
                            + connection.getClass().getName());
        }
    }

    boolean isPostgres() {
        return isPostgres;
    }

    /**
     * Returns whether the data source lets the driver prepare on the server.
     *
     * @return whether it does
     */
    boolean preparesOnServer() {
        return driver != null && driver.prepares();
    }

    /**
     * Creates a statement with parameters that is not prepared on the server.
     *
     * @param sql the text
     * @return the statement
     */
    public PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /**
     * Creates a statement with parameters that the driver prepares on the server according to the data source's
     * settings. The caller ensures that the server refuses its values for each other statement that is prepared.
     *
     * @param sql the text
     * @return the statement
     */
    PreparedStatement prepareOnServer(String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        if (driver != null) {
            driver.allow(statement);
        }
        return statement;
    }

    /**
     * Returns the places, from 1, of the parameters that have PostgreSQL's type {@code uuid}, which cannot be compared
     * with a text. The server is asked, since other schemas may have tables of the same name.
     *
     * @param sql the text
     * @return the places
     */
    Set<Integer> uuidParameters(String sql) throws SQLException {
        Set<Integer> places = new HashSet<>();
        if (isPostgres) {
            try (PreparedStatement statement = prepare(sql)) {
                ParameterMetaData parameters = statement.getParameterMetaData();
                for (int place = 1; place <= parameters.getParameterCount(); place++) {
                    if ("uuid".equals(parameters.getParameterTypeName(place))) {
                        places.add(place);
                    }
                }
            }
        }
        return places;
    }

    /**
     * Creates a statement without parameters.
     *
     * @return the statement
     */
    public Statement create() throws SQLException {
        return connection.createStatement();
    }

    /**
     * Runs a statement without parameters and results.
     *
     * @param sql the text
     */
    public void execute(String sql) throws SQLException {
        try (Statement statement = create()) {
            statement.execute(sql);
        }
    }

    /**
     * Returns the driver's metadata of the database.
     *
     * @return the metadata
     */
    DatabaseMetaData metaData() throws SQLException {
        return connection.getMetaData();
    }

    /**
     * Returns whether each statement is a transaction of its own.
     *
     * @return whether it is so
     */
    boolean isAutoCommit() throws SQLException {
        return connection.getAutoCommit();
    }

    /**
     * Sets whether each statement is a transaction of its own.
     *
     * @param wanted whether it is to be so
     */
    public void setAutoCommit(boolean wanted) throws SQLException {
        if (connection.getAutoCommit() != wanted) {
            connection.setAutoCommit(wanted);
        }
    }

    /**
     * Commits by a statement that was never prepared, and then by the driver, which sends nothing more: pools check the
     * driver's state.
     */
    public void commit() throws SQLException {
        execute("COMMIT");
        connection.commit();
    }

    /** Rolls back in the way of {@link #commit}. */
    public void rollback() throws SQLException {
        execute("ROLLBACK");
        connection.rollback();
    }

    /**
     * Runs work and commits it, or rolls it back if it fails. The connection must not be in auto-commit mode.
     *
     * @param <T> the type of the result
     * @param work the work
     * @return the result of the work
     */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        try {
            T result = work.run();
            commit();
            return result;
        } catch (SQLException | RuntimeException | Error e) {
            AfterFailure.run(e, this::rollback);
            throw e;
        }
    }

    /**
     * Runs work that may wait longer for the server than the connection usually does. Never shortens the usual time.
     *
     * @param longest the longest time
     * @param work the work
     * @return the result of the work
     */
    <T> T waiting(Duration longest, Work<T> work) throws SQLException {
        int usual = connection.getNetworkTimeout();
        int millis = Math.toIntExact(longest.toMillis());
        if (usual == 0 || usual >= millis) {
            return work.run();
        }
        connection.setNetworkTimeout(Runnable::run, millis);
        try {
            T result = work.run();
            connection.setNetworkTimeout(Runnable::run, usual);
            return result;
        } catch (SQLException | RuntimeException | Error e) {
            AfterFailure.run(e, () -> connection.setNetworkTimeout(Runnable::run, usual));
            throw e;
        }
    }

    /**
     * Work on the connection.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    public interface Work<T> {

        /**
         * Does the work.
         *
         * @return its result
         */
        T run() throws SQLException;
    }

    /** Closes the connection, with the auto-commit mode as before, because not every pool restores this itself. */
    @Override
    public void close() throws SQLException {
        try (Connection closed = connection) {
            try {
                if (!closed.isClosed()) {
                    setAutoCommit(autoCommit);
                }
            } finally {
                if (driver != null) {
                    driver.restore();
                }
            }
        }
    }
}
