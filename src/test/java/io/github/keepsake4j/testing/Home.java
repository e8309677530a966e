package io.github.keepsake4j.testing;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** The homes of a log, for tests that hold on all of them. */
public enum Home {
    IN_MEMORY,
    SQLITE,
    POSTGRESQL,
    S3,
    S3_TURNS;

    /** One storage, and logs on it. */
    public interface Storage extends AutoCloseable {

        /** Opens a log on the storage. In memory it is always the same one. */
        MessageLog open();

        @Override
        void close();
    }

    /** How often a schedule is repeated where calls cost as much as here. */
    public int counts(int quick, int full) {
        int all = Counts.of(quick, full);
        return switch (this) {
            case IN_MEMORY -> all;
            case SQLITE, POSTGRESQL -> Math.max(3, all / 10);
            case S3, S3_TURNS -> Math.max(2, all / 25);
        };
    }

    public Storage storage() throws Exception {
        return switch (this) {
            case IN_MEMORY -> inMemory();
            case SQLITE -> sqlite();
            case POSTGRESQL -> postgres();
            case S3 -> bucket(false);
            case S3_TURNS -> bucket(true);
        };
    }

    private static Storage inMemory() {
        InMemoryMessageLog log = new InMemoryMessageLog();
        return new Storage() {
            @Override
            public MessageLog open() {
                return log;
            }

            @Override
            public void close() {
                log.close();
            }
        };
    }

    private static Storage sqlite() throws Exception {
        Path directory = Files.createTempDirectory("keepsake");
        return new Storage() {
            @Override
            public MessageLog open() {
                return JdbcMessageLog.sqlite(directory.resolve("chat.db"));
            }

            @Override
            public void close() {
                for (String file : new String[] {"chat.db", "chat.db-wal", "chat.db-shm"}) {
                    directory.resolve(file).toFile().delete();
                }
                directory.toFile().delete();
            }
        };
    }

    private static Storage postgres() throws Exception {
        Postgres server = Postgres.newest();
        HikariDataSource pool = Postgres.pool(server.database(server.newDatabase()), 20, true);
        return new Storage() {
            @Override
            public MessageLog open() {
                return JdbcMessageLog.builder()
                        .dataSource(pool)
                        .schema(JdbcMessageLog.SchemaMode.ALWAYS)
                        .build();
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    private static Storage bucket(boolean turns) throws Exception {
        S3Server server = S3Server.shared();
        String bucket = server.newBucket();
        return new Storage() {
            @Override
            public MessageLog open() {
                S3MessageLog.Builder builder = S3MessageLog.builder()
                        .endpoint(server.endpoint())
                        .region(S3Server.REGION)
                        .credentials(StaticCredentialsProvider.create(
                                AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                        .bucket(bucket);
                return (turns ? builder.turnMode(Duration.ofHours(1)) : builder).build();
            }

            @Override
            public void close() {}
        };
    }
}
