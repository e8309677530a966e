package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.MessageLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;

/** Rows of a SQLite file that were edited by hand, where any column takes any value. */
class SqliteHandEditedRowsTest extends HandEditedRowsContract {

    @TempDir
    Path directory;

    @Override
    MessageLog open() {
        return SqliteMessageLog.open(file());
    }

    @Override
    Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA ignore_check_constraints = ON");
        }
        return connection;
    }

    @Override
    void restore() throws Exception {
        Path template = directory.resolve("template.db");
        if (!Files.exists(template)) {
            try (MessageLog log = SqliteMessageLog.open(template)) {
                fill(log);
            }
        }
        Files.deleteIfExists(directory.resolve("chat.db-wal"));
        Files.deleteIfExists(directory.resolve("chat.db-shm"));
        Files.copy(template, file(), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    Map<String, String> columns(String table) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("PRAGMA table_info(" + table + ")")) {
            Map<String, String> columns = new LinkedHashMap<>();
            while (rows.next()) {
                String type = rows.getString("type");
                columns.put(
                        rows.getString("name"),
                        type.equals("INTEGER") ? "number" : type.equals("TEXT") ? "text" : "bytes");
            }
            return columns;
        }
    }

    @Override
    boolean isLooselyTyped() {
        return true;
    }

    @Override
    String bytes(byte[] value) {
        return "x'" + HexFormat.of().formatHex(value) + "'";
    }

    private Path file() {
        return directory.resolve("chat.db");
    }
}
