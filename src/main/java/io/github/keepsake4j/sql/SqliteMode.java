package io.github.keepsake4j.sql;

import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteOpenMode;

/** How a SQLite file is used. */
public enum SqliteMode {
    /** A file that is open for long, of which nothing is lost by a power failure. */
    LOG(JournalMode.WAL, SynchronousMode.FULL),

    /**
     * A large file that is open for long, with a connection of its own to read, so that a search does not wait for the indexer.
     * What a power failure takes away is added again.
     */
    INDEX(JournalMode.WAL, SynchronousMode.NORMAL),

    /** A small file that is open for short, is alone, and is read by other programs. */
    SMALL(JournalMode.DELETE, SynchronousMode.FULL),

    /** The same, of a file that is not made if it is absent. */
    SMALL_IF_THERE(JournalMode.DELETE, SynchronousMode.FULL);

    /** How many bytes of a large file are mapped, the most that SQLite can; the others are read through the cache. */
    private static final long MAPPED = 0x7fff0000L;

    private static final int CACHE_KIB = 32_768;
    private static final int JOURNAL_BYTES = 64_000_000;

    /**
     * After how many pages of the write-ahead log these are copied into a large file. An index's commit has more pages than the
     * usual 1,000, most of them those of the commit before, and each copy waits for the disk twice.
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
        // Otherwise each insert asks for the last one's rowid, which no table of ours tells.
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
