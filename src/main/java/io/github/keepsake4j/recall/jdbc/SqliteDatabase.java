package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.SqlConnection;
import io.github.keepsake4j.sql.SqlSchema;
import io.github.keepsake4j.sql.SqliteCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteOpenMode;

/**
 * A SQLite file, through one connection that writes and one that reads, so that a search does not wait for the indexer.
 * Threads of this process take turns on each. Between processes, the file's lock and the busy timeout decide.
 */
final class SqliteDatabase implements Database {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteDatabase.class);

    /** How many bytes of the file are mapped, the most that SQLite can; the others are read through the cache. */
    private static final long MAPPED = 0x7fff0000L;

    private static final int BUSY_TIMEOUT_MILLIS = 10_000;
    private static final int CACHE_KIB = 32_768;
    private static final int JOURNAL_BYTES = 64_000_000;

    /**
     * After how many pages of the write-ahead log these are copied into the file. An index's commit has more pages than the usual
     * 1,000, most of them those of the commit before, and each copy waits for the disk twice.
     */
    private static final int CHECKPOINT_PAGES = 8_000;

    /**
     * How a file is used.
     *
     * @param journal how it is kept whole
     * @param synchronous what a commit waits for
     * @param isMade whether a file that is absent is made
     */
    record Mode(SQLiteConfig.JournalMode journal, SQLiteConfig.SynchronousMode synchronous, boolean isMade) {

        /** A large file that is open for long. What a power failure takes away is added again. */
        static final Mode INDEX = new Mode(SQLiteConfig.JournalMode.WAL, SQLiteConfig.SynchronousMode.NORMAL, true);

        /** A small file that is open for short, is alone, and is read by other programs. */
        static final Mode WRITING = new Mode(SQLiteConfig.JournalMode.DELETE, SQLiteConfig.SynchronousMode.FULL, true);

        static final Mode READING = new Mode(SQLiteConfig.JournalMode.DELETE, SQLiteConfig.SynchronousMode.FULL, false);
    }

    private final Path file;
    private final Mode mode;
    private final Schema schema;
    private final SqliteCheckpoints checkpoints;
    private final Channel writer = new Channel();
    private final Channel reader = new Channel();
    private volatile boolean closed;

    SqliteDatabase(Path file, Mode mode, Schema schema) {
        this.file = file;
        this.mode = mode;
        this.schema = schema;
        this.checkpoints = new SqliteCheckpoints(file);
    }

    /** A connection, its statements, and the turn to use them. */
    private static final class Channel {
        final ReentrantLock lock = new ReentrantLock(true);
        final Map<String, PreparedStatement> statements = new HashMap<>();

        @Nullable
        SqlConnection connection;

        /** Identifies the file that is open; null where the system has no such identity, and does not let it be removed. */
        @Nullable
        Object opened;

        void disconnect() throws SQLException {
            SqlConnection open = connection;
            connection = null;
            statements.clear();
            if (open != null) {
                open.close();
            }
        }
    }

    @Override
    public <T> T write(String what, Work<T> work) {
        return in(writer, "BEGIN IMMEDIATE", what, work);
    }

    @Override
    public <T> T erase(String what, Work<T> work) {
        T result = write(what, work);
        checkpoints.request();
        return result;
    }

    /** Begins a new file if this one is damaged. Rows can be removed without a look at each page, so what is left is checked. */
    @Override
    public <T> T clear(String what, Work<T> work) {
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

    /** Moves the file aside with its log of writes. Other connections to it notice with their next call. */
    private void moveAside(String what, UnreadableDataException damage) {
        writer.lock.lock();
        reader.lock.lock();
        try {
            writer.disconnect();
            reader.disconnect();
            if (schema.isBesideOthersIn(file)) {
                throw new UnreadableDataException(
                        what + " on SQLite file " + file + ": the file is damaged and holds more than the "
                                + schema.what() + ". Nothing was changed. Give the " + schema.what()
                                + " a file of its own, which is made",
                        damage);
            }
            Path aside = Path.of(file + ".damaged");
            // The file comes last: those beside a file that is not there would be taken for a new one's.
            Files.deleteIfExists(Path.of(file + "-shm"));
            Path pages = Path.of(file + "-wal");
            if (Files.exists(pages)) {
                Files.move(pages, Path.of(aside + "-wal"), StandardCopyOption.REPLACE_EXISTING);
            }
            Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
            LOG.warn("The damaged SQLite file {} is now {}; delete it when it is not needed", file, aside);
        } catch (SQLException e) {
            throw translate(what, e);
        } catch (IOException e) {
            throw new StorageUnavailableException(
                    what + " on SQLite file " + file + ": the damaged file cannot be moved aside at the moment", e);
        } finally {
            reader.lock.unlock();
            writer.lock.unlock();
        }
    }

    @Override
    public <T> T read(String what, Work<T> work) {
        return in(reader, "BEGIN DEFERRED", what, work);
    }

    @Override
    public <T> T snapshot(String what, Work<T> work) {
        return read(what, work);
    }

    @Override
    public void compact() {
        writer.lock.lock();
        reader.lock.lock();
        try {
            // A reader would keep the log of writes from being cut.
            reader.disconnect();
            SqlConnection open = open(writer);
            try (Statement statement = open.create()) {
                statement.execute("VACUUM");
                try (ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(TRUNCATE)")) {
                    if (row.next() && row.getInt(1) != 0) {
                        throw new StorageUnavailableException(
                                "compact of the " + schema.what() + " in SQLite file " + file
                                        + ": another process reads it",
                                null);
                    }
                }
            }
        } catch (SQLException e) {
            throw translate("compact", e);
        } finally {
            reader.lock.unlock();
            writer.lock.unlock();
        }
    }

    @Override
    public void close() {
        closed = true;
        checkpoints.close();
        for (Channel channel : new Channel[] {reader, writer}) {
            channel.lock.lock();
            try {
                channel.disconnect();
            } catch (SQLException e) {
                throw translate("close", e);
            } finally {
                channel.lock.unlock();
            }
        }
    }

    private <T> T in(Channel channel, String begin, String what, Work<T> work) {
        channel.lock.lock();
        try {
            if (closed) {
                throw new StorageClosedException(what + " on SQLite file " + file);
            }
            boolean isNew = channel.connection == null;
            try {
                return commit(channel, begin, work);
            } catch (SQLException e) {
                // Another version of the library may have changed the tables, which is found when the file is opened.
                if (isNew || (e.getErrorCode() & 0xFF) != SQLiteErrorCode.SQLITE_ERROR.code) {
                    throw e;
                }
                channel.disconnect();
                return commit(channel, begin, work);
            }
        } catch (SQLException e) {
            throw translate(what, e);
        } finally {
            channel.lock.unlock();
        }
    }

    private <T> T commit(Channel channel, String begin, Work<T> work) throws SQLException {
        SqlConnection open = open(channel);
        try (Statement statement = open.create()) {
            statement.execute(begin);
            try {
                T result = work.on(new Session(open, 0, channel.statements));
                statement.execute("COMMIT");
                return result;
            } catch (SQLException | RuntimeException | Error e) {
                rollback(channel, statement, e);
                throw e;
            }
        }
    }

    private static void rollback(Channel channel, Statement statement, Throwable reason) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            reason.addSuppressed(e);
            try {
                channel.disconnect();
            } catch (SQLException unclosed) {
                reason.addSuppressed(unclosed);
            }
        }
    }

    private SqlConnection open(Channel channel) throws SQLException {
        if (channel.connection != null) {
            if (Objects.equals(channel.opened, identity())) {
                return channel.connection;
            }
            // The file was removed, perhaps by a clear elsewhere. What was written to it is added again.
            channel.disconnect();
        }
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new InvalidInputException("file", "the directory " + directory + " does not exist");
        }
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(BUSY_TIMEOUT_MILLIS);
        config.setJournalMode(mode.journal());
        config.setSynchronous(mode.synchronous());
        if (mode.isMade()) {
            // SQLite gives the files beside it the same rights.
            SmallFiles.create(file);
        } else {
            config.resetOpenMode(SQLiteOpenMode.CREATE);
        }
        config.setCacheSize(-CACHE_KIB);
        // Joining the segments of a large memory writes much at once.
        config.setJournalSizeLimit(JOURNAL_BYTES);
        config.setPragma(SQLiteConfig.Pragma.WAL_AUTOCHECKPOINT, String.valueOf(CHECKPOINT_PAGES));
        // Else the driver asks for the last row's number after each statement.
        config.setGetGeneratedKeys(false);
        // Erased data is overwritten and does not remain in free pages.
        config.setPragma(SQLiteConfig.Pragma.SECURE_DELETE, "true");
        // A query reads some pages for each term, more than the default cache of 2 MB keeps.
        config.setPragma(SQLiteConfig.Pragma.MMAP_SIZE, String.valueOf(MAPPED));
        boolean hasPages = checkpoints.hasPages();
        SqlConnection begun = connect(config);
        try (Statement statement = begun.create()) {
            // Who only reads does not wait for a writer.
            SqlSchema scripts = schema.scripts();
            SqlSchema.Versions versions = scripts.versions(statement);
            if (!scripts.isComplete(versions)) {
                if (versions.version() == 0) {
                    schema.refuseForeign(file, statement);
                }
                statement.execute("BEGIN IMMEDIATE");
                versions = scripts.complete(statement);
                statement.execute("COMMIT");
            }
            scripts.check(versions, "the file takes no scripts");
        } catch (SQLException | RuntimeException e) {
            begun.close();
            throw e;
        }
        channel.connection = begun;
        channel.opened = identity();
        if (hasPages && channel == writer) {
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
     * Opens the file. If two programs set the journal mode of a new file at the same moment, SQLite fails at once with BUSY,
     * whatever the timeout. Therefore this method waits for the timeout itself.
     */
    private SqlConnection connect(SQLiteConfig config) throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BUSY_TIMEOUT_MILLIS);
        while (true) {
            try {
                return SqlConnection.of(config.createConnection("jdbc:sqlite:" + file.toAbsolutePath()));
            } catch (SQLException e) {
                if ((e.getErrorCode() & 0xFF) != SQLiteErrorCode.SQLITE_BUSY.code || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private KeepsakeException translate(String what, SQLException e) {
        String text = what + " on SQLite file " + file;
        int code = e.getErrorCode() & 0xFF;
        if (code == SQLiteErrorCode.SQLITE_CORRUPT.code || code == SQLiteErrorCode.SQLITE_NOTADB.code) {
            return new UnreadableDataException(
                    text + ": the file is damaged or is not a SQLite database; " + schema.whenDamaged(), e);
        }
        if (code == SQLiteErrorCode.SQLITE_BUSY.code
                || code == SQLiteErrorCode.SQLITE_LOCKED.code
                || code == SQLiteErrorCode.SQLITE_FULL.code
                || code == SQLiteErrorCode.SQLITE_IOERR.code
                || code == SQLiteErrorCode.SQLITE_CANTOPEN.code) {
            return new StorageUnavailableException(text + ": the file cannot be used at the moment", e);
        }
        return new KeepsakeException(text + " failed", e);
    }
}
