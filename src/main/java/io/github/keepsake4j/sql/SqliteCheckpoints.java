package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.DaemonThreads;
import java.nio.file.Files;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empties the write-ahead log of a SQLite file after an erasure. SQLite copies its pages into the file at times, but keeps them
 * in the log until they are overwritten or the file is closed everywhere.
 *
 * <p>This is done on a thread of its own, which ends when nothing is left to do, and on a connection of its own, so that no call
 * waits for it. Readers on other connections prevent a checkpoint, so it is tried again, for about an hour. Erasures
 * that follow one another closely share a checkpoint. Thread-safe.
 */
final class SqliteCheckpoints implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteCheckpoints.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 60_000;
    private static final int TRIES = 70;

    private final SqliteFile file;
    private final AtomicBoolean isDue = new AtomicBoolean();
    private final ScheduledThreadPoolExecutor timer;

    /** Creates the checkpoints of a file. Nothing is opened before the first one. */
    SqliteCheckpoints(SqliteFile file) {
        this.file = file;
        this.timer = new ScheduledThreadPoolExecutor(
                1, DaemonThreads.named("keepsake-sqlite-checkpoints"), new ThreadPoolExecutor.DiscardPolicy());
        timer.setKeepAliveTime(1, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /** Requests a checkpoint. Called after the transaction that erased. */
    void request() {
        later(FIRST_PAUSE_MILLIS, 1);
    }

    private void later(long pause, int tries) {
        if (isDue.compareAndSet(false, true)) {
            // The result is not awaited: the task logs its failures itself.
            Future<?> unused = timer.schedule(() -> run(pause, tries), pause, TimeUnit.MILLISECONDS);
        }
    }

    private synchronized void run(long pause, int tries) {
        String reason = isDue.getAndSet(false) ? reasonNotEmptied() : null;
        if (reason != null && tries < TRIES) {
            later(Math.min(2 * pause, LONGEST_PAUSE_MILLIS), tries + 1);
        } else if (reason != null) {
            LOG.warn(
                    "Erased text may be left in {}-wal until the next erasure, or until all processes close the file: {}",
                    file.path(),
                    reason);
        }
    }

    /** Waits for the running checkpoint, and makes the due one. */
    @Override
    public synchronized void close() {
        timer.shutdownNow();
        if (isDue.getAndSet(false)) {
            reasonNotEmptied();
        }
    }

    /** Empties the log, or returns why that is not possible at the moment. Waits for no other connection. */
    private @Nullable String reasonNotEmptied() {
        if (!Files.exists(file.path())) {
            return null;
        }
        try (SqlConnection connection = file.openExisting(0);
                Statement statement = connection.create()) {
            // Most pages are copied while other connections write, so that writers wait only for the few remaining
            // pages.
            statement.execute("PRAGMA wal_checkpoint(PASSIVE)");
            return isEmptied(statement) ? null : "another connection uses it";
        } catch (SQLException e) {
            return e.getMessage();
        }
    }

    /** Empties the log, unless another connection uses it, and returns whether it is empty. */
    static boolean isEmptied(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(TRUNCATE)")) {
            return row.next() && row.getInt(1) == 0;
        }
    }
}
