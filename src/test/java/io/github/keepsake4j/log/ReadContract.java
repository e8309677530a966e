package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Logs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Bounded reads of the newest part of a branch. */
public interface ReadContract extends LogUnderTest {

    @Test
    default void a_count_bounds_aRead() {
        log().append(KEY, batch("a", "b", "c"));

        assertTail(ReadQuery.newest(0), false);
        assertTail(ReadQuery.newest(1), false, "c");
        assertTail(ReadQuery.newest(2), false, "b", "c");
        assertTail(ReadQuery.newest(3), true, "a", "b", "c");
        assertTail(ReadQuery.newest(4), true, "a", "b", "c");
        assertThat(log().read(KEY, ReadQuery.newest(0)).head()).isEqualTo("c");
    }

    @Test
    default void messages_are_found_by_their_sequences_on_all_branches() {
        assertThat(Logs.findAt(log(), KEY, List.of(1L))).isEmpty();
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d"));

        assertThat(ids(Logs.findAt(log(), KEY, List.of(4L, 2L, 2L, 9L, 0L, -1L, Long.MAX_VALUE))))
                .containsExactly("b", "d");
        assertThat(Logs.findAt(log(), KEY, List.of(1L, 2L, 3L, 4L))).isEqualTo(history(log(), KEY));
        assertThat(Logs.findAt(log(), KEY, List.of())).isEmpty();

        log().erase(KEY);
        assertThat(Logs.findAt(log(), KEY, List.of(1L, 2L))).isEmpty();
    }

    @Test
    default void messages_of_several_memories_are_found_as_those_of_each() {
        MemoryKey second = ConversationKey.of("acme", "second");
        MemoryKey unknown = ConversationKey.of("acme", "unknown");
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d"));
        log().append(second, batch("a", "e"));
        Map<MemoryKey, List<Long>> sequences =
                Map.of(KEY, List.of(4L, 2L, 2L, 9L, -1L), second, List.of(2L), unknown, List.of(1L));
        Map<MemoryKey, List<String>> ids =
                Map.of(KEY, List.of("d", "a", "e"), second, List.of("a", "a"), unknown, List.of());

        assertThat(Logs.findAt(log(), sequences))
                .isEqualTo(each(sequences, (key, each) -> Logs.findAt(log(), key, each)));
        assertThat(ids(Logs.findAt(log(), sequences).get(KEY))).containsExactly("b", "d");
        assertThat(Logs.find(log(), ids)).isEqualTo(each(ids, (key, each) -> Logs.find(log(), key, each)));
        assertThat(ids(Logs.find(log(), ids).get(KEY))).containsExactly("a", "d");
        assertThat(Logs.findAt(log(), Map.of())).isEmpty();

        log().erase(second);
        assertThat(Logs.findAt(log(), sequences).get(second)).isEmpty();
    }

    private static <T> Map<MemoryKey, List<LoggedMessage>> each(
            Map<MemoryKey, List<T>> asked, BiFunction<MemoryKey, Collection<T>, List<LoggedMessage>> find) {
        Map<MemoryKey, List<LoggedMessage>> found = new HashMap<>();
        asked.forEach((key, of) -> found.put(key, find.apply(key, of)));
        return found;
    }

