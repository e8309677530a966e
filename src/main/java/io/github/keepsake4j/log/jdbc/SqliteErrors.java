package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/** Translates errors of SQLite to exceptions that tell the caller what to do, by their codes ("Result and Error Codes"). */
final class SqliteErrors {

    private SqliteErrors() {}

    /** Returns whether the connection takes no writes any more, whatever becomes of the file. */
    static boolean isReadOnly(SQLException e) {
        return primaryCode(e) == SQLiteErrorCode.SQLITE_READONLY.code;
    }

    /** Returns whether tables that were changed since the file was opened may be the reason. */
    static boolean mayHaveOtherTables(SQLException e) {
        return primaryCode(e) == SQLiteErrorCode.SQLITE_ERROR.code;
    }

    /**
     * Returns the exception for the caller.
     *
     * @param what the call
     * @param file the file, which is looked at to tell an outage from what its owner must change
     */
    static KeepsakeException translate(String what, Path file, SQLException e) {
        String text = what + " on SQLite file " + file;
        int code = primaryCode(e);
        if (code == SQLiteErrorCode.SQLITE_CORRUPT.code || code == SQLiteErrorCode.SQLITE_NOTADB.code) {
            return new UnreadableDataException(
                    text + ": the file is damaged or is not a SQLite database; it was not changed", e);
        }
        // What may be written was checked before, and the statements fit the tables of this version.
        if (code == SQLiteErrorCode.SQLITE_CONSTRAINT.code
                || code == SQLiteErrorCode.SQLITE_MISMATCH.code
                || code == SQLiteErrorCode.SQLITE_ERROR.code) {
            return new UnreadableDataException(
                    text + ": the file's tables or rows are damaged or of another version; nothing was written", e);
        }
        boolean isMoved = e.getErrorCode() == SQLiteErrorCode.SQLITE_READONLY_DBMOVED.code;
        if (code == SQLiteErrorCode.SQLITE_BUSY.code
                || code == SQLiteErrorCode.SQLITE_LOCKED.code
                || code == SQLiteErrorCode.SQLITE_FULL.code
                || code == SQLiteErrorCode.SQLITE_PROTOCOL.code
                || isMoved) {
            return new StorageUnavailableException(text + ": the file cannot be used at the moment", e);
        }
        String obstacle = obstacle(file);
        if (code == SQLiteErrorCode.SQLITE_READONLY.code) {
            return new KeepsakeException(
                    text + ": "
                            + (obstacle == null ? "SQLite takes the file for read-only; let it be written" : obstacle),
                    e);
        }
        if (code == SQLiteErrorCode.SQLITE_IOERR.code || code == SQLiteErrorCode.SQLITE_CANTOPEN.code) {
            // Where nothing is wrong with the file, the disk or the number of open files is, and that may pass.
            return obstacle == null
                    ? new StorageUnavailableException(text + ": the file cannot be used at the moment", e)
                    : new KeepsakeException(text + ": " + obstacle, e);
        }
        return new KeepsakeException(text + " failed", e);
    }

    /** Returns what keeps this process from using the file, and what to do, or null if the file system tells nothing. */
    private static @Nullable String obstacle(Path file) {
        Path whole = file.toAbsolutePath();
        if (Files.isDirectory(whole)) {
            return "it is a directory; name a file";
        }
        for (String suffix : List.of("", "-wal", "-shm")) {
            Path part = whole.resolveSibling(whole.getFileName() + suffix);
            if (Files.exists(part) && !(Files.isReadable(part) && Files.isWritable(part))) {
                return "this process may not read and write it" + (suffix.isEmpty() ? "" : "s " + suffix + " file")
                        + ", which is read-only or another user's; change its permissions";
            }
        }
        Path directory = whole.getParent();
        return directory == null || Files.isWritable(directory)
                ? null
                : "this process may not write to its directory, in which SQLite keeps files too; change the directory's"
                        + " permissions";
    }

    /** The low byte is the primary result code. */
    private static int primaryCode(SQLException e) {
        return e.getErrorCode() & 0xFF;
    }
}
