package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.OutageContract;
import io.github.keepsake4j.log.StoreClockContract;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.TcpProxy;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3Client;

/** The contract over the wire. Large documents are compressed, small ones are not. */
class S3MessageLogTest extends MessageLogContract implements MetadataListContract, OutageContract, StoreClockContract {

    private static S3Server server;
    private static TcpProxy line;
    private static S3Client client;
    private static S3Client direct;
    private static volatile Clock serverTime;

    private String bucket;

    @Override
    public boolean reportsMissingParents() {
        return true;
    }

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.shared();
        startAt(server.port());
    }

    /** Puts a line before a server, or before what is in front of it. */
    static void startAt(int port) throws Exception {
        server = S3Server.shared();
        line = new TcpProxy(port);
        client = S3Server.hastyClient(line.port(), new ServerTime());
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

    /** Gives each answer the time of the test's clock, in the precision of the header. */
    static final class ServerTime implements ExecutionInterceptor {
        @Override
        public SdkHttpResponse modifyHttpResponse(Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            Instant instant = serverTime.instant();
            // No header can tell a later year.
            return instant.isAfter(Instant.parse("9999-12-31T23:59:59Z"))
                    ? context.httpResponse()
                    : context.httpResponse().toBuilder()
                            .putHeader(
                                    "Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(instant.atZone(ZoneOffset.UTC)))
                            .build();
        }
    }

    @Override
    public MessageLog reopenAt(Clock clock) {
        return openAgain(clock);
    }

    @Override
    protected MessageLog open(Clock clock) {
        serverTime = clock;
        bucket = server.newBucket();
        return configured(builder(clock)).build();
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return builder(clock).build();
    }

    /** Connects a log with the server. */
    S3MessageLog.Builder connected(S3MessageLog.Builder builder) {
        return builder.client(client);
    }

    static URI endpoint() {
        return S3Server.endpoint(line.port());
    }

    /** Applies the settings that a subclass tests. */
    S3MessageLog.Builder configured(S3MessageLog.Builder builder) {
        return builder;
    }

    /** Returns the names that the settings give to the objects. */
    ObjectNames names() {
        return new ObjectNames("chat/", "default");
    }

    S3MessageLog.Builder builder(Clock clock) {
        return connected(S3MessageLog.builder())
                .bucket(bucket)
                .prefix("chat")
                .listedMetadata(DECLARED)
                .clock(clock)
                .gzipAbove(8 * 1024);
    }

    @Override
    public List<MemoryKey> asListed(List<MemoryKey> lastCreatedFirst) {
        return lastCreatedFirst.stream()
                .sorted(Comparator.comparing(names()::document))
                .toList();
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) {
        String element = rawBytes(key, messageId);
        String damaged = document(key).replace(element, element.replace("\"content\":\"", "\"content\":5,\"was\":\""));
        direct.putObject(request -> request.bucket(bucket).key(names().document(key)), RequestBody.fromString(damaged));
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
                direct.getObjectAsBytes(request -> request.bucket(bucket).key(names().document(key)))
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
