package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/** Translates errors of SQLite to exceptions that tell the caller what to do, by their codes ("Result and Error Codes"). */
final class SqliteErrors {

    private SqliteErrors() {}

    /** Returns whether another connection is in the way. */
    static boolean isBusy(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_BUSY);
    }

    /** Returns whether the file is no database, or a damaged one. */
    static boolean isDamage(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_CORRUPT, SQLiteErrorCode.SQLITE_NOTADB);
    }

    /**
     * Returns whether another connection to the file may do what this one cannot. One to a file that was read-only stays so, even if
     * the file is writable by now. Where a table is missing, another version of the library may have changed them all, which is
     * found when the file is opened.
     */
    static boolean mayBeOtherwise(SQLException e) {
        return isOf(e, SQLiteErrorCode.SQLITE_READONLY, SQLiteErrorCode.SQLITE_ERROR);
    }

    /**
     * Returns the exception for the caller.
     *
     * @param what the call
     * @param e the error
     * @param file the file, which is looked at to tell an outage from what its owner must change
     * @param schema its tables
     */
    static KeepsakeException translate(Object what, SQLException e, SqliteFile file, SqlSchema schema) {
        String text = what + " on " + file + ": ";
        if (isDamage(e)) {
            return new UnreadableDataException(
                    text + "the file is damaged or is not a SQLite database; " + schema.whenDamaged(), e);
        }
        // What may be written was checked before, and the statements fit the tables of this version.
        if (isOf(e, SQLiteErrorCode.SQLITE_CONSTRAINT, SQLiteErrorCode.SQLITE_MISMATCH, SQLiteErrorCode.SQLITE_ERROR)) {
            return new UnreadableDataException(
                    text + "the file's tables or rows are damaged or of another version, nothing was written; "
                            + schema.whenDamaged(),
                    e);
        }
        StorageUnavailableException outage =
                new StorageUnavailableException(text + "the file cannot be used at the moment", e);
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
                    text + (obstacle == null ? "SQLite takes the file for read-only; let it be written" : obstacle), e);
        }
        if (isOf(e, SQLiteErrorCode.SQLITE_IOERR, SQLiteErrorCode.SQLITE_CANTOPEN)) {
            // Where nothing is wrong with the file, the disk or the number of open files is, and that may pass.
            return obstacle == null ? outage : new KeepsakeException(text + obstacle, e);
        }
        return new KeepsakeException(text + "it failed", e);
    }

    /** The low byte is the primary result code. */
    private static boolean isOf(SQLException e, SQLiteErrorCode... codes) {
        for (SQLiteErrorCode code : codes) {
            if ((e.getErrorCode() & 0xFF) == code.code) {
                return true;
            }
        }
        return false;
    }
}
