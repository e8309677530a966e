package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.Uninterrupted;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteErrorCode;

/**
 * Provides access to a SQLite file. SQLite allows one writer at a time. Threads of this process take turns on a connection, in
 * order, because waiting here is cheap. Between processes, the file's lock and the busy timeout decide.
 */
final class SqliteConnections implements Connections {

    static final Duration BUSY_TIMEOUT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(SqliteConnections.class);

    /**
     * The write lock is taken at the start. A transaction that begins as a reader and then writes would fail at once with BUSY,
     * whatever the timeout, if another process wrote in the meantime.
     */
    private static final String WRITE = "BEGIN IMMEDIATE";

    /** All statements of a transaction see the same state. */
    private static final String READ = "BEGIN DEFERRED";

    private final SqliteFile file;
    private final SqlSchema schema;
    private final Duration busyTimeout;
    private final SqliteCheckpoints checkpoints;
    private final SqliteChannel writer;
    private final SqliteChannel reader;
    private volatile boolean closed;

    SqliteConnections(Path path, SqliteMode mode, SqlSchema schema, Duration busyTimeout) {
        this.file = new SqliteFile(path);
        this.schema = schema;
        this.busyTimeout = busyTimeout;
        this.checkpoints = new SqliteCheckpoints(file);
        this.writer = new SqliteChannel(file, mode, schema, busyTimeout, checkpoints::request);
        this.reader = mode.hasReader() ? new SqliteChannel(file, mode, schema, busyTimeout, () -> {}) : writer;
    }

    @Override
    public <T> T write(Object what, Work<T> work) {
        // A file that another process locks keeps each thread waiting, and those behind it would wait for all of them.
        if (!Uninterrupted.lock(writer.lock, System.nanoTime() + busyTimeout.toNanos() / 2)) {
            throw new StorageUnavailableException(
                    what + " on " + file + ": the file cannot be used at the moment: other threads use it. Retry");
        }
        try {
            return open(what, () -> writer.run(what, WRITE, work), writer);
        } finally {
            writer.lock.unlock();
        }
    }

    @Override
    public <T> T erase(Object what, Work<T> work) {
        T result = write(what, work);
        checkpoints.request();
        return result;
    }

    /**
     * Creates a new file if this one is damaged. Rows can be removed without reading each page, so the rest is checked.
     */
    @Override
    public <T> T clear(Object what, Work<T> work) {
        try {
            return erase(what, session -> {
                T result = work.on(session);
                if (!"ok".equals(session.first("PRAGMA quick_check(1)", row -> row.getString(1)))) {
                    throw new SQLException("free pages are damaged", null, SQLiteErrorCode.SQLITE_CORRUPT.code);
                }
                return result;
            });
        } catch (UnreadableDataException e) {
            moveAside(what, e);
            return write(what, work);
        }
    }

    private void moveAside(Object what, UnreadableDataException damage) {
        locked(
                what,
                () -> {
                    writer.disconnect();
                    reader.disconnect();
                    try {
                        if (file.hasOthersThan(schema)) {
                            throw new UnreadableDataException(
                                    what + " on " + file + ": the file is damaged and contains more than the "
                                            + schema.what() + ". Nothing was changed. Use a separate file for "
                                            + "the " + schema.what() + "; it is created",
                                    damage);
                        }
                        LOG.warn("The damaged {} is now {}; delete it when it is not needed", file, file.moveAside());
                        return true;
                    } catch (IOException e) {
                        throw new StorageUnavailableException(
                                what + " on " + file + ": the damaged file cannot be renamed at the moment. Check "
                                        + "the directory's permissions, and retry",
                                e);
                    }
                },
                writer,
                reader);
    }

    @Override
    public <T> T single(Object what, Work<T> work) {
        return open(what, () -> reader.run(what, READ, work), reader);
    }

    @Override
    public <T> T snapshot(Object what, Work<T> work) {
        return single(what, work);
    }

    @Override
    public void compact(List<String> tables) {
        String what = "compact of the " + schema.what();
        open(
                what,
                () -> {
                    // A reader would prevent the truncation of the write-ahead log.
                    reader.disconnect();
                    try (Statement statement = writer.open(what).create()) {
                        statement.execute("VACUUM");
                        long deadline = System.nanoTime() + busyTimeout.toNanos();
                        // SQLite waits for readers, but not for another checkpoint: the one after an erasure may run.
                        while (!SqliteCheckpoints.isEmptied(statement)) {
                            if (System.nanoTime() > deadline) {
                                throw new StorageUnavailableException(
                                        what + " in " + file + ": another process reads it. Close it there, and retry");
                            }
                            LockSupport.parkNanos(1_000_000);
                        }
                    }
                    return true;
                },
                writer,
                reader);
    }

    @Override
    public String toString() {
        return file.toString();
    }

    @Override
    public void close() {
        closed = true;
        checkpoints.close();
        for (SqliteChannel channel : List.of(reader, writer)) {
            locked(
                    "close",
                    () -> {
                        channel.disconnect();
                        return true;
                    },
                    channel);
        }
    }

    private <T> T open(Object what, SqlConnection.Work<T> step, SqliteChannel... channels) {
        return locked(
                what,
                () -> {
                    if (closed) {
                        throw new StorageClosedException(what + " on " + file);
                    }
                    return step.run();
                },
                channels);
    }

    private <T> T locked(Object what, SqlConnection.Work<T> step, SqliteChannel... channels) {
        for (SqliteChannel channel : channels) {
            channel.lock.lock();
        }
        try {
            return step.run();
        } catch (SQLException e) {
            throw SqliteErrors.translate(what, e, file, schema);
        } catch (DamagedException e) {
            throw e.during(what, schema);
        } finally {
            for (SqliteChannel channel : channels) {
                channel.lock.unlock();
            }
        }
    }
}
