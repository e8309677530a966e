package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.services.s3.S3Client;

/** A document that cannot be read causes an error that names the memory, and it is never overwritten. */
@Timeout(600)
class UnreadableDocumentTest extends BucketFixture {

    private static final int LIMIT = 1_000_000;

    static Stream<Arguments> damaged() throws IOException {
        String good = resource("node-memory-v1.json").replace("A lake", SECRET + " lake");
        Map<String, byte[]> cases = new LinkedHashMap<>();
        cases.put("nothing at all", new byte[0]);
        cases.put("no JSON", utf8(SECRET + " and more"));
        cases.put("truncated", utf8(good.substring(0, good.length() * 3 / 4)));
        cases.put("truncated behind the messages", utf8(good.substring(0, good.lastIndexOf('}'))));
        cases.put("something behind it", utf8(good + SECRET));
        cases.put("another object behind it", utf8(good + "{}"));
        cases.put("no object", utf8("[" + good + "]"));
        byte[] zipped = gzip(utf8(good));
        cases.put("truncated gzip", Arrays.copyOf(zipped, zipped.length - 12));
        byte[] flipped = zipped.clone();
        flipped[flipped.length / 2] ^= 0x55;
        cases.put("damaged gzip", flipped);
        cases.put("a gzip bomb", gzip(utf8(good.replace("lake", "lake" + " ".repeat(20 * LIMIT)))));
        cases.put("too large", utf8(good.replace("lake", "lake" + " ".repeat(LIMIT))));
        byte[] broken = utf8(good);
        broken[good.indexOf("lake")] = (byte) 0xff;
        cases.put("not UTF-8", broken);
        cases.put("UTF-16", good.getBytes(StandardCharsets.UTF_16));
        cases.put(
                "too deep",
                utf8(good.replace(
                        "\"version\": 1", "\"version\": 1, \"x\": " + "[".repeat(9_000) + "]".repeat(9_000))));
        for (String version : List.of("2", "0", "\"1\"", "1.0", "null", "true", "{}")) {
            cases.put("version " + version, utf8(good.replace("\"version\": 1", "\"version\": " + version)));
        }
        cases.put("no version", utf8(good.replace("\"version\": 1,", "")));
        cases.put("two versions", utf8(good.replace("\"version\": 1", "\"version\": 1, \"version\": 1")));
        cases.put("messages null", utf8("{\"version\":1,\"messages\":null}"));
        cases.put("messages an object", utf8("{\"version\":1,\"messages\":{}}"));
        for (String[] change : new String[][] {
            {"\"version\": 1", "\"version\": 1, \"keepsake\": []"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"epoch\": \"" + SECRET + "\"}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"views\": 3}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"created_at\": \"" + SECRET + "\"}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"kept\": \"gone\"}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"kept\": {\"messages\": 2}}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"views\": [{\"runs\": []}]}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"key\": \"conversation/" + SECRET + "\"}"},
            {
                "\"version\": 1",
                "\"version\": 1, \"keepsake\": {\"last\": \"msg-002\", \"counters\": [{\"messages\": 2}]}"
            },
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"leases\": [{\"name\": \"work\"}]}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"leases\": [{\"owner\": \"me\"}]}"},
            {"\"version\": 1", "\"version\": 1, \"keepsake\": {\"key\": {\"tenant\": \"" + SECRET + "\"}}"},
            {"\"version\": 1", "\"version\": 1, \"turns\": []"},
            {"\"version\": 1", "\"version\": 1, \"turns\": {\"run\": \"" + SECRET + "\"}"},
            {"\"version\": 1", "\"version\": 1, \"turns\": {\"run\": {\"user_content\": 5}}"},
            {"\"version\": 1", "\"version\": 1, \"turns\": {\"run\": {\"user_files\": \"" + SECRET + "\"}}"},
        }) {
            assertThat(good).contains(change[0]);
            cases.put(change[0] + " -> " + change[1], utf8(good.replace(change[0], change[1])));
        }
        return cases.entrySet().stream().map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damaged")
    void damage_is_an_error_and_stays_until_it_is_repaired(String name, byte[] damaged) {
        MessageLog limited = another(builder -> builder.maxObjectBytes(LIMIT));
        limited.append(NODE, batch("before"));
        put(NODE_OBJECT, damaged);

        List<ThrowingCallable> calls = calls(limited);
        // The default build makes each fourth call, with some cases the first one, with others the second, …
        int step = Counts.of(4, 1);
        for (int call = Math.floorMod(name.hashCode(), step); call < calls.size(); call += step) {
            assertThatThrownBy(calls.get(call))
                    .isInstanceOf(UnreadableDataException.class)
                    .hasMessageContaining(NODE.canonical())
                    .hasMessageNotContaining(SECRET)
                    .satisfies(e -> assertThat(
                                    e.getCause() == null ? "" : e.getCause().toString())
                            .doesNotContain(SECRET));
        }
        assertThat(bytes(NODE_OBJECT)).isEqualTo(damaged);

        put(NODE_OBJECT, resource("node-memory-v1.json"));
        limited.append(NODE, batch("after"));
        assertThat(branch(limited, NODE)).containsExactly("msg-001", "msg-002", "after");
    }

