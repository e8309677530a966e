package io.github.keepsake4j.retention;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

class S3CleanUpTest extends CleanUpContract {

    private static final Duration IDLE = Duration.ofHours(1);

    private static S3Server server;
    private static S3Client client;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.shared();
        client = S3Server.client(server.port());
    }

    @AfterAll
    static void stop() {
        client.close();
    }

    @Override
    protected MessageLog open() {
        return S3MessageLog.builder()
                .client(client)
                .bucket(server.newBucket())
                .listedMetadata(PROJECT)
                .build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"version\":1,\"turns\":{\"run\":{\"user_content\":\"hi\",\"assistant_content\":\"hello\"}}}",
                "{\"version\":1,\"messages\":[{\"message_id\":\"m\",\"role\":\"user\",\"content\":\"hi\"}]}"
            })
    void a19_a_document_without_a_time_is_as_old_as_its_object(String document) {
        String bucket = server.newBucket();
        client.putObject(
                request -> request.bucket(bucket).key("node_memory/app/c1/writer.json"),
                RequestBody.fromString(document));
        MessageLog log = S3MessageLog.builder().client(client).bucket(bucket).build();
        CleanUp cleanUp = CleanUp.of(log).idleFor(IDLE);

        assertThat(cleanUp.run("default").removed()).isZero();
        Clock later = Clock.offset(Clock.systemUTC(), IDLE.plusMinutes(1));
        assertThat(cleanUp.at(later).run("default").removed()).isEqualTo(1);
    }
}
