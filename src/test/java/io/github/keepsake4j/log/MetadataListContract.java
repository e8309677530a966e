package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Listing memories by metadata, on logs that are opened with {@link #DECLARED}. */
public interface MetadataListContract extends LogUnderTest {

    /** The names that a test's log declares. */
    String[] DECLARED = {"owner", "project"};

    @Test
    default void memories_are_listed_by_metadata_in_both_orders() {
        for (int i = 0; i < 24; i++) {
            ConversationKey key = ConversationKey.of("acme", "c" + i);
            Map<String, String> metadata = Map.of("owner", "u" + i % 3, "project", "p" + i % 4, "colour", "red");
            if (i % 2 == 0) {
                log().append(key, batch("a").creating(metadata));
            } else {
                Logs.describe(log(), key, "a title", metadata);
            }
            log().append(ConversationKey.of("other tenant", "c" + i), batch("a").creating(metadata));
            clock().advance(Duration.ofMinutes(1));
        }
        for (int i : new int[] {3, 6, 5, 0, 23}) {
            log().append(ConversationKey.of("acme", "c" + i), batch("b"));
            clock().advance(Duration.ofMinutes(1));
        }
        for (int limit : new int[] {1, 3, 100}) {
            assertThat(agreed("owner", "u0", limit)).hasSize(8);
            assertThat(agreed("project", "p3", limit)).hasSize(6);
            assertThat(agreed("owner", "p3", limit)).isEmpty();
            assertThat(agreed("owner", "", limit)).isEmpty();
        }
    }

    @Test
    default void a_memory_is_on_the_lists_of_the_metadata_that_it_has() {
        ConversationKey key = ConversationKey.of("acme", "c");
        log().append(ConversationKey.of("acme", "other"), batch("a").creating(Map.of("owner", "bob")));
        log().append(key, batch("a").creating(Map.of("owner", "alice")));
        assertThat(agreed("owner", "alice", 3)).containsExactly(key);

        Logs.describe(log(), key, "a title", Map.of("owner", "carol", "project", "bees"));
        assertThat(agreed("owner", "alice", 3)).isEmpty();
        assertThat(agreed("owner", "carol", 3)).containsExactly(key);
        assertThat(agreed("project", "bees", 3)).containsExactly(key);

        log().change(key, Change.Describe.title("another title"));
        assertThat(agreed("owner", "carol", 3)).containsExactly(key);

        Map<String, @Nullable String> changes = new HashMap<>();
        changes.put("owner", null);
        changes.put("colour", "red");
        log().change(key, Change.Describe.merging(changes));
        assertThat(agreed("owner", "carol", 3)).isEmpty();
        assertThat(agreed("project", "bees", 3)).containsExactly(key);

        log().erase(key);
        assertThat(agreed("project", "bees", 3)).isEmpty();
        log().append(key, batch("b"));
        assertThat(agreed("project", "bees", 3)).isEmpty();
        log().erase(key);
        log().append(key, batch("c").creating(Map.of("owner", "alice")));
        assertThat(agreed("owner", "alice", 3)).containsExactly(key);
        // The metadata of an append count only if it creates the memory.
        log().append(key, batch("d").creating(Map.of("owner", "bob")));
        assertThat(agreed("owner", "bob", 3)).hasSize(1).doesNotContain(key);
    }

    @Test
    default void a_name_that_is_not_declared_is_refused_by_name() {
        assertThatThrownBy(() -> log().list("acme", ListQuery.first(3).withMetadata("colour", "red")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContainingAll("metadata", "\"colour\"", "listedMetadata", "owner", "project");
    }

    @Test
    default void random_changes_leave_each_memory_on_its_lists() {
        Random random = new Random(3);
        for (int step = 0; step < Counts.of(60, 600); step++) {
            ConversationKey key = ConversationKey.of("acme", "c" + random.nextInt(8));
            Map<String, @Nullable String> metadata = new HashMap<>();
            for (String name : List.of("owner", "project", "colour")) {
                if (random.nextBoolean()) {
                    metadata.put(name, "v" + random.nextInt(3));
                }
            }
            switch (random.nextInt(5)) {
                case 0 -> log().change(key, new Change.Describe("t" + step, metadata, false));
                case 1 -> {
                    metadata.put("project", null);
                    log().change(key, Change.Describe.merging(metadata));
                }
                case 2 -> log().erase(key);
                default -> {
                    Map<String, String> given = new HashMap<>();
                    metadata.forEach(given::put);
                    log().append(key, batch("m" + step).creating(given));
                }
            }
            clock().advance(Duration.ofSeconds(random.nextInt(90)));
            if (step % 10 == 9) {
                for (int value = 0; value < 3; value++) {
                    agreed("owner", "v" + value, 3);
                    agreed("project", "v" + value, 3);
                }
            }
        }
    }

    @Test
    default void callers_that_change_one_memory_at_the_same_time_leave_it_on_its_lists() throws Exception {
        ConversationKey key = ConversationKey.of("acme", "c");
        MessageLog second = reopen();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < Counts.of(5, 50); round++) {
                List<Future<?>> done = new ArrayList<>();
                for (int thread = 0; thread < 4; thread++) {
                    MessageLog its = thread % 2 == 0 ? log() : second;
                    String owner = "u" + thread;
                    String id = round + " " + thread;
                    boolean describes = thread < 3;
                    done.add(threads.submit(() -> {
                        if (describes) {
                            Logs.describe(its, key, null, Map.of("owner", owner));
                        }
                        its.append(key, batch(id).creating(Map.of("owner", owner)));
                    }));
                }
                for (Future<?> each : done) {
                    each.get();
                }
                int listed = 0;
                for (int owner = 0; owner < 4; owner++) {
                    listed += agreed("owner", "u" + owner, 3).size();
                }
                assertThat(listed).isEqualTo(1);
                if (round % 3 == 2) {
                    log().erase(key);
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Returns the list by metadata, which both logs and both orders show as the list of all memories does. */
    private List<MemoryKey> agreed(String name, String value, int limit) {
        for (boolean active : new boolean[] {false, true}) {
            ListQuery all = active ? ListQuery.first(100).byActivity() : ListQuery.first(100);
            ListQuery some = active ? ListQuery.first(limit).byActivity() : ListQuery.first(limit);
            // A page may end within a minute, whose memories the list of all has in one order.
            assertThat(some.ordered(list(log(), "acme", some.withMetadata(name, value))))
                    .as("%s=%s by activity: %s", name, value, active)
                    .isEqualTo(some.ordered(list(log(), "acme", all).stream()
                            .filter(info -> value.equals(info.metadata().get(name)))
                            .toList()));
        }
        return list(log(), "acme", ListQuery.first(limit).withMetadata(name, value)).stream()
                .map(MemoryInfo::key)
                .toList();
    }
}
