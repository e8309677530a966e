package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import java.nio.file.Path;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Where a log is, as another process can be told.
 *
 * @param home the kind of storage
 * @param port the server's, or 0
 * @param name of the file, the directory, the database, the prefix or the bucket
 */
public record Place(Home home, int port, String name) {

    /** Returns a new, empty place on servers that end with this JVM. Files are made in a directory. */
    public static Place in(Home home, Path directory) throws Exception {
        return switch (home) {
            case IN_MEMORY -> new Place(home, 0, "");
            case SQLITE -> new Place(home, 0, directory.resolve("chat.db").toString());
            case FILES -> new Place(home, 0, directory.resolve("files").toString());
            case POSTGRESQL ->
                new Place(home, Postgres.newest().port(), Postgres.newest().newDatabase());
            case REDIS -> new Place(home, Redis.shared().port(), Redis.newPrefix());
            case S3, S3_TURNS ->
                new Place(home, S3Server.shared().port(), S3Server.shared().newBucket());
        };
    }

    /** Returns a place like {@link #in}, but on a Redis that keeps what it has acknowledged. */
    public static Place durable(Home home, Path directory) throws Exception {
        return home == Home.REDIS
                ? new Place(home, Redis.durable(directory).port(), Redis.newPrefix())
                : in(home, directory);
    }

    /** Reads what {@link #toString} returned. */
    public static Place of(String text) {
        String[] parts = text.split(":", 3);
        return new Place(Home.valueOf(parts[0]), Integer.parseInt(parts[1]), parts[2]);
    }

    @Override
    public String toString() {
        return home + ":" + port + ":" + name;
    }

    /** Opens the log. */
    public MessageLog open() {
        return switch (home) {
            case IN_MEMORY -> new InMemoryMessageLog();
            case SQLITE -> SqliteMessageLog.open(Path.of(name));
            case FILES -> FileMessageLog.in(Path.of(name));
            case POSTGRESQL -> Postgres.log(Postgres.kept(name, port));
            case REDIS ->
                RedisMessageLog.builder()
                        .server(Redis.uri(port))
                        .prefix(name)
                        .checks(RedisMessageLog.Checks.NONE)
                        .build();
            case S3 -> bucket().build();
            case S3_TURNS -> bucket().turnMode().build();
        };
    }

    private S3MessageLog.Builder bucket() {
        return S3MessageLog.builder()
                .endpoint(S3Server.endpoint(port))
                .region(S3Server.REGION)
                .credentials(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                .bucket(name);
    }
}
