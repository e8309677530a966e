package io.github.keepsake4j.soak;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Path;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Where the log of several processes is, as an argument of theirs.
 *
 * @param port of the server, or 0
 * @param name of the file, the directory, the database, or the bucket
 */
record Place(Home home, int port, String name) {

    /** Makes an empty place. A server that it starts ends with this JVM. */
    static Place make(Home home, Path directory) throws Exception {
        return switch (home) {
            case IN_MEMORY -> throw new IllegalArgumentException("two processes share no memory");
            case SQLITE -> new Place(home, 0, directory.resolve("chat.db").toString());
            case FILES -> new Place(home, 0, directory.resolve("chats").toString());
            case POSTGRESQL ->
                new Place(home, Postgres.newest().port(), Postgres.newest().newDatabase());
            case REDIS -> new Place(home, Redis.durable(directory).port(), "soak:");
            case S3, S3_TURNS ->
                new Place(home, S3Server.shared().port(), S3Server.shared().newBucket());
        };
    }

    static Place of(String text) {
        String[] parts = text.split(":", 3);
        return new Place(Home.valueOf(parts[0]), Integer.parseInt(parts[1]), parts[2]);
    }

    @Override
    public String toString() {
        return home + ":" + port + ":" + name;
    }

    /** Opens the log with the settings that a user has who sets nothing. */
    MessageLog open() {
        return switch (home) {
            case IN_MEMORY -> throw new IllegalStateException();
            case SQLITE -> SqliteMessageLog.open(Path.of(name));
            case FILES -> FileMessageLog.in(Path.of(name));
            case POSTGRESQL ->
                JdbcMessageLog.builder()
                        .dataSource(Postgres.pool(Postgres.database(name, port), 10, true))
                        .schema(SchemaMode.ALWAYS)
                        .build();
            case REDIS ->
                RedisMessageLog.builder().server(Redis.uri(port)).prefix(name).build();
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