    @Test
    default void it_is_told_which_messages_are_on_the_current_branch() {
        List<Long> asked = List.of(6L, 2L, 2L, 1L, 3L, 4L, 5L, 9L, 0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE);
        assertThat(log().onBranch(KEY, asked)).isEmpty();
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d"));
        log().append(KEY, batchUnder("d", "e"));

        assertThat(log().onBranch(KEY, asked)).containsExactlyInAnyOrder(1L, 4L, 5L);
        log().append(KEY, batchUnder("b", "f"));
        assertThat(log().onBranch(KEY, asked)).containsExactlyInAnyOrder(1L, 2L, 6L);
        assertThat(log().onBranch(KEY, List.of(3L))).isEmpty();
        Logs.moveHead(log(), KEY, "c", null);
        assertThat(log().onBranch(KEY, asked)).containsExactlyInAnyOrder(1L, 2L, 3L);
        log().append(KEY, Append.under(Parent.root(), List.of(message("g", UserMessage.from("x"), 1))));
        assertThat(log().onBranch(KEY, asked)).isEmpty();
        assertThat(log().onBranch(KEY, List.of(7L))).containsExactly(7L);
        assertThat(log().onBranch(KEY, List.of())).isEmpty();

        log().erase(KEY);
        assertThat(log().onBranch(KEY, asked)).isEmpty();
    }

    @Test
    default void tokens_bound_aRead_with_the_message_that_reaches_the_limit() {
        log().append(KEY, batch("a", "b", "c"));

        assertTail(ReadQuery.wholeBranch().upToTokens(0), false);
        assertTail(ReadQuery.wholeBranch().upToTokens(1), false, "c");
        assertTail(ReadQuery.wholeBranch().upToTokens(10), false, "c");
        assertTail(ReadQuery.wholeBranch().upToTokens(11), false, "b", "c");
        assertTail(ReadQuery.wholeBranch().upToTokens(20), false, "b", "c");
        assertTail(ReadQuery.wholeBranch().upToTokens(30), true, "a", "b", "c");
        assertTail(ReadQuery.newest(1).upToTokens(25), false, "c");
        assertTail(ReadQuery.wholeBranch().upToTokens(Long.MAX_VALUE), true, "a", "b", "c");
    }

    @Test
    default void messages_without_tokens_count_as_messages() {
        for (String id : List.of("a", "b", "c")) {
            log().append(KEY, Append.under(Parent.head(), List.of(message(id, UserMessage.from("x"), 0))));
        }

        assertTail(ReadQuery.wholeBranch().upToTokens(1), true, "a", "b", "c");
        assertTail(ReadQuery.newest(2).upToTokens(1), false, "b", "c");
    }

    @Test
    default void token_sums_do_not_overflow() {
        for (String id : List.of("a", "b", "c")) {
            NewMessage huge = message(id, UserMessage.from("x"), Integer.MAX_VALUE);
            log().append(KEY, Append.under(Parent.head(), List.of(huge)));
        }

        assertTail(ReadQuery.wholeBranch().upToTokens(3L * Integer.MAX_VALUE), true, "a", "b", "c");
        assertThat(list(log(), KEY.tenant(), 1).get(0).tokens()).isEqualTo(3L * Integer.MAX_VALUE);
    }

    @Test
    default void a_read_stops_behind_an_ancestor() {
        log().append(KEY, batch("a", "b", "c", "d"));

        assertTail(ReadQuery.wholeBranch().after("b"), true, "c", "d");
        assertTail(ReadQuery.newest(1).after("b"), false, "d");
        assertTail(ReadQuery.newest(2).after("b"), true, "c", "d");
        assertTail(ReadQuery.wholeBranch().after("d"), true);
        assertTail(ReadQuery.newest(0).after("d"), true);
        assertTail(ReadQuery.wholeBranch().after("a").endingIn("c"), true, "b", "c");
    }

    @Test
    default void a_read_ends_where_it_is_told() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d", "e"));

