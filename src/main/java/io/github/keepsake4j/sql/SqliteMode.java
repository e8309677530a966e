package io.github.keepsake4j.sql;

import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteOpenMode;

/** How a SQLite file is used. */
public enum SqliteMode {
    /** A file that is open for a long time and loses nothing by a power failure. */
    LOG(JournalMode.WAL, SynchronousMode.FULL),

    /**
     * A large file that is open for a long time, with a separate connection for reads, so that a search does not wait
     * for the indexer. Losses of a power failure are added again.
     */
    INDEX(JournalMode.WAL, SynchronousMode.NORMAL),

    /** A small file that is open for a short time, has no files beside it, and is read by other programs. */
    SMALL(JournalMode.DELETE, SynchronousMode.FULL),

    /** The same, but a missing file is not created. */
    SMALL_IF_THERE(JournalMode.DELETE, SynchronousMode.FULL);

    /** The number of bytes of a large file that are mapped: SQLite's maximum. The others are read through the cache. */
    private static final long MAPPED = 0x7fff0000L;

    private static final int CACHE_KIB = 32_768;
    private static final int JOURNAL_BYTES = 64_000_000;

    /**
     * The number of pages of the write-ahead log after which they are copied into a large file. An index's commit has
     * more pages than the usual 1,000, most of them those of the commit before, and each copy waits for the disk twice.
     */
    private static final int CHECKPOINT_PAGES = 8_000;

    private final JournalMode journal;
    private final SynchronousMode synchronous;

    SqliteMode(JournalMode journal, SynchronousMode synchronous) {
        this.journal = journal;
        this.synchronous = synchronous;
    }

    boolean hasReader() {
        return this == INDEX;
    }

    boolean isMade() {
        return this != SMALL_IF_THERE;
    }

    SQLiteConfig config(int busyMillis) {
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(busyMillis);
        config.setJournalMode(journal);
        config.setSynchronous(synchronous);
        // Otherwise each insert reads the last rowid, which no table of this library has.
        config.setGetGeneratedKeys(false);
        // Erased data is overwritten and does not remain in free pages.
        config.setPragma(Pragma.SECURE_DELETE, "true");
        if (!isMade()) {
            config.resetOpenMode(SQLiteOpenMode.CREATE);
        }
        if (this == INDEX) {
            // A query reads some pages for each term, more than the default cache of 2 MB keeps.
            config.setCacheSize(-CACHE_KIB);
            config.setPragma(Pragma.MMAP_SIZE, String.valueOf(MAPPED));
            // Joining the segments of a large memory writes much at once.
            config.setJournalSizeLimit(JOURNAL_BYTES);
            config.setPragma(Pragma.WAL_AUTOCHECKPOINT, String.valueOf(CHECKPOINT_PAGES));
        }
        return config;
    }
}
