package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Threads;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;

/**
 * Checks whether a given server meets the log's requirements. {@code -Dgroups=s3-vendors} runs it. {@code KEEPSAKE_S3_BUCKET}
 * names a bucket that may be written to. {@code KEEPSAKE_S3_ENDPOINT}, {@code KEEPSAKE_S3_REGION}, {@code
 * KEEPSAKE_S3_ACCESS_KEY} and {@code KEEPSAKE_S3_SECRET_KEY} configure the server. They are not needed in Amazon's own
 * environment. For other vendors, {@code KEEPSAKE_S3_QUOTED_ETAGS=false}, {@code KEEPSAKE_S3_CHUNKED_SIGNING=false} and
 * {@code KEEPSAKE_S3_CHECKSUMS=WHEN_SUPPORTED} set what the builder's methods of these names set.
 */
@Tag("s3-vendors")
@Timeout(300)
class S3EndpointTest {

    private final String run = Ids.next();
    private MessageLog log;
    private MessageLog second;

    @BeforeEach
    void open() {
        String bucket = System.getenv("KEEPSAKE_S3_BUCKET");
        assertThat(bucket)
                .as("KEEPSAKE_S3_BUCKET (and _ENDPOINT, _REGION, _ACCESS_KEY, _SECRET_KEY)")
                .isNotNull();
        log = connect(bucket);
        second = connect(bucket);
    }

    @AfterEach
    void close() {
        if (log != null) {
            log.close();
            second.close();
        }
    }

    private MessageLog connect(String bucket) {
        S3MessageLog.Builder builder = S3MessageLog.builder().bucket(bucket).prefix("keepsake-test/" + run);
        String endpoint = System.getenv("KEEPSAKE_S3_ENDPOINT");
        String region = System.getenv("KEEPSAKE_S3_REGION");
        String key = System.getenv("KEEPSAKE_S3_ACCESS_KEY");
        if (endpoint != null) {
            builder.endpoint(URI.create(endpoint));
        }
        if (region != null) {
            builder.region(region);
        }
        if (key != null) {
            builder.credentials(StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(key, System.getenv("KEEPSAKE_S3_SECRET_KEY"))));
        }
        String quotedEtags = System.getenv("KEEPSAKE_S3_QUOTED_ETAGS");
        String chunkedSigning = System.getenv("KEEPSAKE_S3_CHUNKED_SIGNING");
        String checksums = System.getenv("KEEPSAKE_S3_CHECKSUMS");
        if (quotedEtags != null) {
            builder.quotedEtags(Boolean.parseBoolean(quotedEtags));
        }
        if (chunkedSigning != null) {
            builder.chunkedSigning(Boolean.parseBoolean(chunkedSigning));
        }
        if (checksums != null) {
            builder.checksums(RequestChecksumCalculation.valueOf(checksums));
        }
        return builder.build();
    }

    @Test
    void conditional_writes_are_atomic() throws Exception {
        String bucket = System.getenv("KEEPSAKE_S3_BUCKET");
        ConditionalWrites.Result result = ConditionalWrites.race(() -> connect(bucket), 8, 75);
        assertThat(result.lost())
                .as(
                        "messages of %s that were acknowledged and are not there: this server lets several writers win"
                                + " at once",
                        result.acknowledged())
                .isZero();
    }

    @Test
    void a_document_comes_back_whatever_its_name_and_size() {
        for (String id : List.of("plain", "../a b/ü😀", "%2F", "x".repeat(512))) {
            NodeKey key = NodeKey.of("te nant", id, "c", "n");
            log.append(key, batch("a"));
            log.append(
                    key, Append.under(Parent.head(), List.of(message("b", UserMessage.from("x".repeat(200_000)), 1))));
            log.append(key, Append.viewOnly(View.of(null, List.of())));
            log.append(key, batch("c"));

            assertThat(branch(second, key)).containsExactly("a", "b", "c");
            assertThat(branch(second, key)).as("unchanged").containsExactly("a", "b", "c");
        }
        assertThat(list(second, "te nant", 3)).hasSize(4);
        list(second, "te nant", 3).forEach(info -> log.erase(info.key()));
        assertThat(list(second, "te nant", 3)).isEmpty();
    }

    @Test
    void one_of_many_wins_each_race() throws Exception {
        for (int round = 0; round < 20; round++) {
            ConversationKey key = ConversationKey.of("default", "round " + round);
            String prefix = "t" + round + "-";
            AtomicInteger won = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(8);
            Threads.run(8, thread -> {
                start.await();
                try {
                    (thread % 2 == 0 ? log : second)
                            .append(key, batch(prefix + thread).expectingHead(null));
                    won.incrementAndGet();
                } catch (io.github.keepsake4j.log.HeadConflictException e) {
                    assertThat(e.actualHead()).startsWith(prefix);
                }
            });
            assertThat(won).as("round %s", round).hasValue(1);
            log.erase(key);
        }
    }
}
