package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Listing a tenant's memories by activity, on logs that take the time from the clock of the process. */
public interface ActivityContract extends LogUnderTest {

    @Test
    default void a_revived_memory_is_listed_first() {
        List<MemoryKey> keys = hourly(12);
        log().append(keys.get(11), batch("again"));

        List<MemoryKey> expected = new ArrayList<>(keys);
        expected.add(0, expected.remove(11));
        for (int limit : new int[] {1, 2, 5, 11, 12, 13}) {
            assertThat(keys(limit)).as("pages of %s", limit).isEqualTo(expected);
        }
        assertThat(list(log(), "acme", 5)).extracting(MemoryInfo::key).isEqualTo(keys);
    }

    @Test
    default void every_way_to_append_moves_aMemory_to_the_front() {
        List<MemoryKey> keys = hourly(4);
        List<Append> ways = List.of(
                batch("under the head"),
                batch("several", "under the head too"),
                batchUnder("a", "another branch"),
                batch("with a view").withView(View.of(null, List.of())),
                batch("expected").expectingHead("with a view"),
                Append.under(Parent.root(), users("a root")));
        for (Append way : ways) {
            for (MemoryKey key : keys) {
                clock().advance(Duration.ofHours(1));
                log().append(key, way);
                assertThat(keys(2)).first().isEqualTo(key);
            }
        }
        clock().advance(Duration.ofHours(1));
        Logs.describe(log(), keys.get(1), "a title", Map.of());
        log().append(keys.get(1), Append.viewOnly(View.of(null, List.of())));
        Logs.moveHead(log(), keys.get(1), "a", null);
        log().append(keys.get(1), batch("under the head"));
        assertThat(keys(2)).first().isEqualTo(keys.get(3));
    }

    @Test
    default void a_memory_that_is_written_to_while_paging_is_on_no_later_page_and_each_other_one_is_on_one() {
        List<MemoryKey> keys = hourly(20);
        Random random = new Random(7);
        for (int walk = 0; walk < 20; walk++) {
            Set<MemoryKey> written = new HashSet<>();
            List<MemoryKey> met = new ArrayList<>();
            Optional<ListQuery> next =
                    Optional.of(ListQuery.first(1 + random.nextInt(6)).byActivity());
            while (next.isPresent()) {
                MemoryPage page = log().list("acme", next.get());
                page.memories().forEach(info -> met.add(info.key()));
                next = page.next();
                MemoryKey key = keys.get(random.nextInt(keys.size()));
                clock().advance(Duration.ofMinutes(random.nextInt(90)));
                if (random.nextBoolean()) {
                    written.add(key);
                    log().append(key, batch("m" + walk + " " + met.size()));
                }
            }
            assertThat(met).as("walk %s", walk).doesNotHaveDuplicates();
            Set<MemoryKey> missing = new HashSet<>(keys);
            met.forEach(missing::remove);
            assertThat(written).as("walk %s", walk).containsAll(missing);
        }
        assertThat(keys(3)).containsExactlyInAnyOrderElementsOf(keys);
    }

    @Test
    default void an_imported_memory_is_as_active_as_its_messages() {
        List<MemoryKey> keys = hourly(3);
        Instant between = clock().instant().minus(Duration.ofMinutes(90));
        MemoryKey described = ConversationKey.of("acme", "described before it is imported");
        Logs.describe(log(), described, "a title", Map.of());
        MemoryKey imported = ConversationKey.of("acme", "imported");
        for (MemoryKey key : List.of(described, imported)) {
            for (Instant time : List.of(between.minus(Duration.ofDays(9)), between)) {
                log().append(
                                key,
                                Append.under(Parent.head(), List.of(at(time, "m" + time)))
                                        .asImport());
            }
        }

        List<MemoryKey> expected = new ArrayList<>(keys);
        expected.addAll(1, List.of(imported, described));
        assertThat(keys(2)).isEqualTo(expected);
        log().append(imported, batch("and on"));
        assertThat(keys(2)).first().isEqualTo(imported);
    }

    @Test
    default void old_messages_that_are_imported_into_an_active_memory_leave_it_where_it_is() {
        List<MemoryKey> keys = hourly(3);
        NewMessage old = at(clock().instant().minus(Duration.ofDays(9)), "old");
        log().append(keys.get(0), Append.under(Parent.root(), List.of(old)).asImport());

        assertThat(keys(2)).isEqualTo(keys);
    }

