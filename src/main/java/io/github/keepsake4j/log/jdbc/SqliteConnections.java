package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqliteCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
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
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;

/**
 * Provides access to a SQLite file through one connection. SQLite allows one writer at a time. Threads of this process
 * take turns here, in order, because waiting here is cheap. Between processes, the file's lock and the busy timeout
 * decide.
 */
final class SqliteConnections extends Connections {

    private final Path file;
    private final Duration busyTimeout;
    private final SqliteCheckpoints checkpoints;
    private final Dialect dialect = new SqliteDialect();
    private final ReentrantLock lock = new ReentrantLock(true);
    private @Nullable SqlConnection connection;

    /** To compile a statement takes longer than to run most of them. They are closed with the connection. */
    private final Map<String, PreparedStatement> statements = new HashMap<>();

    /** Identifies the file that is open; null where the system has no such identity, and does not let it be removed. */
    private @Nullable Object opened;

    private volatile boolean closed;

    SqliteConnections(Path file, Duration busyTimeout) {
        this.file = file;
        this.busyTimeout = busyTimeout;
        this.checkpoints = new SqliteCheckpoints(file);
    }

    /**
     * Runs work that writes. The write lock is taken at the start. A transaction that begins as a reader and then
     * writes would fail at once with BUSY, whatever the timeout, if another process wrote in the meantime.
     */
    @Override
    Dialect dialect() {
        return dialect;
    }

    @Override
    <T> T write(Object what, Work<T> work) {
        return inTransaction("BEGIN IMMEDIATE", what, work);
    }

    @Override
    <T> T erase(Object what, Work<T> work) {
        T result = write(what, work);
        checkpoints.request();
        return result;
    }

    /** Runs reads in one transaction, so that all their statements see the same state. Only {@link #write} writes. */
    @Override
    <T> T single(Object what, Work<T> work) {
        return inTransaction("BEGIN DEFERRED", what, work);
    }

    @Override
    public void close() {
        closed = true;
        checkpoints.close();
        disconnect();
    }

    /** Closes the file. The next call opens it again. */
    void disconnect() {
        lock.lock();
        try {
            disconnect(null);
        } finally {
            lock.unlock();
        }
    }

    private <T> T inTransaction(String begin, Object what, Work<T> work) {
        lock.lock();
        try {
            if (closed) {
                throw new StorageClosedException(what + " on SQLite file " + file);
            }
            return retriedOnce(what, begin, work);
        } catch (SQLException e) {
            throw SqliteErrors.translate(String.valueOf(what), file, e);
        } catch (DamagedException e) {
            throw e.during(String.valueOf(what));
        } finally {
            lock.unlock();
        }
    }

    /**
     * A connection to a file that was read-only stays so, even if the file is writable by now. Where a table is missing, another
     * version of the library may have changed them all, which is found when the file is opened.
     */
    private <T> T retriedOnce(Object what, String begin, Work<T> work) throws SQLException {
        boolean isNew = connection == null;
        try {
            return commit(open(what), begin, work);
        } catch (SQLException e) {
            if (!SqliteErrors.isReadOnly(e) && !SqliteErrors.mayHaveOtherTables(e)) {
                throw e;
            }
            disconnect(e);
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
                T result = work.on(new Session(open, dialect, null, null, statements));
                statement.execute("COMMIT");
                return result;
            } catch (SQLException | RuntimeException | Error e) {
                rollback(statement, e);
                throw e;
            }
        }
    }

    /** A transaction that cannot be rolled back must not affect the next caller, so the connection is closed. */
    private void rollback(Statement statement, Throwable reason) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            reason.addSuppressed(e);
            disconnect(reason);
        }
    }

    /**
     * Returns the connection to the file that has the name now. What is written to a file that was removed is lost when it is
     * closed.
     */
    private SqlConnection open(Object what) throws SQLException {
        if (connection != null) {
            Object now = opened == null ? null : identity();
            if (Objects.equals(opened, now)) {
                return connection;
            }
            if (now == null) {
                throw new StorageUnavailableException(
                        what + " on SQLite file " + file
                                + ": the file was removed while it was in use; put it back, or open a new log to begin anew",
                        null);
            }
            // Another file has taken its place.
            disconnect(null);
        }
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new InvalidInputException("file", "the directory " + directory + " does not exist");
        }
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(Math.toIntExact(busyTimeout.toMillis()));
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        // Otherwise each insert asks for the last one's rowid, which no table of ours tells.
        config.setGetGeneratedKeys(false);
        // Erased data is overwritten and does not remain in free pages.
        config.setPragma(SQLiteConfig.Pragma.SECURE_DELETE, "true");
        // SQLite gives the files beside it the same rights.
        SmallFiles.create(file);
        boolean hasPages = checkpoints.hasPages();
        SqlConnection begun = SqlConnection.of(config.createConnection("jdbc:sqlite:" + file.toAbsolutePath()));
        try {
            switchToWal(new Session(begun, dialect));
            commit(begun, "BEGIN IMMEDIATE", session -> {
                try (Statement statement = session.connection().create()) {
                    Schema.SQLITE.check(Schema.SQLITE.complete(statement), "the file takes no scripts");
                }
                return true;
            });
        } catch (SQLException | RuntimeException e) {
            statements.clear();
            begun.close();
            throw e;
        }
        connection = begun;
        opened = identity();
        if (hasPages) {
            // Perhaps those of an erasure whose process ended.
            checkpoints.request();
        }
        return begun;
    }

    private @Nullable Object identity() {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Switches the file to WAL mode, which is then stored in the file. If two processes switch a new file at the same
     * moment, SQLite fails at once with BUSY, whatever the timeout. Therefore this method waits for the timeout itself.
     */
    private void switchToWal(Session session) throws SQLException {
        long deadline = System.nanoTime() + busyTimeout.toNanos();
        while (true) {
            try {
                if (!"wal".equalsIgnoreCase(session.first("PRAGMA journal_mode", row -> row.getString(1)))) {
                    session.first("PRAGMA journal_mode = WAL", row -> row.getString(1));
                }
                return;
            } catch (SQLException e) {
                if ((e.getErrorCode() & 0xFF) != SQLiteErrorCode.SQLITE_BUSY.code || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private void disconnect(@Nullable Throwable reason) {
        SqlConnection open = connection;
        connection = null;
        statements.clear();
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (SQLException e) {
            if (reason == null) {
                throw SqliteErrors.translate("close", file, e);
            }
            reason.addSuppressed(e);
        }
    }
}
