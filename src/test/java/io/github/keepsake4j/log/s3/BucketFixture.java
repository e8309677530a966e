package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.S3Server;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A fresh bucket with a log, and changes that other programs make to its objects. */
abstract class BucketFixture {

    static final NodeKey NODE = NodeKey.of("default", "app", "conversation", "node");
    static final String NODE_OBJECT = "node_memory/app/conversation/node.json";

    final Wire wire = new Wire();
    S3Server server;
    S3Client client;
    String bucket;
    MessageLog log;

    @BeforeEach
    void open() throws Exception {
        server = S3Server.shared();
        client = S3Server.client(server.port(), wire);
        bucket = server.newBucket();
        log = another();
    }

    @AfterEach
    void close() {
        server.leaveAlone();
        log.close();
        client.close();
    }

    /** Returns another log that has no state of this one, as in another process. */
    final MessageLog another() {
        return another(builder -> {});
    }

    final MessageLog another(Consumer<S3MessageLog.Builder> settings) {
        S3MessageLog.Builder builder = S3MessageLog.builder().client(client).bucket(bucket);
        settings.accept(builder);
        return builder.build().tried();
    }

    static String resource(String name) {
        try (InputStream in = BucketFixture.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    final void put(String object, byte[] bytes) {
        client.putObject(request -> request.bucket(bucket).key(object), RequestBody.fromBytes(bytes));
    }

    final void put(String object, String text) {
        put(object, text.getBytes(StandardCharsets.UTF_8));
    }

    final byte[] bytes(String object) {
        return client.getObjectAsBytes(request -> request.bucket(bucket).key(object))
                .asByteArray();
    }

    /** Returns an object's text, inflated if necessary. */
    final String text(String object) {
        byte[] bytes = bytes(object);
        try {
            return new String(bytes[0] == 0x1f ? gunzip(bytes) : bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the names of all objects, without what erasures leave and without what finds the copies of damaged bytes. */
    final List<String> objects() {
        return allObjects().stream()
                .filter(name -> !name.startsWith("aside/erased/") && !name.startsWith("aside/quarantined/"))
                .toList();
    }

    /** Returns the names of all objects but that which the server is tried with. */
    final List<String> allObjects() {
        return client.listObjectsV2Paginator(request -> request.bucket(bucket)).contents().stream()
                .map(S3Object::key)
                .filter(name -> !name.equals("aside/probe"))
                .toList();
    }

    static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private static byte[] gunzip(byte[] bytes) throws IOException {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return in.readAllBytes();
        }
    }

    static String nameOf(MemoryKey key) {
        return new ObjectNames("", "default").document(key);
    }

    /** Returns the requests that the server receives during some work, such as "1 GET, 1 PUT". */
    final String requests(Runnable work) {
        List<String> kinds = List.of("GET", "PUT", "LIST", "DELETE");
        int[] before = kinds.stream().mapToInt(wire::count).toArray();
        work.run();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < before.length; i++) {
            int count = wire.count(kinds.get(i)) - before[i];
            if (count > 0) {
                text.append(text.isEmpty() ? "" : ", ")
                        .append(count)
                        .append(' ')
                        .append(kinds.get(i));
            }
        }
        return text.toString();
    }

    /**
     * Runs an interference once, with the next request of a kind: before it is served, or after it was served and
     * before the answer.
     */
    final void once(String kind, boolean before, Runnable interference) {
        AtomicInteger times = new AtomicInteger();
        Consumer<String> hook = request -> {
            if (request.startsWith(kind) && times.getAndIncrement() == 0) {
                interference.run();
            }
        };
        server.leaveAlone();
        if (before) {
            server.before(hook);
        } else {
            server.after(hook);
        }
    }
}
