package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Documents that cannot be read block no other memory, and their bytes are never lost. */
@Timeout(600)
class DamagedDocumentsTest extends BucketFixture {

    private S3MessageLog bucketLog() {
        return (S3MessageLog) log;
    }

    @Test
    @ExpectedLog("is not removed")
    void a_truncated_document_stops_no_list_and_no_clean_up() {
        MemoryKey good = ConversationKey.of("default", "good");
        log.append(good, batch("a"));
        put(NODE_OBJECT, "{\"version\":1,\"messages\":[{\"message_id\":\"a\",\"ro");

        MemoryPage page = log.list("default", ListQuery.first(10));
        assertThat(page.memories()).extracting(MemoryInfo::key).containsExactly(good);
        assertThat(page.damaged()).singleElement().satisfies(damaged -> {
            assertThat(damaged.name()).isEqualTo(NODE_OBJECT);
            assertThat(damaged.key()).isEqualTo(NODE);
            assertThat(damaged.problem()).contains("not JSON", "quarantine");
        });
        assertThat(log.list("default", ListQuery.first(10).byActivity()).damaged())
                .hasSize(1);
        assertThat(CleanUp.of(log).conversation(ConversationKey.of("default", "conversation")))
                .isEqualTo(new CleanUp.Report(2, 0, 0, 1));
        assertThat(CleanUp.of(log).conversation(ConversationKey.of("default", "good")))
                .as("a damaged memory of another conversation is none of its")
                .isEqualTo(new CleanUp.Report(2, 1, 1, 0));
        assertThat(CleanUp.of(log).idleFor(Duration.ofDays(1)).run("default"))
                .isEqualTo(new CleanUp.Report(1, 0, 0, 1));
    }

    @Test
    @ExpectedLog("is not removed")
    void many_kinds_of_damage_among_good_documents() throws Exception {
        int good = Counts.of(100, 1_000);
        int eachKind = Counts.of(1, 5);
        List<MemoryKey> sound = new ArrayList<>();
        for (int i = 0; i < good; i++) {
            MemoryKey key = i % 2 == 0
                    ? ConversationKey.of("default", "good" + i)
                    : NodeKey.of("default", "app", "c" + i % 10, "good" + i);
            sound.add(key);
            server.put(bucket, nameOf(key), resource("node-memory-v1.json").getBytes(StandardCharsets.UTF_8));
        }
        Map<String, byte[]> damaged = new LinkedHashMap<>();
        for (int i = 0; i < eachKind; i++) {
            for (Map.Entry<String, byte[]> kind : kinds().entrySet()) {
                MemoryKey key = damaged.size() % 2 == 0
                        ? ConversationKey.of("default", kind.getKey() + i)
                        : NodeKey.of("default", "app", kind.getKey(), "ü".repeat(damaged.size() % 3 * 120) + "n" + i);
                damaged.put(nameOf(key), kind.getValue());
                put(nameOf(key), kind.getValue());
            }
        }
        assertThat(damaged).hasSize(14 * eachKind);

        assertThat(damagedNames()).containsExactlyInAnyOrderElementsOf(damaged.keySet());
        assertThat(list(log, "default", 70)).extracting(MemoryInfo::key).containsExactlyInAnyOrderElementsOf(sound);
        assertThat(CleanUp.of(another()).idleFor(Duration.ofDays(100_000)).run("default"))
                .isEqualTo(new CleanUp.Report(good + damaged.size(), 0, 0, damaged.size()));
        Map<String, byte[]> kept = new LinkedHashMap<>();
        damaged.forEach((name, bytes) -> {
            assertThat(bytes(name)).as(name).isEqualTo(bytes);
            kept.put(bucketLog().quarantine(name), bytes);
        });
        assertThat(damagedNames()).isEmpty();
        for (MemoryKey key : sound) {
            assertThat(branch(log, key)).containsExactly("msg-001", "msg-002");
        }
        for (String name : damaged.keySet()) {
            MemoryKey key = new ObjectNames("", "default").key(name);
            if (key != null) {
                log.append(key, batch("anew"));
                assertThat(branch(another(), key)).containsExactly("anew");
            }
        }
        kept.forEach((name, bytes) -> assertThat(bytes(name)).as(name).isEqualTo(bytes));
    }

    private List<String> damagedNames() {
        List<String> names = new ArrayList<>();
        for (Optional<ListQuery> next = Optional.of(ListQuery.first(70)); next.isPresent(); ) {
            MemoryPage page = log.list("default", next.get());
            page.damaged().stream().map(Damaged::name).forEach(names::add);
            next = page.next();
        }
        return names;
    }