    /** Changes of the second message of two. */
    static Stream<Arguments> damagedMessages() {
        return Stream.of(new String[][] {
                    {"\"msg-002\"", "2"},
                    {"\"msg-002\"", "\"\""},
                    {"\"message_id\": \"msg-002\",", ""},
                    {"\"role\": \"assistant\",", ""},
                    {"\"assistant\"", "5"},
                    {"\"content\": \"" + SECRET + " lake between mountains.\",", ""},
                    {"\"" + SECRET + " lake between mountains.\"", "{\"text\":\"" + SECRET + "\"}"},
                    {"\"" + SECRET + " lake between mountains.\"", "7"},
                    {"\"files\": []", "\"files\": {}"},
                    {"\"files\": []", "\"files\": [\"" + SECRET + "\"]"},
                    {"50", "\"50\""},
                    {"50", "-1"},
                    {"50", "1.5"},
                    {"50", "99999999999999999999"},
                    {"\"token_count\": 50", "\"keepsake\": 1"},
                })
                .map(change -> Arguments.of(change[0], change[1]));
    }

    @ParameterizedTest(name = "{0} -> {1}")
    @MethodSource("damagedMessages")
    void a_message_that_cannot_be_read_is_marked_and_its_element_stays(String part, String other) {
        String good = resource("node-memory-v1.json").replace("A lake", SECRET + " lake");
        assertThat(good).contains(part);
        put(NODE_OBJECT, good.replace(part, other));
        String element = element(text(NODE_OBJECT), 1);

        assertThatThrownBy(() -> history(log, NODE))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(NODE.canonical())
                .hasMessageNotContaining(SECRET);
        List<Damage> damage = log.check(NODE);
        assertThat(damage).extracting(Damage::sequence).containsExactly(2L);
        Repair repair = log.repair(NODE);
        assertThat(repair.head()).isEqualTo(repair.previousHead());
        log.append(NODE, batch("after"));
        for (MessageLog each : List.of(log, another())) {
            List<LoggedMessage> history = history(each, NODE);
            assertThat(history)
                    .extracting(message -> Outcome.UNREADABLE.equals(message.outcome()))
                    .containsExactly(false, true, false);
            assertThat(branch(each, NODE)).hasSize(3).startsWith("msg-001").endsWith("after");
            assertThat(each.check(NODE)).isEqualTo(damage);
            assertThat(each.repair(NODE).damage()).isEqualTo(damage);
        }
        assertThat(element(text(NODE_OBJECT), 1)).isEqualTo(element);
    }

