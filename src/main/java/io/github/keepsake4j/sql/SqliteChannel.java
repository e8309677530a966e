package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.AfterFailure;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.Connections.Work;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;

/** One connection to a SQLite file, and the turn to use it. */
final class SqliteChannel {

    private static final String OTHER =
            "SELECT max(name) FROM sqlite_master WHERE name NOT LIKE 'keepsake%' AND name NOT LIKE 'sqlite%'";
    private static final Logger LOG = LoggerFactory.getLogger(SqliteChannel.class);

    /** The turn of the threads of this process, in order. */
    final ReentrantLock lock = new ReentrantLock(true);

    private final SqliteFile file;
    private final SqliteMode mode;
    private final SchemaScripts scripts;
    private final Duration busyTimeout;
    private final Runnable whenLeft;

    /**
     * The compiled statements. Compiling one takes longer than running most of them. They are closed with the
     * connection.
     */
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    private @Nullable SqlConnection connection;

    /**
     * Identifies the file that is open; null if the system has no such identity; then an open file cannot be removed.
     */
    private @Nullable Object opened;

    /**
     * Creates the object without opening the file.
     *
     * @param whenLeft called if the write-ahead log has pages when the file is opened, possibly from an erasure whose
     * process ended
     */
    SqliteChannel(SqliteFile file, SqliteMode mode, SqlSchema schema, Duration busyTimeout, Runnable whenLeft) {
        this.file = file;
        this.mode = mode;
        this.scripts = new SchemaScripts(schema, true, " in " + file);
        this.busyTimeout = busyTimeout;
        this.whenLeft = whenLeft;
    }

    /** Runs work in a transaction, and once more on another connection if that may help. */
    <T> T run(Object what, String begin, Work<T> work) throws SQLException {
        boolean isNew = connection == null;
        try {
            return commit(open(what), begin, work);
        } catch (SQLException e) {
            if (!SqliteErrors.mayBeOtherwise(e)) {
                throw e;
            }
            AfterFailure.run(e, this::disconnect);
            if (isNew) {
                throw e;
            }
            return commit(open(what), begin, work);
        }
    }

    private <T> T commit(SqlConnection open, String begin, Work<T> work) throws SQLException {
        try (Statement statement = open.create()) {
            statement.execute(begin);
            try {
                T result = work.on(new Session(open, null, null, statements));
                statement.execute("COMMIT");
                return result;
            } catch (SQLException | RuntimeException | Error e) {
                try {
                    statement.execute("ROLLBACK");
                } catch (SQLException lasting) {
                    // A transaction that cannot be rolled back must not affect the next caller.
                    e.addSuppressed(lasting);
                    AfterFailure.run(e, this::disconnect);
                }
                throw e;
            }
        }
    }

    /**
     * Returns the connection to the file that has the name now. Writes to a removed file would be lost when it is
     * closed.
     */
    SqlConnection open(Object what) throws SQLException {
        if (connection != null) {
            Object now = opened == null ? null : file.identity();
            if (Objects.equals(opened, now)) {
                return connection;
            }
            if (now == null) {
                throw new StorageUnavailableException(what + " on " + file
                        + ": the file was removed while it was in use; put it back, or close and open the "
                        + scripts.schema().what() + " to start with a new file");
            }
            // Another file has taken its place.
            disconnect();
        }
        boolean hasPages = file.hasPages();
        SqlConnection begun = connect();
        try {
            complete(new Session(begun));
        } catch (SQLException | RuntimeException e) {
            begun.close();
            throw e;
        }
        connection = begun;
        opened = file.identity();
        if (hasPages) {
            whenLeft.run();
        }
        return begun;
    }

    /**
     * Opens the file. If two programs set the journal mode of a new file at the same moment, SQLite fails at once with BUSY,
     * whatever the timeout. Therefore this method waits for the timeout itself.
     */
    private SqlConnection connect() throws SQLException {
        if (mode.isMade()) {
            file.make();
        }
        SQLiteConfig config = mode.config(Math.toIntExact(busyTimeout.toMillis()));
        long deadline = System.nanoTime() + busyTimeout.toNanos();
        while (true) {
            try {
                return file.open(config);
            } catch (SQLException e) {
                if (!SqliteErrors.isBusy(e) || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Creates missing tables. Complete tables are only read, so that this does not wait for writers. */
    private void complete(Session session) throws SQLException {
        SchemaScripts.Versions versions = scripts.versions(session);
        boolean isLost = versions.version() == 0 && opened != null && opened.equals(file.identity());
        if (!scripts.isComplete(versions) && !isLost) {
            SqlSchema.Foreign foreign = scripts.schema().foreign();
            if (versions.version() == 0 && foreign != null && session.hasTable(foreign.table())) {
                throw new UnreadableDataException(file + " " + foreign.problem());
            }
            session.script("BEGIN IMMEDIATE");
            String other = session.first(OTHER, row -> row.getString(1));
            if (versions.version() == 0 && other != null) {
                LOG.warn("{} also has {} of another program; if this is a mistake, name another file", file, other);
            }
            versions = scripts.complete(session);
            session.script("COMMIT");
        }
        scripts.check(versions, "the file takes no scripts");
    }

    /** Closes the file. The next call opens it again. */
    void disconnect() throws SQLException {
        SqlConnection open = connection;
        connection = null;
        statements.clear();
        if (open != null) {
            open.close();
        }
    }
}