    private static Map<String, byte[]> kinds() throws IOException {
        String good = resource("node-memory-v1.json");
        byte[] zipped = gzip(utf8(good));
        byte[] broken = utf8(good);
        broken[good.indexOf("lake")] = (byte) 0xff;
        Map<String, byte[]> kinds = new LinkedHashMap<>();
        kinds.put("empty", new byte[0]);
        kinds.put("text", utf8("no JSON"));
        kinds.put("truncated", utf8(good.substring(0, good.length() / 2)));
        kinds.put("truncated-at-the-end", utf8(good.substring(0, good.lastIndexOf('}'))));
        kinds.put("trailing", utf8(good + "{}"));
        kinds.put("array", utf8("[" + good + "]"));
        kinds.put("gzip", Arrays.copyOf(zipped, zipped.length - 12));
        kinds.put("encoding", broken);
        kinds.put("utf16", good.getBytes(StandardCharsets.UTF_16));
        kinds.put("version", utf8(good.replace("\"version\": 1", "\"version\": 2")));
        kinds.put("no-version", utf8(good.replace("\"version\": 1,", "")));
        kinds.put("no-array", utf8("{\"version\":1,\"messages\":{}}"));
        kinds.put("field", utf8(good.replace("\"version\": 1", "\"version\": 1, \"keepsake\": {\"views\": 3}")));
        kinds.put("turns", utf8(good.replace("\"version\": 1", "\"version\": 1, \"turns\": []")));
        return kinds;
    }

    @Test
    void what_was_put_aside_begins_anew_and_goes_with_the_memory() {
        long epoch = log.append(NODE, batch("a", "b")).epoch();
        log.append(NODE, Append.viewOnly(View.of(null, List.of())));
        String kept = objects().get(0);
        byte[] cleared = bytes(kept);
        log.append(NODE, batch("c"));
        byte[] damaged = Arrays.copyOf(bytes(NODE_OBJECT), 60);
        put(NODE_OBJECT, damaged);
        assertThatThrownBy(() -> log.append(NODE, batch("d")))
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining("quarantine");

        String aside = bucketLog().quarantine(NODE_OBJECT);

        assertThat(objects()).hasSize(2).allMatch(name -> name.startsWith(aside));
        assertThat(bytes(aside)).isEqualTo(damaged);
        assertThat(bytes(objects().get(1))).as("its cleared messages").isEqualTo(cleared);
        assertThat(log.read(NODE, ReadQuery.newest(1)).messages()).isEmpty();
        assertThatThrownBy(() -> another().append(NODE, batch("d").inEpoch(epoch)))
                .isInstanceOf(ErasedException.class);
        log.append(NODE, batch("e"));
        assertThat(branch(another(), NODE)).containsExactly("e");
        assertThat(bytes(aside)).isEqualTo(damaged);
        log.erase(NODE);
        assertThat(objects()).isEmpty();
    }

    @Test
    void only_a_damaged_document_of_this_log_is_put_aside() {
        log.append(NODE, batch("a"));
        List<String> others =
                List.of("node_memory/package.json", "conversation_memory/a/b.json", "node_memory/a/!b.json");
        others.forEach(name -> put(name, "no memory"));
        assertThat(damagedNames()).isEmpty();
        List<String> names = new ArrayList<>(others);
        names.addAll(List.of(NODE_OBJECT, "node_memory/not/there/x.json", "images/cat.png", "aside/objects/x"));
        for (String name : names) {
            assertThatThrownBy(() -> bucketLog().quarantine(name))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("objectName");
        }
        others.forEach(name -> assertThat(text(name)).isEqualTo("no memory"));
        assertThat(branch(log, NODE)).containsExactly("a");
    }

    @Test
    void an_answer_that_is_lost_loses_no_damaged_bytes() {
        byte[] damaged = utf8("no JSON");
        put(NODE_OBJECT, damaged);
        once("PUT " + NODE_OBJECT, false, () -> S3Server.fail(500));

        String aside = bucketLog().quarantine(NODE_OBJECT);

        server.leaveAlone();
        assertThat(bytes(aside)).isEqualTo(damaged);
        assertThat(objects()).containsExactly(aside);
    }

