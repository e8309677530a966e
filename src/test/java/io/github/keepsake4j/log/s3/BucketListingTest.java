package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.WalkWhileWriting;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Tell;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.s3.S3Client;

/** Lists of a bucket: their order, and the requests that they take. */
@Timeout(900)
class BucketListingTest extends BucketFixture {

    private static final String DOCUMENT =
            """
            {"version":1,"messages":[
            {"message_id":"a","parent_message_id":null,"role":"user","content":"hi","files":[],"token_count":1,
            "created_at":"2020-01-07T10:00:00Z"}]}
            """;

    @Test
    void a_page_costs_what_it_returns_and_a_clean_up_reads_each_document_once() {
        int count = Counts.of(100, 25_000);
        int page = Counts.of(30, 100);
        byte[] document = DOCUMENT.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < count; i++) {
            server.put(bucket, nameOf(NodeKey.of("default", "app", "c" + i % 100, "n" + i)), document);
        }
        for (boolean byActivity : new boolean[] {false, true}) {
            MessageLog fresh = another();
            Optional<ListQuery> next =
                    Optional.of(byActivity ? ListQuery.first(page).byActivity() : ListQuery.first(page));
            Set<MemoryKey> met = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                Counted got = counted(fresh, next.orElseThrow());
                Tell.line(
                        "%d documents, page %d %s: %s",
                        count, i + 1, byActivity ? "by activity" : "by name", got.requests());
                got.memories().forEach(info -> assertThat(met.add(info.key())).isTrue());
                assertThat(got.memories()).hasSize(page);
                assertThat(got.gets()).isLessThanOrEqualTo(page);
                assertThat(got.lists()).isLessThanOrEqualTo(byActivity ? (count + 999) / 1_000 : 2);
                next = got.next();
            }
        }
        List<CleanUp.Report> reports = new ArrayList<>();
        int gets = wire.count("GET");
        int lists = wire.count("LIST");
        int deletes = wire.count("DELETE");
        int puts;
        try (MessageLog fresh = another()) {
            puts = wire.count("PUT");
            reports.add(CleanUp.of(fresh)
                    .idleFor(Duration.ofHours(1))
                    .inBatchesOf(page)
                    .run("default"));
        }
        Tell.line(
                "%d documents, clean-up of all: %d GET, %d PUT, %d LIST, %d DELETE",
                count,
                wire.count("GET") - gets,
                wire.count("PUT") - puts,
                wire.count("LIST") - lists,
                wire.count("DELETE") - deletes);
        assertThat(reports).containsExactly(new CleanUp.Report(count, count, count, 0));
        assertThat(wire.count("GET") - gets).isLessThanOrEqualTo(count);
        assertThat(wire.count("DELETE") - deletes).isEqualTo(count);
        // Each removed memory takes a list of what is beside it, a mark and a tombstone.
        assertThat(wire.count("LIST") - lists).isLessThanOrEqualTo(count + count / page + count / 1_000 + 2);
        assertThat(wire.count("PUT") - puts).isEqualTo(2 * count);
        assertThat(objects()).isEmpty();
    }

    @Test
    void a_page_takes_as_many_requests_among_many_as_among_few_and_a_walk_misses_nothing_while_others_write() {
        byte[] document = DOCUMENT.getBytes(StandardCharsets.UTF_8);
        List<ConversationKey> all = new ArrayList<>();
        List<String> few = List.of();
        for (int count : new int[] {Counts.of(100, 2_500), Counts.of(1_100, 25_000)}) {
            for (int i = all.size(); i < count; i++) {
                ConversationKey key = ConversationKey.of("default", String.format("c%08d", i));
                server.put(bucket, nameOf(key), document);
                all.add(key);
            }
            ListQuery middle = new ListQuery(20, nameOf(all.get(count / 2)));
            ListQuery last = new ListQuery(20, nameOf(all.get(count - 21)));
            List<String> requests = new ArrayList<>();
            for (ListQuery query : List.of(ListQuery.first(20), middle, last)) {
                Counted page = counted(another(), query);
                assertThat(page.memories()).hasSize(20);
                requests.add(page.requests());
            }
            Counted active = counted(another(), ListQuery.first(20).byActivity());
            Tell.line("%d documents, first, middle and last page of 20: %s", count, requests);
            Tell.line("%d documents, a page of 20 by activity: %s", count, active.requests());
            assertThat(few.isEmpty() ? requests : few).isEqualTo(requests);
            // A bucket is ordered by names only, so all names are listed, 1,000 at once.
            assertThat(active.requests()).isEqualTo("20 GET, " + (count + 999) / 1_000 + " LIST");
            if (few.isEmpty()) {
                try (S3Client own = S3Server.client(server.port());
                        MessageLog others = S3MessageLog.builder()
                                .client(own)
                                .bucket(bucket)
                                .build()) {
                    WalkWhileWriting.check(another(), others, ListQuery.first(20), List.copyOf(all));
                    WalkWhileWriting.check(
                            another(), others, ListQuery.first(20).byActivity(), List.copyOf(all));
                }
                // Those that were made meanwhile are no part of the count.
                objects().stream().filter(name -> name.contains("new")).forEach(this::delete);
                few = requests;
            }
        }
    }

    /** A bucket has no lists by metadata. */
    @Test
    void a_page_by_metadata_reads_each_document_once() {
        int count = Counts.of(100, 2_500);
        try (MessageLog log = another(builder -> builder.listedMetadata("owner"))) {
            for (int i = 0; i < count; i++) {
                log.append(ConversationKey.of("default", "c" + i), batch("a").creating(Map.of("owner", "u" + i % 50)));
            }
        }
        MessageLog fresh = another(builder -> builder.listedMetadata("owner"));
        for (ListQuery first : List.of(ListQuery.first(20), ListQuery.first(20).byActivity())) {
            Counted page = counted(fresh, first.withMetadata("owner", "u7"));
            Tell.line("%d documents, a page of one of 50 owners: %s", count, page.requests());
            assertThat(page.memories()).hasSize(Math.min(20, count / 50));
            assertThat(page.gets()).isLessThanOrEqualTo(first.activeFirst() ? 0 : count);
            assertThat(page.lists()).isLessThanOrEqualTo((count + 999) / 1_000 + 1);
        }
    }

    private void delete(String object) {
        client.deleteObject(request -> request.bucket(bucket).key(object));
    }

    private record Counted(List<MemoryInfo> memories, Optional<ListQuery> next, int gets, int lists) {
        String requests() {
            return gets + " GET, " + lists + " LIST";
        }
    }

    private Counted counted(MessageLog log, ListQuery query) {
        int gets = wire.count("GET");
        int lists = wire.count("LIST");
        MemoryPage page = log.list("default", query);
        return new Counted(page.memories(), page.next(), wire.count("GET") - gets, wire.count("LIST") - lists);
    }

    @Test
    void what_lies_beside_documents_and_what_others_put_there_costs_no_reads() {
        for (int i = 0; i < 10; i++) {
            MemoryKey key =
                    i % 2 == 0 ? ConversationKey.of("default", "c" + i) : NodeKey.of("default", "a", "c", "n" + i);
            log.append(key, batch("a", "b"));
            log.append(key, Append.viewOnly(View.of(null, List.of())));
            log.append(ConversationKey.of("other", "c" + i), batch("x"));
            log.erase(ConversationKey.of("default", "erased " + i));
        }
        for (int i = 0; i < 30; i++) {
            put("data/" + i + ".json", "not ours");
            put("zebra/" + i + ".json", "not ours");
        }
        MessageLog fresh = another();

        Counted first = counted(fresh, ListQuery.first(5));
        assertThat(first.requests()).isEqualTo("5 GET, 1 LIST");
        Counted second = counted(fresh, first.next().orElseThrow());
        assertThat(second.requests()).isEqualTo("5 GET, 2 LIST");
        assertThat(first.memories())
                .extracting(info -> info.key().canonical())
                .containsExactly(
                        "conversation/default/c0",
                        "conversation/default/c2",
                        "conversation/default/c4",
                        "conversation/default/c6",
                        "conversation/default/c8");
        assertThat(second.memories()).hasSize(5).allSatisfy(info -> {
            assertThat(info.key()).isInstanceOf(NodeKey.class);
            assertThat(info.messages()).as("with the cleared ones").isEqualTo(2);
            assertThat(info.tokens()).isEqualTo(20);
            assertThat(info.lastMessageAt()).isNotNull();
        });
        assertThat(list(another(), "default", 4)).hasSize(10);
        assertThat(list(another(), "other", 4)).hasSize(10);
    }

    @Test
    void a_memory_that_is_written_to_moves_to_the_front_of_a_list_by_activity() {
        List<MemoryKey> made = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            made.add(0, ConversationKey.of("default", "c" + (3 * i) % 4));
            log.append(made.get(0), batch("a"));
            nextMoment(made.get(0));
        }
        assertThat(byActivity(2)).isEqualTo(made);
        MemoryPage page = log.list("default", ListQuery.first(2).byActivity());
        log.append(made.get(3), batch("b"));
        nextMoment(made.get(3));
        log.append(made.get(1), batch("b"));
        nextMoment(made.get(1));

        List<MemoryKey> rest = new ArrayList<>();
        for (Optional<ListQuery> next = page.next(); next.isPresent(); ) {
            MemoryPage more = log.list("default", next.get());
            more.memories().forEach(info -> rest.add(info.key()));
            next = more.next();
        }
        assertThat(rest).as("those that were not written to, each once").isEqualTo(made.subList(2, 3));
        assertThat(byActivity(2)).startsWith(made.get(1), made.get(3));
    }

    /** The server's times may be whole seconds, in which the names would decide. */
    @Test
    void within_a_minute_a_page_is_in_the_order_of_the_newest_messages() {
        List<MemoryKey> made = new ArrayList<>();
        for (String id : List.of("c", "b", "a", "c", "b")) {
            MemoryKey key = ConversationKey.of("default", id);
            log.append(key, batch(UUID.randomUUID().toString()));
            made.remove(key);
            made.add(0, key);
        }
        assertThat(byActivity(5)).isEqualTo(made);
    }

    private List<MemoryKey> byActivity(int limit) {
        List<MemoryKey> met = new ArrayList<>();
        for (Optional<ListQuery> next = Optional.of(ListQuery.first(limit).byActivity()); next.isPresent(); ) {
            MemoryPage page = log.list("default", next.get());
            page.memories().forEach(info -> met.add(info.key()));
            next = page.next();
        }
        return met;
    }

    /** Waits until the server's times, which may be whole seconds, tell a later write apart. */
    private void nextMoment(MemoryKey last) {
        Instant written = writtenAt(nameOf(last));
        Awaitility.await().pollInterval(Duration.ofMillis(20)).until(() -> {
            put("probe", "x");
            return writtenAt("probe").isAfter(written);
        });
    }

    private Instant writtenAt(String object) {
        return client.listObjectsV2(request -> request.bucket(bucket).prefix(object))
                .contents()
                .get(0)
                .lastModified();
    }

    @Test
    void a_cursor_is_that_of_its_own_list() {
        for (int i = 0; i < 3; i++) {
            log.append(ConversationKey.of("default", "c" + i), batch("a"));
        }
        String byName =
                log.list("default", ListQuery.first(1)).next().orElseThrow().cursor();
        String byActivity = log.list("default", ListQuery.first(1).byActivity())
                .next()
                .orElseThrow()
                .cursor();
        for (ListQuery query : List.of(
                new ListQuery(1, byActivity),
                new ListQuery(1, byName).byActivity(),
                new ListQuery(1, "aside/objects/"),
                new ListQuery(1, "2026-01-01T00:00:00Z aside/").byActivity(),
                new ListQuery(1, "today conversation_memory/").byActivity())) {
            assertThatThrownBy(() -> log.list("default", query))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("cursor");
        }
    }

    @Test
    void a_clean_up_leaves_alone_what_changed_after_it_was_listed() {
        MessageLog other = another();
        log.append(NODE, batch("a"));
        assertThat(list(log, "default", 10)).hasSize(1);
        other.append(NODE, batch("b"));

        assertThat(log.eraseIfIdle(NODE, Instant.now().plusSeconds(60))).isFalse();
        assertThat(branch(other, NODE)).containsExactly("a", "b");
        assertThat(list(log, "default", 10)).hasSize(1);
        assertThat(log.eraseIfIdle(NODE, Instant.now().minusSeconds(60))).isFalse();
        assertThat(log.eraseIfIdle(NODE, Instant.now().plusSeconds(60))).isTrue();
        assertThat(objects()).isEmpty();
    }
}