        assertTail(ReadQuery.wholeBranch().endingIn("c"), true, "a", "b", "c");
        assertTail(ReadQuery.wholeBranch().endingIn("b"), true, "a", "b");
        assertTail(ReadQuery.newest(1).endingIn("b"), false, "b");
        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("b")).head()).isEqualTo("e");
    }

    @Test
    default void a_read_that_names_what_is_not_there_is_refused() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("a", "c"));

        assertThatThrownBy(() -> log().read(KEY, ReadQuery.newest(1).endingIn("nowhere")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("nowhere");
        assertThatThrownBy(() -> log().read(KEY, ReadQuery.newest(1).after("nowhere")))
                .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> log().read(KEY, ReadQuery.newest(1).after("b")))
                .as("b is on another branch")
                .isInstanceOf(InvalidInputException.class);
    }

    @Test
    default void bounds_hold_across_many_forks() {
        List<String> path = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            log().append(KEY, path.isEmpty() ? batch("m0") : batchUnder(path.get(path.size() - 1), "m" + i));
            path.add("m" + i);
            if (i % 2 == 0) {
                log().append(KEY, batch("side" + i, "side" + i + "b"));
            }
        }
        Logs.moveHead(log(), KEY, "m119", null);

        assertNewestOf(path);
    }

    @Test
    default void bounds_hold_where_two_branches_grow_in_turns() {
        List<String> left = new ArrayList<>(List.of("root"));
        List<String> right = new ArrayList<>(List.of("root"));
        log().append(KEY, batch("root"));
        for (int i = 0; i < 150; i++) {
            List<String> grows = i % 2 == 0 ? left : right;
            log().append(KEY, batchUnder(grows.get(grows.size() - 1), "m" + i));
            grows.add("m" + i);
        }

        assertNewestOf(right);
        Logs.moveHead(log(), KEY, left.get(left.size() - 1), null);
        assertNewestOf(left);
    }

    @Test
    default void the_system_message_in_force_may_be_older_than_the_bounds() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), answer("b"), user("c"))));

        Tail tail = log().read(KEY, ReadQuery.newest(1));
        assertThat(ids(tail.messages())).containsExactly("c");
        assertThat(tail.system()).isNotNull();
        assertThat(tail.system().id()).isEqualTo("s");
        assertThat(tail.system().message()).isEqualTo(system("s").message());
        assertThat(log().read(KEY, ReadQuery.newest(0)).system()).isNotNull();
        assertThat(log().read(KEY, ReadQuery.newest(1).after("s")).system()).isNull();
    }

    @Test
    default void a_system_message_on_another_branch_is_not_in_force() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, Append.under(Parent.of("a"), List.of(system("s"), user("c"))));

        assertThat(log().read(KEY, ReadQuery.newest(1)).system()).isNotNull();
        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("b")).system()).isNull();
        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("a")).system()).isNull();
    }

    @Test
    default void the_newest_system_message_replaces_the_older_on_branches_through_it() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), system("t"), user("b"))));
        log().append(KEY, batchUnder("a", "c"));

        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("b")).system().id())
                .isEqualTo("t");
        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("t")).system().id())
                .isEqualTo("t");
        assertThat(log().read(KEY, ReadQuery.newest(1)).system().id()).isEqualTo("s");
    }

    /** Checks the newest n messages of a path, for many n, and the same by tokens (ten per message). */
    private void assertNewestOf(List<String> path) {
        for (int n : new int[] {1, 2, 3, 17, 49, 50, 51, path.size() - 1, path.size(), path.size() + 1}) {
            int from = Math.max(0, path.size() - n);
            String[] expected = path.subList(from, path.size()).toArray(new String[0]);
            assertTail(ReadQuery.newest(n), from == 0, expected);
            assertTail(ReadQuery.wholeBranch().upToTokens(n * 10L), from == 0, expected);
            assertTail(ReadQuery.wholeBranch().upToTokens(n * 10L - 9), from == 0, expected);
        }
        List<String> visible = path.subList(path.size() / 2 + 1, path.size());
        assertTail(ReadQuery.wholeBranch().after(path.get(path.size() / 2)), true, visible.toArray(new String[0]));
    }

    private void assertTail(ReadQuery query, boolean complete, String... expected) {
        Tail tail = log().read(KEY, query);
        assertThat(ids(tail.messages())).as("%s", query).containsExactly(expected);
        assertThat(tail.complete()).as("complete for %s", query).isEqualTo(complete);
    }
}
