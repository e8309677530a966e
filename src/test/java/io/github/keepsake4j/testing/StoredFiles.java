package io.github.keepsake4j.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** What is in the files of a database. */
public final class StoredFiles {

    private StoredFiles() {}

    /** Returns the names of the files in a directory that have a text of ASCII somewhere. */
    public static List<String> with(String text, Path directory) throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text)) {
                    found.add(file.getFileName().toString());
                }
            }
        }
        return found;
    }

    /** Returns the directory in which PostgreSQL keeps a database. Its write-ahead log is elsewhere. */
    public static Path ofDatabase(DataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        """
                        SELECT current_setting('data_directory') || '/base/' || oid
                        FROM pg_database WHERE datname = current_database()
                        """)) {
            row.next();
            return Path.of(row.getString(1));
        }
    }
}
