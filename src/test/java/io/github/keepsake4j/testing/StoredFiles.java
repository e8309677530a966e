package io.github.keepsake4j.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
        for (Path file : in(directory)) {
            if (text(file).contains(text)) {
                found.add(file.getFileName().toString());
            }
        }
        return found;
    }

    /** Returns the files in a directory and in those below it. */
    public static List<Path> in(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    /** Returns a file's bytes as text, or an empty text if it is gone. */
    public static String text(Path file) throws IOException {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        }
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
