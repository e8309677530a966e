package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Listing a tenant's memories, and what the list shows of one. */
public interface ListingContract extends LogUnderTest {

    @Test
    default void a_list_shows_what_aMemory_holds() {
        log().append(KEY, batch("a", "b"));
        clock().advance(Duration.ofSeconds(5));
        log().append(KEY, batchUnder("a", "c"));
        Instant created = Instant.parse("2026-01-02T03:04:05.123456Z");

        assertThat(list(log(), "acme", 10))
                .containsExactly(new MemoryInfo(KEY, null, Map.of(), 3, 30, created, created.plusSeconds(5), created));
    }

    @Test
    default void a_title_alone_makes_aMemory() {
        Logs.describe(log(), KEY, "a title", Map.of("user", "7"));

        Instant created = Instant.parse("2026-01-02T03:04:05.123456Z");
        assertThat(list(log(), "acme", 10))
                .containsExactly(new MemoryInfo(KEY, "a title", Map.of("user", "7"), 0, 0, created, null, created));
    }

    @Test
    default void reading_or_aLease_makes_no_memory() {
        log().read(KEY, ReadQuery.newest(1));
        log().acquireLease(KEY, "work", "one", Duration.ofSeconds(1));
        log().releaseLease(KEY, "work", "one");

        assertThat(list(log(), "acme", 10)).isEmpty();
    }

    @Test
    default void title_and_metadata_come_back_as_they_were_set() {
        Map<String, String> metadata = new HashMap<>();
        metadata.put("it's \"quoted\"", "back\\slash, {\"json\": [1]}");
        metadata.put("", "");
        metadata.put("Zürich 😀", "line\nbreak\ttab \u2028 e\u0301");
        metadata.put("nul \0", "half \ud83d");
        for (String title : new String[] {"", "it's \"quoted\" \\ 100 % 😀\n", "x".repeat(1000)}) {
            Logs.describe(log(), KEY, title, metadata);

            MemoryInfo info = list(log(), "acme", 10).get(0);
            assertThat(info.title()).isEqualTo(title);
            assertThat(info.metadata()).isEqualTo(metadata);
        }
    }

