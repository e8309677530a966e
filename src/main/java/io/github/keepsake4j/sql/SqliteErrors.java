package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/** Translates errors of SQLite to exceptions that tell the caller what to do, by their codes ("Result and Error Codes"). */
final class SqliteErrors {

    private SqliteErrors() {}

    /** Returns whether another connection blocks this one. */
    static boolean isBusy(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_BUSY);
    }

    /** Returns whether the file is not a database, or is damaged. */
    static boolean isDamage(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_CORRUPT, SQLiteErrorCode.SQLITE_NOTADB);
    }

    /**
     * Returns whether another connection to the file may succeed. A connection to a file that was read-only stays
     * read-only, even if the file is writable by now. If a table is missing, another version of the library may have
     * changed all tables; opening the file finds this.
     */
    static boolean mayBeOtherwise(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_READONLY, SQLiteErrorCode.SQLITE_ERROR);
    }

    /**
     * Returns the exception for the caller.
     *
     * @param what the call
     * @param e the error
     * @param file the file; it is checked to distinguish an outage from a problem that its owner must solve
     * @param schema its tables
     */
    static KeepsakeException translate(Object what, SQLException e, SqliteFile file, SqlSchema schema) {
        String text = what + " on " + file + ": ";
        if (isDamage(e)) {
            return new UnreadableDataException(
                    text
                            + (file.isDatabase()
                                    ? "the file is damaged; " + schema.whenDamaged()
                                    : "the file is not a SQLite database; choose another path"),
                    e);
        }
        // Values are checked before they are written, and the statements fit the tables of this version.
        if (isOf(e, SQLiteErrorCode.SQLITE_CONSTRAINT, SQLiteErrorCode.SQLITE_MISMATCH, SQLiteErrorCode.SQLITE_ERROR)) {
            return new UnreadableDataException(
                    text + "the file's tables or rows are damaged or of another version, nothing was written; "
                            + schema.whenDamaged(),
                    e);
        }
        StorageUnavailableException outage = new StorageUnavailableException(
                text
                        + (isBusy(e)
                                ? "the file cannot be used at the moment: another process or transaction holds its lock. Retry"
                                : "the file cannot be used at the moment. Check the disk, and retry"),
                e);
        if (isOf(
                        e,
                        SQLiteErrorCode.SQLITE_BUSY,
                        SQLiteErrorCode.SQLITE_LOCKED,
                        SQLiteErrorCode.SQLITE_FULL,
                        SQLiteErrorCode.SQLITE_PROTOCOL)
                || e.getErrorCode() == SQLiteErrorCode.SQLITE_READONLY_DBMOVED.code) {
            return outage;
        }
        @Nullable String obstacle = file.obstacle();
        if (isOf(e, SQLiteErrorCode.SQLITE_READONLY)) {
            return new KeepsakeException(
                    text
                            + (obstacle == null
                                    ? "SQLite treats the file as read-only; give this process the permission to write it"
                                    : obstacle),
                    e);
        }
        if (isOf(e, SQLiteErrorCode.SQLITE_IOERR, SQLiteErrorCode.SQLITE_CANTOPEN)) {
            // If the file is not the problem, it is the disk or the number of open files, and may be temporary.
            return obstacle == null ? outage : new KeepsakeException(text + obstacle, e);
        }
        return new KeepsakeException(text + "it failed", e);
    }

    /** The low byte is the primary result code. */
    private static boolean isOf(SQLException e, SQLiteErrorCode... codes) {
        return Arrays.stream(codes).anyMatch(code -> (e.getErrorCode() & 0xFF) == code.code);
    }
}
