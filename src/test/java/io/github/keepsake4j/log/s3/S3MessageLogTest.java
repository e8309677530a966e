package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.TcpProxy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/** The contract over the wire. Large documents are compressed, small ones are not. */
class S3MessageLogTest extends MessageLogContract {

    private static final ObjectNames NAMES = new ObjectNames("chat/", "default");

    private static S3Server server;
    private static TcpProxy line;
    private static S3Client client;
    private static S3Client direct;

    private String bucket;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.shared();
        line = new TcpProxy(server.port());
        client = S3Server.client(line.port());
        direct = S3Server.client(server.port());
    }

    @AfterAll
    static void stop() throws IOException {
        client.close();
        direct.close();
        line.close();
    }

    @AfterEach
    void letThrough() {
        line.letThrough();
    }

    @Override
    protected MessageLog open(Clock clock) {
        bucket = server.newBucket();
        return configured(builder(clock)).build();
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return builder(clock).build();
    }

    /** Applies the settings that a subclass tests. */
    S3MessageLog.Builder configured(S3MessageLog.Builder builder) {
        return builder;
    }

    private S3MessageLog.Builder builder(Clock clock) {
        return S3MessageLog.builder()
                .client(client)
                .bucket(bucket)
                .prefix("chat")
                .clock(clock)
                .gzipAbove(8 * 1024);
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) {
        String element = rawBytes(key, messageId);
        String damaged = document(key).replace(element, element.replace("\"content\":\"", "\"content\":5,\"was\":\""));
        direct.putObject(request -> request.bucket(bucket).key(NAMES.document(key)), RequestBody.fromString(damaged));
    }

    /** The element's line. */
    @Override
    public String rawBytes(MemoryKey key, String messageId) {
        return document(key)
                .lines()
                .filter(line -> line.startsWith("{\"message_id\":\"" + messageId + "\""))
                .findFirst()
                .map(line -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
                .orElseThrow();
    }

    private String document(MemoryKey key) {
        return new String(
                direct.getObjectAsBytes(request -> request.bucket(bucket).key(NAMES.document(key)))
                        .asByteArray(),
                StandardCharsets.UTF_8);
    }

    @Override
    public Outage breakStorage() {
        line.refuse();
        return line::letThrough;
    }

    @Override
    public int appendsPerThreadInFull() {
        return 50;
    }

    @Override
    public int randomTreesInFull() {
        return 20;
    }
}