    @Test
    default void a_memory_without_messages_is_as_active_as_it_is_new() {
        List<MemoryKey> keys = hourly(2);
        MemoryKey titled = ConversationKey.of("acme", "title alone");
        Logs.describe(log(), titled, "a title", Map.of());
        clock().advance(Duration.ofHours(1));
        log().append(keys.get(1), batch("again"));

        assertThat(keys(1)).containsExactly(keys.get(1), titled, keys.get(0));
    }

    @Test
    default void an_erased_memory_is_not_listed_by_activity_until_it_is_written_again() {
        List<MemoryKey> keys = hourly(4);
        log().erase(keys.get(0));
        log().erase(keys.get(2));
        assertThat(keys(1)).containsExactly(keys.get(1), keys.get(3));

        log().append(keys.get(2), batch("afresh"));
        assertThat(keys(1)).containsExactly(keys.get(2), keys.get(1), keys.get(3));
    }

    @Test
    default void times_at_both_ends_are_listed_by_activity() {
        List<MemoryKey> keys = new ArrayList<>();
        for (Instant time : TimesContract.STORED) {
            keys.add(0, ConversationKey.of("acme", "at " + time));
            log().append(keys.get(0), Append.under(Parent.head(), List.of(at(time, "a"))));
        }
        // Two of them are within one second, the later one first.
        Collections.swap(keys, 5, 6);
        for (int limit : new int[] {1, 3, 20}) {
            assertThat(keys(limit)).isEqualTo(keys);
        }
    }

    /** Ten chats of one hour. */
    @Test
    default void the_order_by_activity_is_exact_to_the_minute_and_equal_times_are_in_order_of_creation() {
        List<MemoryKey> keys = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            keys.add(0, ConversationKey.of("acme", "c" + i));
            log().append(keys.get(0), batch("a"));
        }
        for (int limit : new int[] {1, 3, 20}) {
            assertThat(keys(limit)).isEqualTo(keys);
        }
        for (int i : new int[] {4, 9, 0, 4, 7, 7, 2}) {
            clock().advance(Duration.ofMinutes(1));
            MemoryKey key = ConversationKey.of("acme", "c" + i);
            log().append(key, batch("at " + clock().instant()));
            keys.remove(key);
            keys.add(0, key);
            for (int limit : new int[] {3, 20}) {
                assertThat(keys(limit)).isEqualTo(keys);
            }
        }
    }

    @Test
    default void within_a_minute_a_page_is_in_the_order_of_the_newest_messages() {
        clock().advance(Duration.ofSeconds(60 - clock().instant().getEpochSecond() % 60));
        List<MemoryKey> keys = new ArrayList<>();
        for (String id : List.of("a", "b", "c", "d", "a", "c")) {
            MemoryKey key = ConversationKey.of("acme", id);
            log().append(key, batch("at " + clock().instant()));
            keys.remove(key);
            keys.add(0, key);
            clock().advance(Duration.ofSeconds(9));
        }
        assertThat(keys(20)).isEqualTo(keys);
        // Each page of a list that is read in parts has the minute's memories of its part of the stored order.
        assertThat(keys(2)).containsExactlyInAnyOrderElementsOf(keys);
        clock().advance(Duration.ofSeconds(6));
        log().append(keys.get(3), batch("in the next minute"));
        keys.add(0, keys.remove(3));
        assertThat(keys(20)).isEqualTo(keys);
    }

    @Test
    default void a_cursor_of_the_other_order_is_refused() {
        hourly(3);
        ListQuery byCreation = log().list("acme", ListQuery.first(1)).next().orElseThrow();
        ListQuery byActivity =
                log().list("acme", ListQuery.first(1).byActivity()).next().orElseThrow();
        assertThat(byActivity.activeFirst()).isTrue();
        for (ListQuery wrong : List.of(
                byCreation.byActivity(),
                new ListQuery(1, byActivity.cursor()),
                new ListQuery(1, "no cursor").byActivity(),
                new ListQuery(1, "1/").byActivity(),
                new ListQuery(1, "1/2/3").byActivity())) {
            assertThatThrownBy(() -> log().list("acme", wrong))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("cursor");
        }
    }

    /** Makes memories that are an hour apart, and returns their keys, the newest first. */
    private List<MemoryKey> hourly(int n) {
        List<MemoryKey> keys = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            keys.add(0, ConversationKey.of("acme", "c" + i));
            log().append(keys.get(0), batch("a"));
            log().append(ConversationKey.of("other tenant", "c" + i), batch("a"));
            clock().advance(Duration.ofHours(1));
        }
        return keys;
    }

    private List<MemoryKey> keys(int limit) {
        return listByActivity(log(), "acme", limit);
    }

    private static NewMessage at(Instant time, String id) {
        return new NewMessage(id, UserMessage.from(SECRET + " " + id), 10, "test-counter", time);
    }
}