    @Test
    void each_of_twenty_messages_may_be_the_one_that_cannot_be_read() {
        for (int damaged : Counts.isFull() ? IntStream.range(0, 20).toArray() : new int[] {0, 1, 10, 19}) {
            put(NODE_OBJECT, thread(damaged, "\"content\":7"));
            String element = element(text(NODE_OBJECT), damaged);

            assertThat(log.repair(NODE).damage()).hasSize(1);
            List<LoggedMessage> history = history(another(), NODE);
            assertThat(history).hasSize(20);
            assertThat(history)
                    .filteredOn(message -> Outcome.UNREADABLE.equals(message.outcome()))
                    .containsExactly(history.get(damaged));
            assertThat(branch(another(), NODE)).hasSize(20);
            assertThat(element(text(NODE_OBJECT), damaged)).isEqualTo(element);
            log.erase(NODE);
        }
    }

    @Test
    void messages_that_repeat_an_id_have_one_of_their_own_in_the_view() {
        // A loop: each iteration has the ids of the first one.
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[
                {"message_id":"u","parent_message_id":null,"role":"user","content":"1"},
                {"message_id":"a","parent_message_id":"u","role":"assistant","content":"2"},
                {"message_id":"u","parent_message_id":null,"role":"user","content":"3"},
                {"message_id":"a","parent_message_id":"u","role":"assistant","content":"4"},
                {"message_id":"a#2","parent_message_id":"a","role":"user","content":"5"},
                {"message_id":"a","parent_message_id":"u","role":"assistant","content":"6"}]}
                """);
        List<String> before = IntStream.range(0, 6)
                .mapToObj(i -> element(text(NODE_OBJECT), i))
                .toList();
        List<String> ids = List.of("u", "a", "u#2", "a#3", "a#2", "a#4");

        assertThat(branch(log, NODE)).isEqualTo(ids);
        assertThat(ids(history(log, NODE))).isEqualTo(ids);
        assertThat(log.check(NODE)).isEmpty();
        log.append(NODE, batch("next"));
        assertThat(branch(another(), NODE)).startsWith("u", "a", "u#2", "a#3", "a#2", "a#4", "next");
        assertThat(IntStream.range(0, 6).mapToObj(i -> element(text(NODE_OBJECT), i)))
                .isEqualTo(before);
    }

    private static String thread(int changed, String content) {
        StringBuilder json = new StringBuilder("{\"version\":1,\"messages\":[");
        for (int i = 0; i < 20; i++) {
            json.append(i == 0 ? "" : ",\n")
                    .append("{\"message_id\":\"m%d\",\"parent_message_id\":%s,\"role\":\"%s\",%s}"
                            .formatted(
                                    i,
                                    i == 0 ? "null" : "\"m" + (i - 1) + "\"",
                                    i % 2 == 0 ? "user" : "assistant",
                                    i == changed ? content : "\"content\":\"hi\""));
        }
        return json + "]}";
    }

    /** Returns an element of the messages as it is written. */
    private static String element(String document, int number) {
        try (JsonParser in = RawJson.MAPPER.createParser(document)) {
            while (!"messages".equals(in.currentName()) || in.currentToken() != JsonToken.START_ARRAY) {
                in.nextToken();
            }
            for (int i = 0; ; i++) {
                in.nextToken();
                int start = (int) in.currentTokenLocation().getCharOffset();
                in.skipChildren();
                int end = (int) in.currentLocation().getCharOffset();
                if (i == number) {
                    return document.substring(start, end);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damaged")
    void damage_can_be_erased_and_the_epoch_goes_on(String name, byte[] damaged) {
        long epoch = log.append(NODE, batch("before")).epoch();
        put(NODE_OBJECT, damaged);
        MessageLog limited = another(builder -> builder.maxObjectBytes(LIMIT));

        assertThat(limited.erase(NODE)).isGreaterThan(epoch);
        limited.append(NODE, batch("after"));

        assertThat(branch(log, NODE)).containsExactly("after");
    }

    @Test
    void what_lies_beside_the_document_is_part_of_it() {
        log.append(NODE, batch("a"));
        log.append(NODE, io.github.keepsake4j.log.Append.viewOnly(io.github.keepsake4j.log.View.of(null, List.of())));
        String beside = objects().stream()
                .filter(name -> !name.equals(NODE_OBJECT))
                .findFirst()
                .orElseThrow();
        byte[] good = bytes(beside);
        put(beside, "{\"version\":1,\"messages\":7}");
        byte[] document = bytes(NODE_OBJECT);
        MessageLog other = another();

        for (ThrowingCallable call : calls(other)) {
            assertThatThrownBy(call).isInstanceOf(UnreadableDataException.class).hasMessageContaining(NODE.canonical());
        }
        assertThat(bytes(NODE_OBJECT)).isEqualTo(document);

        put(beside, good);
        assertThat(ids(history(other, NODE))).as("it was repaired").containsExactly("a");
    }

    @Test
    void the_document_of_another_memory_is_not_taken_for_ones_own() {
        var longId = io.github.keepsake4j.message.NodeKey.of("default", "ü".repeat(256), "c", "n");
        var other = io.github.keepsake4j.message.NodeKey.of("default", "ü".repeat(256), "c", "m");
        log.append(longId, batch("a"));
        put(nameOf(other), text(nameOf(longId)));

        assertThatThrownBy(() -> log.read(other, ReadQuery.newest(1))).isInstanceOf(UnreadableDataException.class);
    }

    private static List<ThrowingCallable> calls(MessageLog log) {
        List<ThrowingCallable> calls = new ArrayList<>();
        calls.add(() -> log.append(NODE, batch("b")));
        calls.add(() -> log.append(NODE, batch("before")));
        calls.add(() -> log.read(NODE, ReadQuery.newest(1)));
        calls.add(() -> log.read(NODE, ReadQuery.newest(0)));
        calls.add(() -> log.history(NODE, HistoryQuery.newest(1)));
        calls.add(() -> log.branches(NODE));
        calls.add(() -> Logs.summaries(log, NODE));
        calls.add(() -> Logs.moveHead(log, NODE, "msg-001", null));
        calls.add(() -> Logs.describe(log, NODE, "title", Map.of()));
        calls.add(() -> Logs.mergeMetadata(log, NODE, Map.of("name", "text")));
        calls.add(() -> Logs.mergeMetadata(log, NODE, Map.of()));
        calls.add(() ->
                Logs.putSummary(log, NODE, new Summary("msg-001", "text", 1, "counter", 1, 1, null, Instant.EPOCH), 1));
        calls.add(() -> log.acquireLease(NODE, "work", "me", Duration.ofSeconds(9)));
        calls.add(() -> log.releaseLease(NODE, "work", "me"));
        return calls;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_small_object_that_inflates_to_more_than_the_heap_is_refused_and_the_process_goes_on() throws Exception {
        ByteArrayOutputStream small = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(small)) {
            byte[] spaces = " ".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < Counts.of(140, 2_000); i++) {
                gzip.write(spaces);
            }
        }
        put(NODE_OBJECT, small.toByteArray());
        Child child = Child.start(
                List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                SmallHeap.class,
                server.port(),
                bucket);
        assertThat(child.awaitEnd()).contains("refused", "went on");
    }

    /** A process with little heap. */
    static final class SmallHeap {
        public static void main(String[] arguments) {
            try (S3Client client = S3Server.client(Integer.parseInt(arguments[0]));
                    MessageLog log = S3MessageLog.builder()
                            .client(client)
                            .bucket(arguments[1])
                            .build()) {
                try {
                    log.read(NODE, ReadQuery.newest(1));
                } catch (UnreadableDataException e) {
                    System.out.println("refused");
                }
                log.append(ConversationKey.of("default", "other"), batch("a"));
                System.out.println("went on");
            }
        }
    }
}
