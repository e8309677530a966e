package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Measures the cost of a node's turn with its memory in a bucket: reading the newest messages and appending two,
 * compared with a bare GET and PUT of the same bytes in the same run. The server is in the same process and keeps
 * objects on the heap, so most of the cost is that of the client and the bytes. A real server adds its round trips to
 * both alike.
 */
public final class S3Benchmark {

    private static final Path OUTPUT = Path.of("target", "benchmark");
    private static final int[] SIZES = {10, 100, 1_000, 5_000, 20_000};
    private static final int SHOWN = 50;
    private static final List<String> WORDS = words();

    private final Report report = new Report();
    private final Random random = new Random(42);
    private final S3Client client;
    private final String bucket;

    private S3Benchmark(S3Client client, String bucket) {
        this.client = client;
        this.bucket = bucket;
    }

    public static void main(String[] arguments) throws Exception {
        S3Server server = S3Server.shared();
        AtomicLong bytes = new AtomicLong();
        try (S3Client client = S3Server.client(server.port(), new Bytes(bytes))) {
            S3Benchmark benchmark = new S3Benchmark(client, server.newBucket());
            benchmark.run(bytes);
            benchmark.report.write(OUTPUT, "s3");
            System.out.println(benchmark.report.markdown());
        }
        System.exit(0);
    }

    private void run(AtomicLong transferred) throws Exception {
        report.text("# What a node's turn costs in a bucket");
        report.list(Machine.describe());
        report.text(
                "A turn reads the newest " + SHOWN + " messages and appends a question and an answer of 60 words each."
                        + " `turn` is measured in a process that had the turn before, `first turn` in one that has never seen the"
                        + " memory. `bare` reads and writes an object of the same stored bytes with the same client, and does nothing"
                        + " with them. Times are medians in milliseconds. The calls of a row alternate. The server is in the same"
                        + " process. A real server adds its round trip to each request; each of the three makes two.");
        List<List<String>> rows = new ArrayList<>();
        for (int size : SIZES) {
            rows.add(row(size, transferred));
        }
        report.table(
                List.of(
                        "messages",
                        "stored bytes",
                        "turn",
                        "first turn",
                        "bare",
                        "turn / bare",
                        "first turn / bare",
                        "bytes moved by a turn",
                        "of which message text"),
                rows);
    }

    private List<String> row(int size, AtomicLong transferred) throws Exception {
        byte[] stored = filled(size);
        Measured turn = report.keep(new Measured("turn " + size));
        Measured first = report.keep(new Measured("first turn " + size));
        Measured bare = report.keep(new Measured("bare " + size));
        int samples = size <= 1_000 ? 100 : size <= 5_000 ? 40 : 20;
        long moved = 0;
        for (int round = -samples / 2; round < samples; round++) {
            if (round == 0) {
                List.of(turn, first, bare).forEach(Measured::clear);
            }
            // A new memory of this size is used each time, because a turn makes it longer.
            NodeKey key = key("size" + size);
            put(name(key), stored);
            MessageLog log = log();
            timed(first, () -> turn(log, key));
            long before = transferred.get();
            timed(turn, () -> turn(log, key));
            moved = transferred.get() - before;
            timed(bare, () -> put("bare", stored(name(key))));
        }
        return List.of(
                String.format(Locale.ROOT, "%,d", size),
                String.format(Locale.ROOT, "%,d", stored.length),
                Report.millis(turn.median()),
                Report.millis(first.median()),
                Report.millis(bare.median()),
                Report.ratio(turn.median(), bare.median()),
                Report.ratio(first.median(), bare.median()),
                String.format(Locale.ROOT, "%,d", moved),
                String.format(Locale.ROOT, "%,d", 2 * text(random).length()));
    }

    private static void timed(Measured measured, Runnable work) {
        long begin = System.nanoTime();
        work.run();
        measured.add(System.nanoTime() - begin);
    }

    /** Returns a document with the given number of messages, in its stored form. */
    private byte[] filled(int size) {
        NodeKey key = key("filled" + size);
        MessageLog log = log();
        for (int at = 0; at < size; at += 1_000) {
            List<NewMessage> batch = IntStream.range(at, Math.min(size, at + 1_000))
                    .mapToObj(this::message)
                    .toList();
            log.append(key, Append.under(Parent.head(), batch));
        }
        return stored(name(key));
    }

    private static NodeKey key(String node) {
        return NodeKey.of("default", "app", "conversation", node);
    }

    private static String name(NodeKey key) {
        return "node_memory/app/conversation/" + key.nodeId() + ".json";
    }

    private MessageLog log() {
        return S3MessageLog.builder().client(client).bucket(bucket).build();
    }

    private void turn(MessageLog log, NodeKey key) {
        log.read(key, ReadQuery.newest(SHOWN));
        log.append(key, Append.under(Parent.head(), List.of(message(0), message(1))));
    }

    private NewMessage message(int number) {
        String text = text(random);
        ChatMessage message = number % 2 == 0 ? UserMessage.from(text) : AiMessage.from(text);
        return new NewMessage(Ids.next(), message, 80, "benchmark", null);
    }

    private byte[] stored(String name) {
        return client.getObjectAsBytes(request -> request.bucket(bucket).key(name))
                .asByteArray();
    }

    private void put(String name, byte[] content) {
        client.putObject(request -> request.bucket(bucket).key(name), RequestBody.fromBytes(content));
    }

    private static String text(Random random) {
        return IntStream.range(0, 60)
                .mapToObj(i -> WORDS.get((int) Math.min(WORDS.size() - 1L, Math.abs(random.nextGaussian()) * 800)))
                .collect(Collectors.joining(" "));
    }

    /** Returns words that compress about as well as text does. */
    private static List<String> words() {
        Random letters = new Random(1);
        return IntStream.range(0, 3_000)
                .mapToObj(i -> letters.ints(2 + letters.nextInt(8), 'a', 'z' + 1)
                        .mapToObj(c -> String.valueOf((char) c))
                        .collect(Collectors.joining()))
                .toList();
    }

    /** Counts the bytes of bodies in both directions. */
    private record Bytes(AtomicLong total) implements ExecutionInterceptor {

        @Override
        public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
            context.httpRequest().firstMatchingHeader("Content-Length").ifPresent(this::add);
        }

        @Override
        public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
            context.httpResponse().firstMatchingHeader("Content-Length").ifPresent(this::add);
        }

        private void add(String length) {
            total.addAndGet(Long.parseLong(length));
        }
    }
}