    @Test
    @ExpectedLog({"is not removed", "its tokens are not counted"})
    void a_null_in_our_own_field_is_damage_like_any_other() {
        MemoryKey good = ConversationKey.of("default", "good");
        log.append(good, batch("a"));
        for (String part : List.of(
                "\"counters\":[null]", "\"summaries\":[null]", "\"writes\":[null]", "\"metadata\":{\"x\":null}")) {
            put(
                    NODE_OBJECT,
                    """
                    {"version":1,"messages":[{"message_id":"a","role":"user","content":"hi"}],
                    "keepsake":{"last":"a","head":"a","created_at":"2026-01-01T00:00:00Z",%s}}
                    """
                            .formatted(part));
            MemoryPage page = another().list("default", ListQuery.first(10));
            assertThat(page.memories()).extracting(MemoryInfo::key).containsExactly(good);
            assertThat(page.damaged()).extracting(Damaged::key).containsExactly(NODE);
            assertThat(CleanUp.of(another()).run("default")).isEqualTo(new CleanUp.Report(2, 0, 0, 1));
            assertThat(Logs.usage(another(), "default", LocalDate.EPOCH, LocalDate.of(2100, 1, 1)))
                    .isEmpty();
            assertThatThrownBy(() -> another().read(NODE, ReadQuery.newest(1)))
                    .isInstanceOf(UnreadableDataException.class);
            assertThatThrownBy(() -> another().append(NODE, batch("b"))).isInstanceOf(UnreadableDataException.class);
            bucketLog().quarantine(NODE_OBJECT);
            another().append(NODE, batch("b"));
            another().erase(NODE);
        }
    }

    @Test
    void what_is_being_put_aside_survives_a_crash() {
        byte[] damaged = utf8("no JSON");
        for (Runnable next : List.<Runnable>of(() -> another().append(NODE, batch("anew")), () -> CleanUp.of(another())
                .run("default"))) {
            another().erase(NODE);
            put(NODE_OBJECT, damaged);
            S3MessageLog dying = (S3MessageLog) another();
            dieAfterPutting(NODE_OBJECT, () -> dying.quarantine(NODE_OBJECT));

            next.run();

            assertThat(putAside()).singleElement().satisfies(aside -> assertThat(bytes(aside))
                    .isEqualTo(damaged));
        }
    }

    @Test
    void what_was_put_aside_survives_a_crash_at_the_end_of_a_lease() {
        byte[] damaged = utf8("no JSON");
        put(NODE_OBJECT, damaged);
        bucketLog().quarantine(NODE_OBJECT);
        MessageLog dying = another();
        dying.acquireLease(NODE, "turn", "me", Duration.ofHours(1));
        dieAfterPutting(NODE_OBJECT, () -> dying.releaseLease(NODE, "turn", "me"));

        another().append(NODE, batch("anew"));

        assertThat(putAside()).singleElement().satisfies(aside -> assertThat(bytes(aside))
                .isEqualTo(damaged));
    }

    private List<String> putAside() {
        return objects().stream().filter(name -> name.contains("/damaged-")).toList();
    }

    /** Does some work in a process that is killed when it has written an object. */
    private void dieAfterPutting(String object, Runnable work) {
        AtomicBoolean dead = new AtomicBoolean();
        server.before(request -> {
            if (dead.get()) {
                S3Server.fail(503);
            }
        });
        server.after(request -> dead.compareAndSet(false, request.equals("PUT " + object)));
        assertThatThrownBy(work::run).isInstanceOf(StorageUnavailableException.class);
        server.leaveAlone();
    }

    /** The one runs as a whole between two requests of the other one, wherever that is. */
    @Test
    void an_erasure_and_a_quarantine_that_meet_leave_nothing() {
        for (boolean erasureIsLonger : new boolean[] {true, false}) {
            boolean met = true;
            for (int at = 1; met; at++) {
                bucket = server.newBucket();
                another().append(NODE, batch(SECRET, "b"));
                another().append(NODE, Append.viewOnly(View.of(null, List.of())));
                put(NODE_OBJECT, "no JSON " + SECRET);
                MessageLog eraser = another();
                S3MessageLog mover = (S3MessageLog) another();
                Runnable erasure = () -> eraser.erase(NODE);
                Runnable quarantine = () -> quarantine(mover);
                AtomicInteger left = new AtomicInteger(at);
                server.before(request -> {
                    if (left.decrementAndGet() == 0) {
                        server.leaveAlone();
                        (erasureIsLonger ? quarantine : erasure).run();
                    }
                });
                (erasureIsLonger ? erasure : quarantine).run();
                server.leaveAlone();
                met = left.get() <= 0;
                if (met) {
                    String where = (erasureIsLonger ? "erasure" : "quarantine") + ", before request " + at;
                    // A quarantine that comes after the erasure's mark finds nothing that is damaged.
                    assertThat(objects()).as(where).isEmpty();
                    assertThat(history(another(), NODE)).as(where).isEmpty();
                }
            }
        }
    }

    /** The memory may have been erased before, or meanwhile. */
    private static void quarantine(S3MessageLog log) {
        try {
            log.quarantine(NODE_OBJECT);
        } catch (InvalidInputException e) {
            assertThat(e).hasMessageContaining("objectName");
        } catch (StorageUnavailableException e) {
            assertThat(e).hasMessageContaining("changed meanwhile");
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
