package io.github.keepsake4j.sql;

import java.nio.file.Files;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteOpenMode;

/**
 * Empties the write-ahead log of a SQLite file after an erasure. SQLite copies its pages into the file at times, but keeps them
 * in the log until they are overwritten or the file is closed everywhere.
 *
 * <p>This is done on a thread of its own, which ends when nothing is left to do, and on a connection of its own, so that no call
 * waits for it. What other connections read is in the way, so it is tried again, for about an hour. Erasures that follow one
 * another closely share a checkpoint. Thread-safe.
 */
final class SqliteCheckpoints implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteCheckpoints.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 60_000;
    private static final int TRIES = 70;

    private final SqliteFile file;
    private @Nullable Thread thread;
    private boolean isDue;
    private boolean closed;

    /** Makes checkpoints of a file. Nothing is opened before the first one. */
    SqliteCheckpoints(SqliteFile file) {
        this.file = file;
    }

    /** Has the write-ahead log emptied soon. Called after the transaction that erased. */
    synchronized void request() {
        isDue = !closed;
        if (isDue && (thread == null || !thread.isAlive())) {
            thread = new Thread(this::run, "keepsake-sqlite-checkpoints");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Waits for the checkpoint that is due. It is tried once more. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            notifyAll();
            running = thread;
        }
        boolean interrupted = false;
        while (running != null && running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        long pause = FIRST_PAUSE_MILLIS;
        int tries = 0;
        while (isDueAfter(pause)) {
            String reason = reasonNotEmptied();
            if (reason == null) {
                pause = FIRST_PAUSE_MILLIS;
                tries = 0;
            } else if (++tries < TRIES) {
                pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
                repeat();
            } else {
                LOG.warn(
                        "Erased text may be left in {}-wal until the next erasure, or until all processes close the file: {}",
                        file.path(),
                        reason);
                tries = 0;
            }
        }
    }

    /** Waits, and takes the request if there is one. Else the thread ends. */
    private synchronized boolean isDueAfter(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; isDue && !closed && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            try {
                wait(left);
            } catch (InterruptedException e) {
                // No one has this thread but this class. It ends by close().
                LOG.debug("An interrupt is ignored", e);
            }
        }
        boolean due = isDue;
        isDue = false;
        if (!due) {
            thread = null;
        }
        return due;
    }

    private synchronized void repeat() {
        isDue = !closed;
    }

    /** Empties the log, or returns why that is not possible at the moment. Waits for no other connection. */
    private @Nullable String reasonNotEmptied() {
        if (!Files.exists(file.path())) {
            return null;
        }
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(0);
        config.resetOpenMode(SQLiteOpenMode.CREATE);
        try (SqlConnection connection = file.open(config);
                Statement statement = connection.create()) {
            // Most pages are copied while others write, so that they wait for the few that are left only.
            statement.execute("PRAGMA wal_checkpoint(PASSIVE)");
            try (ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(TRUNCATE)")) {
                return row.next() && row.getInt(1) != 0 ? "another connection uses it" : null;
            }
        } catch (SQLException e) {
            return e.getMessage();
        }
    }
}
