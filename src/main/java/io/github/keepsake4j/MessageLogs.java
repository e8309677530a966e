package io.github.keepsake4j;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import javax.sql.DataSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Opens a log in a store of each kind with the usual settings. The builders of the returned logs' classes have all settings.
 * The application closes the log when it ends. Each kind but files and memory needs a library of its own; an error names
 * it if it is missing.
 */
public final class MessageLogs {

    private MessageLogs() {}

    /**
     * Opens a log in a SQLite file, as {@link SqliteMessageLog#open} does. The file and its tables are created on first
     * use.
     *
     * @param file the file; its directory must exist
     * @return the log
     */
    public static MessageLog sqlite(Path file) {
        return SqliteMessageLog.open(file);
    }

    /**
     * Opens a log in a SQLite file, as {@link #sqlite(Path)} does.
     *
     * @param file the file's path, such as {@code chat.db}; its directory must exist
     * @return the log
     */
    public static MessageLog sqlite(String file) {
        return sqlite(path("file", file));
    }

    /**
     * Opens a log in PostgreSQL, as {@link PostgresMessageLog#open(DataSource)} does. The tables must exist;
     * {@link #postgres(DataSource, SchemaMode)} creates them.
     *
     * @param dataSource provides connections, preferably from a pool; the caller closes it
     * @return the log
     */
    public static MessageLog postgres(DataSource dataSource) {
        return PostgresMessageLog.open(dataSource);
    }

    /**
     * Opens a log in PostgreSQL, as {@link PostgresMessageLog#builder()} does.
     *
     * @param dataSource provides connections, preferably from a pool; the caller closes it
     * @param schema whether the log creates its tables, for which the database's user needs the right
     * @return the log
     */
    public static MessageLog postgres(DataSource dataSource, SchemaMode schema) {
        return PostgresMessageLog.builder()
                .dataSource(dataSource)
                .schema(schema)
                .build();
    }

    /**
     * Opens a log in PostgreSQL with a pool of its own, as
     * {@link PostgresMessageLog#open(String, String, String, SchemaMode)} does. Needs HikariCP.
     *
     * @param url such as {@code jdbc:postgresql://host/database}
     * @param user the database's user
     * @param password the user's password
     * @param schema whether the log creates its tables, for which the user needs the right
     * @return the log
     */
    public static MessageLog postgres(String url, String user, String password, SchemaMode schema) {
        return PostgresMessageLog.open(url, user, password, schema);
    }

    /**
     * Opens a log in a directory of files, as {@link FileMessageLog#in} does. The directory is created on first use.
     *
     * @param directory the directory
     * @return the log
     */
    public static MessageLog files(Path directory) {
        return FileMessageLog.in(directory);
    }

    /**
     * Opens a log in a directory of files, as {@link #files(Path)} does.
     *
     * @param directory the directory's path, such as {@code chats}
     * @return the log
     */
    public static MessageLog files(String directory) {
        return files(path("directory", directory));
    }

    private static Path path(String field, String text) {
        try {
            return Path.of(Objects.requireNonNull(text, field));
        } catch (InvalidPathException e) {
            throw new InvalidInputException(field, "is not a path: " + e.getReason());
        }
    }

    /**
     * Opens a log in Redis, as {@link RedisMessageLog#connect} does.
     *
     * @param server such as {@code redis://localhost:6379}
     * @return the log
     */
    public static MessageLog redis(URI server) {
        return RedisMessageLog.connect(server);
    }

    /**
     * Opens a log in Redis, as {@link #redis(URI)} does.
     *
     * @param server such as {@code redis://localhost:6379}
     * @return the log
     * @throws InvalidInputException if the text is not a URI
     */
    public static MessageLog redis(String server) {
        try {
            return redis(URI.create(InvalidInputException.given("server", server)));
        } catch (IllegalArgumentException e) {
            // The exception's text would show a password.
            throw new InvalidInputException("server", "is not a URI; write redis://host:port");
        }
    }

    /**
     * Opens a log in a bucket of S3, or of a server with the same API, as {@link S3MessageLog#builder()} does.
     *
     * @param client the client; the caller closes it
     * @param bucket an existing bucket
     * @param prefix the beginning of all keys, such as {@code chats/}; empty for none
     * @return the log
     */
    public static MessageLog s3(S3Client client, String bucket, String prefix) {
        return S3MessageLog.builder()
                .client(client)
                .bucket(bucket)
                .prefix(prefix)
                .build();
    }

    /**
     * Creates a log in main memory, for tests. It is gone when the process ends.
     *
     * @return the log
     */
    public static MessageLog inMemory() {
        return new InMemoryMessageLog();
    }
}