    @Test
    default void describing_replaces_what_was_there_and_keeps_the_messages() {
        log().append(KEY, batch("a"));
        Logs.describe(log(), KEY, "first", Map.of("a", "1", "b", "2"));
        Logs.describe(log(), KEY, null, Map.of("c", "3"));

        MemoryInfo info = list(log(), "acme", 10).get(0);
        assertThat(info.title()).isNull();
        assertThat(info.metadata()).isEqualTo(Map.of("c", "3"));
        assertThat(info.messages()).isEqualTo(1);
        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void merging_keeps_the_other_names_and_the_title() {
        log().append(KEY, batch("a"));
        Logs.describe(log(), KEY, "a title", Map.of("a", "1", "b", "2"));

        assertThat(Logs.mergeMetadata(log(), KEY, changes("b", "3", "c", "4")))
                .isEqualTo(Map.of("a", "1", "b", "3", "c", "4"));
        assertThat(Logs.mergeMetadata(log(), KEY, changes("a", null, "unknown", null)))
                .isEqualTo(Map.of("b", "3", "c", "4"));
        assertThat(Logs.mergeMetadata(log(), KEY, Map.of())).isEqualTo(Map.of("b", "3", "c", "4"));
        MemoryInfo info = list(log(), "acme", 10).get(0);
        assertThat(info.title()).isEqualTo("a title");
        assertThat(info.metadata()).isEqualTo(Map.of("b", "3", "c", "4"));
        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void a_title_is_set_without_the_metadata() {
        Logs.setTitle(log(), KEY, "alone");
        assertThat(list(log(), "acme", 10).get(0).title()).isEqualTo("alone");

        Logs.describe(log(), KEY, "first", Map.of("a", "1", "nul \0", "half \ud83d"));
        log().append(KEY, batch("a"));
        Logs.setTitle(log(), KEY, "it's \"quoted\" 😀");
        MemoryInfo info = list(log(), "acme", 10).get(0);
        assertThat(info.title()).isEqualTo("it's \"quoted\" 😀");
        assertThat(info.metadata()).isEqualTo(Map.of("a", "1", "nul \0", "half \ud83d"));
        assertThat(branch(log(), KEY)).containsExactly("a");

        Logs.setTitle(log(), KEY, null);
        assertThat(list(log(), "acme", 10).get(0).title()).isNull();
        assertThat(Logs.mergeMetadata(log(), KEY, Map.of())).isEqualTo(info.metadata());
        for (String wrong : List.of("nul \0", "x".repeat(1001), "half \ud83d")) {
            assertThatThrownBy(() -> Logs.setTitle(log(), KEY, wrong))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("title");
        }
    }

    @Test
    default void titles_and_metadata_that_are_set_at_the_same_time_are_all_there() throws Exception {
        log().append(KEY, batch("a"));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<?> titles = threads.submit(() -> {
                for (int i = 0; i < 20; i++) {
                    Logs.setTitle(log(), KEY, "title " + i);
                }
            });
            for (int i = 0; i < 20; i++) {
                Logs.mergeMetadata(log(), KEY, Map.of("name " + i, "text"));
            }
            titles.get();
        } finally {
            threads.shutdown();
        }

        MemoryInfo info = list(log(), "acme", 10).get(0);
        assertThat(info.title()).isEqualTo("title 19");
        assertThat(info.metadata()).hasSize(20);
    }

    @Test
    default void merging_makes_aMemory_only_to_keep_aText() {
        assertThat(Logs.mergeMetadata(log(), KEY, Map.of())).isEmpty();
        assertThat(Logs.mergeMetadata(log(), KEY, changes("a", null))).isEmpty();
        assertThat(list(log(), "acme", 10)).isEmpty();

        assertThat(Logs.mergeMetadata(log(), KEY, changes("a", "1"))).isEqualTo(Map.of("a", "1"));
        Instant created = Instant.parse("2026-01-02T03:04:05.123456Z");
        assertThat(list(log(), "acme", 10))
                .containsExactly(new MemoryInfo(KEY, null, Map.of("a", "1"), 0, 0, created, null, created));
    }

    @Test
    default void any_text_can_be_merged_and_no_name_is_null() {
        Map<String, String> metadata = changes("", "", "nul \0", "half \ud83d", "Zürich 😀", "line\nbreak \"quoted\"");
        assertThat(Logs.mergeMetadata(log(), KEY, metadata)).isEqualTo(metadata);
        assertThat(Logs.mergeMetadata(log(), KEY, Map.of())).isEqualTo(metadata);
        assertThat(Logs.mergeMetadata(log(), KEY, changes("", null, "nul \0", null)))
                .hasSize(1)
                .containsEntry("Zürich 😀", "line\nbreak \"quoted\"");

        assertThatThrownBy(() -> Logs.mergeMetadata(log(), KEY, changes(null, "text")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("metadata");
    }

    @Test
    default void an_erased_memory_has_no_metadata() {
        Logs.mergeMetadata(log(), KEY, changes("a", "1"));
        log().erase(KEY);
        assertThat(Logs.mergeMetadata(log(), KEY, changes("b", null))).isEmpty();
        assertThat(list(log(), "acme", 10)).isEmpty();

        assertThat(Logs.mergeMetadata(log(), KEY, changes("b", "2"))).isEqualTo(Map.of("b", "2"));
    }

    private static Map<String, String> changes(String... namesAndTexts) {
        Map<String, String> changes = new HashMap<>();
        for (int i = 0; i < namesAndTexts.length; i += 2) {
            changes.put(namesAndTexts[i], namesAndTexts[i + 1]);
        }
        return changes;
    }

    @Test
    default void text_that_cannot_be_kept_as_it_is_is_refused() {
        for (String title : new String[] {"x".repeat(1001), "nul\0", "half \ud83d"}) {
            assertThatThrownBy(() -> Logs.describe(log(), KEY, title, Map.of()))
                    .isInstanceOf(InvalidInputException.class);
        }
        Map<String, String> withNull = new HashMap<>();
        withNull.put("name", null);
        assertThatThrownBy(() -> Logs.describe(log(), KEY, null, withNull)).isInstanceOf(InvalidInputException.class);
        assertThat(list(log(), "acme", 10)).isEmpty();
    }

    @Test
    default void memories_are_listed_in_the_order_of_the_log() {
        List<MemoryKey> made = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            made.add(0, i % 2 == 0 ? ConversationKey.of("acme", "c" + i) : NodeKey.of("acme", "app", "c", "n" + i));
            log().append(made.get(0), batch("a"));
            // The order does not depend on the clock.
            clock().advance(Duration.ofHours(-1));
        }
        log().append(made.get(10), batch("b"));

        for (int limit : new int[] {1, 2, 3, 10, 11, 12}) {
            assertThat(list(log(), "acme", limit)).extracting(MemoryInfo::key).isEqualTo(asListed(made));
        }
    }

    @Test
    default void an_imported_memory_shows_its_own_times_and_when_it_was_stored() {
        Instant stored = Instant.parse("2026-01-02T03:04:05.123456Z");
        Instant created = Instant.parse("2024-05-06T07:08:09.000001Z");
        MemoryKey described = ConversationKey.of("acme", "described");
        Logs.describe(log(), described, "a title", Map.of());
        for (MemoryKey key : List.of(KEY, described)) {
            for (Instant time : List.of(created, created.plusSeconds(7), created.plusSeconds(3))) {
                NewMessage message = new NewMessage("m" + time, user("a").message(), 10, "test-counter", time);
                log().append(key, Append.under(Parent.head(), List.of(message)).asImport());
            }
        }

        assertThat(list(log(), "acme", 10))
                .containsExactly(
                        new MemoryInfo(KEY, null, Map.of(), 3, 30, created, created.plusSeconds(7), stored),
                        new MemoryInfo(described, "a title", Map.of(), 3, 30, created, created.plusSeconds(7), stored));
    }

    @Test
    default void a_message_with_aTime_to_come_makes_no_memory_that_is_to_come() {
        Instant stored = Instant.parse("2026-01-02T03:04:05.123456Z");
        NewMessage message = new NewMessage("a", user("a").message(), 10, "test-counter", stored.plusSeconds(60));
        log().append(KEY, Append.under(Parent.head(), List.of(message, user("b"))));

        assertThat(list(log(), "acme", 10))
                .containsExactly(new MemoryInfo(KEY, null, Map.of(), 2, 20, stored, stored.plusSeconds(60), stored));
    }

    @Test
    default void another_tenants_memories_are_not_listed() {
        for (String tenant : List.of("acme", "ACME", "acme ", "acm", "acme/42", "%", "_cme")) {
            log().append(ConversationKey.of(tenant, "42"), batch("a"));
        }

        for (String tenant : List.of("acme", "ACME", "acme ", "acm", "acme/42", "%", "_cme")) {
            assertThat(list(log(), tenant, 2))
                    .extracting(MemoryInfo::key)
                    .containsExactly(ConversationKey.of(tenant, "42"));
        }
        assertThat(list(log(), "unknown", 2)).isEmpty();
    }

    @Test
    default void the_nodes_of_aConversation_are_found_in_all_applications() {
        List<NodeKey> nodes = List.of(
                NodeKey.of("acme", "app", "42", "writer"),
                NodeKey.of("acme", "app", "42", "critic"),
                NodeKey.of("acme", "another app", "42", "writer"));
        NodeKey erased = NodeKey.of("acme", "app", "42", "erased");
        nodes.forEach(key -> log().append(key, batch("a")));
        List.of(
                        KEY,
                        erased,
                        NodeKey.of("acme", "42", "43", "42"),
                        NodeKey.of("ACME", "app", "42", "writer"),
                        ConversationKey.of("acme", "app"))
                .forEach(key -> log().append(key, batch("a")));
        log().erase(erased);

        assertThat(log().nodes(ConversationKey.of("acme", "42"))).containsExactlyInAnyOrderElementsOf(nodes);
        log().erase(KEY);
        assertThat(log().nodes(ConversationKey.of("acme", "42"))).containsExactlyInAnyOrderElementsOf(nodes);
        assertThat(log().nodes(ConversationKey.of("acme", "unknown"))).isEmpty();
    }

    @Test
    default void a_cursor_that_no_page_returned_is_refused() {
        assertThatThrownBy(() -> log().list("acme", new ListQuery(1, "no cursor")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("cursor");
    }
}
