package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.SqlConnection;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteOpenMode;

/** Looks at a SQLite file before a log is opened on it, which would make the tables that it lacks. */
final class SqliteFile {

    private static final int BUSY_MILLIS = 10_000;

    private SqliteFile() {}

    /** Returns whether a file has the tables of a log. Of a file that is no sound database, the log tells that. */
    static boolean isLog(Path file) {
        SQLiteConfig config = new SQLiteConfig();
        config.resetOpenMode(SQLiteOpenMode.CREATE);
        config.setBusyTimeout(BUSY_MILLIS);
        try (SqlConnection connection =
                        SqlConnection.of(config.createConnection("jdbc:sqlite:" + file.toAbsolutePath()));
                Statement statement = connection.create();
                ResultSet rows = statement.executeQuery("SELECT 1 FROM sqlite_master WHERE name = 'keepsake_schema'")) {
            return rows.next();
        } catch (SQLException e) {
            int code = e.getErrorCode() & 0xFF;
            if (code == SQLiteErrorCode.SQLITE_NOTADB.code || code == SQLiteErrorCode.SQLITE_CORRUPT.code) {
                return true;
            }
            throw new StorageUnavailableException("SQLite file " + file + " cannot be read at the moment", e);
        }
    }
}
