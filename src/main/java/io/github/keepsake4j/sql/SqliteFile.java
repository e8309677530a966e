package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteOpenMode;

/**
 * A SQLite file, as the file system knows it.
 *
 * @param path its name
 */
public record SqliteFile(Path path) {

    private static final int BUSY_MILLIS = 10_000;

    private static final Pattern TABLE = Pattern.compile("CREATE (?:VIRTUAL )?TABLE \\W?(\\w++)\\W");

    /** Longer than what {@link #TABLE} finds. */
    private static final int OVERLAP = 100;

    private static final String HEADER = "SQLite format 3\0";
    private static final String PAGES = "-wal";
    private static final String SHARED = "-shm";

    /**
     * Returns whether the file has some tables, and creates nothing. A damaged file is reported by the code that opens
     * it.
     *
     * @param schema the tables
     * @return whether they exist, in any version
     */
    public boolean has(SqlSchema schema) {
        try (SqlConnection connection = openExisting(BUSY_MILLIS)) {
            return new Session(connection).hasTable(schema.table());
        } catch (SQLException e) {
            if (SqliteErrors.isDamage(e)) {
                return true;
            }
            throw new StorageUnavailableException(this + " cannot be read at the moment", e);
        }
    }

    /** Opens the file, and creates nothing. */
    SqlConnection openExisting(int busyMillis) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.resetOpenMode(SQLiteOpenMode.CREATE);
        config.setBusyTimeout(busyMillis);
        return open(config);
    }

    SqlConnection open(SQLiteConfig config) throws SQLException {
        return SqlConnection.of(config.createConnection("jdbc:sqlite:" + path.toAbsolutePath()));
    }

    /** Creates the file, so that only its owner may use it. SQLite gives the files beside it the same permissions. */
    void make() {
        Path directory = path.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new InvalidInputException("file", "the directory " + directory + " does not exist; create it first");
        }
        // If it cannot be created, SQLite reports why.
        SmallFiles.create(path);
    }

    /** Identifies the file that has the name now. Null if there is none, or the system has no such identity. */
    @Nullable
    Object identity() {
        try {
            return SmallFiles.identity(path);
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns whether the file begins as those of SQLite do ("Database File Format"), has lost that, or cannot be read. */
    boolean isDatabase() {
        try (InputStream in = Files.newInputStream(path)) {
            String begin = new String(in.readNBytes(HEADER.length()), StandardCharsets.ISO_8859_1);
            return begin.equals(HEADER) || begin.startsWith("\0");
        } catch (IOException e) {
            return true;
        }
    }

    /** Returns whether the write-ahead log has pages. */
    boolean hasPages() {
        return beside(PAGES).toFile().length() > 0;
    }

    private Path beside(String suffix) {
        return Path.of(path.toAbsolutePath() + suffix);
    }

    /** Returns why this process cannot use the file, and what to do, or null if the file system shows no reason. */
    @Nullable
    String obstacle() {
        if (Files.isDirectory(path)) {
            return "it is a directory; name a file (MessageLogs.files(…) keeps a log in a directory)";
        }
        for (String suffix : List.of("", PAGES, SHARED)) {
            Path part = beside(suffix);
            if (Files.exists(part) && !(Files.isReadable(part) && Files.isWritable(part))) {
                return "this process may not read and write it" + (suffix.isEmpty() ? "" : "s " + suffix + " file")
                        + ": it is read-only or another user's; change its permissions";
            }
        }
        Path directory = path.toAbsolutePath().getParent();
        if (directory == null) {
            return null;
        }
        if (!Files.isWritable(directory)) {
            return "this process may not write to its directory, in which SQLite keeps files too; change the directory's"
                    + " permissions";
        }
        return SmallFiles.takesNoFiles(directory)
                ? "no file may be created in " + directory + "; choose another path"
                : null;
    }

    /**
     * Renames the file with its write-ahead log, and returns the new name. Connections to it notice this with their
     * next call.
     */
    Path moveAside() throws IOException {
        Path aside = beside(".damaged");
        // The file comes last: otherwise the files beside it would be taken for the files of a new one.
        Files.deleteIfExists(beside(SHARED));
        if (Files.exists(beside(PAGES))) {
            Files.move(beside(PAGES), Path.of(aside + PAGES), StandardCopyOption.REPLACE_EXISTING);
        }
        return Files.move(path, aside, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Returns whether the file, which may be damaged, has other tables. It contains the unchanged text that created a
     * table.
     */
    boolean hasOthersThan(SqlSchema schema) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = new byte[1 << 20];
            int kept = 0;
            for (int read; (read = in.readNBytes(bytes, kept, bytes.length - kept)) > 0; ) {
                int end = kept + read;
                Matcher table = TABLE.matcher(new String(bytes, 0, end, StandardCharsets.ISO_8859_1));
                while (table.find()) {
                    if (!table.group(1).startsWith(schema.prefix())
                            && !table.group(1).startsWith("sqlite_")) {
                        return true;
                    }
                }
                kept = Math.min(OVERLAP, end);
                System.arraycopy(bytes, end - kept, bytes, 0, kept);
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return "SQLite file " + path.toAbsolutePath();
    }
}
