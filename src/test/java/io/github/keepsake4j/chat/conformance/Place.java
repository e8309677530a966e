package io.github.keepsake4j.chat.conformance;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Where a log is, as another process can be told.
 *
 * @param home the kind of storage
 * @param at a file, a folder or the server's port
 * @param name a database, prefix or bucket
 */
record Place(Home home, String at, String name) {

    private static final String HOME = "conformance.home";
    private static final String AT = "conformance.at";
    private static final String NAME = "conformance.name";

    /** Makes a new, empty storage. Files are made in a directory. */
    static Place in(Home home, Path directory) throws Exception {
        return switch (home) {
            case IN_MEMORY -> new Place(home, "", "");
            case SQLITE -> new Place(home, directory.resolve("chat.db").toString(), "");
            case FILES -> new Place(home, directory.resolve("files").toString(), "");
            case POSTGRESQL ->
                new Place(
                        home,
                        Integer.toString(Postgres.newest().port()),
                        Postgres.newest().newDatabase());
            case REDIS -> new Place(home, Integer.toString(Redis.shared().port()), Redis.newPrefix());
            case S3, S3_TURNS ->
                new Place(
                        home,
                        Integer.toString(S3Server.shared().port()),
                        S3Server.shared().newBucket());
        };
    }

    Map<String, String> properties() {
        return Map.of(HOME, home.name(), AT, at, NAME, name);
    }

    static Place ofThisProcess() {
        return new Place(Home.valueOf(System.getProperty(HOME)), System.getProperty(AT), System.getProperty(NAME));
    }

    /**
     * Returns whether checks with other processes are run. The default build runs them on one home, because they start ten
     * JVMs.
     */
    boolean isShared() {
        return switch (home) {
            case IN_MEMORY -> false;
            case SQLITE -> true;
            case FILES, POSTGRESQL, REDIS, S3, S3_TURNS -> Counts.isFull();
        };
    }

    /** The default build repeats less. Each call on a bucket is a request. */
    int count(int stated) {
        boolean isBucket = home == Home.S3 || home == Home.S3_TURNS;
        return Math.max(1, Counts.of(stated / (isBucket ? 20 : 10), isBucket ? stated / 4 : stated));
    }

    MessageLog open() {
        return switch (home) {
            case IN_MEMORY -> new InMemoryMessageLog();
            case SQLITE -> SqliteMessageLog.open(Path.of(at));
            case FILES -> FileMessageLog.builder().directory(Path.of(at)).build();
            case POSTGRESQL ->
                JdbcMessageLog.builder()
                        .dataSource(Postgres.database(name, Integer.parseInt(at)))
                        .schema(SchemaMode.ALWAYS)
                        .build();
            case REDIS ->
                RedisMessageLog.builder()
                        .server(Redis.uri(Integer.parseInt(at)))
                        .prefix(name)
                        .checks(RedisMessageLog.Checks.NONE)
                        .build();
            case S3 -> bucket().build();
            case S3_TURNS -> bucket().turnMode(Duration.ofHours(1)).build();
        };
    }

    private S3MessageLog.Builder bucket() {
        URI endpoint = S3Server.endpoint(Integer.parseInt(at));
        return S3MessageLog.builder()
                .endpoint(endpoint)
                .region(S3Server.REGION)
                .credentials(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                .bucket(name);
    }
}
