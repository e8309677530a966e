package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Branches, and the head that moves between them. */
public interface TreeContract extends LogUnderTest {

    @Test
    default void a_regenerated_answer_is_aSibling_and_the_old_one_stays() {
        log().append(KEY, Append.under(Parent.head(), List.of(user("A"), answer("A'"))));
        log().append(KEY, Append.under(Parent.head(), List.of(user("B"), answer("B'"))));
        log().append(KEY, Append.under(Parent.of("A"), List.of(answer("A''"))));
        log().append(KEY, Append.under(Parent.head(), List.of(user("C"), answer("C'"))));

        assertThat(branch(log(), KEY)).containsExactly("A", "A''", "C", "C'");
        assertThat(branch(log(), KEY, "B'")).containsExactly("A", "A'", "B", "B'");
        assertThat(ids(history(log(), KEY))).containsExactly("A", "A'", "B", "B'", "A''", "C", "C'");
    }

    @Test
    default void branches_are_listed_by_their_leaves_newest_first() {
        log().append(KEY, batch("a", "b", "c"));
        clock().advance(Duration.ofSeconds(1));
        log().append(KEY, batchUnder("a", "d"));
        log().append(KEY, Append.under(Parent.root(), users("e")));
        Logs.moveHead(log(), KEY, "d", null);
        Instant first = Instant.parse("2026-01-02T03:04:05.123456Z");

        assertThat(log().branches(KEY))
                .containsExactly(
                        new Branch("e", "e", 1, first.plusSeconds(1), false, List.of()),
                        new Branch("d", "d", 2, first.plusSeconds(1), true, List.of()),
                        new Branch("c", "b", 3, first, false, List.of()));
    }

    @Test
    default void a_branch_tells_its_oldest_message_that_no_other_one_has() {
        log().append(KEY, batch("a", "b", "c", "d"));
        assertThat(firsts()).containsExactlyInAnyOrderEntriesOf(Map.of("d", "a"));

        // Two branches that grow in turns, so that no message of theirs is behind its parent in the log.
        log().append(KEY, batchUnder("b", "x1"));
        log().append(KEY, batchUnder("d", "e"));
        log().append(KEY, batchUnder("x1", "x2"));
        log().append(KEY, batchUnder("e", "f"));
        log().append(KEY, batchUnder("x2", "x3"));
        assertThat(firsts()).containsExactlyInAnyOrderEntriesOf(Map.of("f", "c", "x3", "x1"));

        log().append(KEY, batchUnder("x2", "y"));
        log().append(KEY, batchUnder("d", "z"));
        log().append(KEY, Append.under(Parent.root(), users("r")));
        assertThat(firsts())
                .containsExactlyInAnyOrderEntriesOf(Map.of("f", "e", "x3", "x3", "y", "y", "z", "z", "r", "r"));
    }

    private Map<String, String> firsts() {
        return log().branches(KEY).stream().collect(Collectors.toMap(Branch::leafId, Branch::firstOwnId));
    }

    @Test
    default void no_branch_is_current_while_the_head_is_inside_one() {
        log().append(KEY, batch("a", "b"));
        Logs.moveHead(log(), KEY, "a", null);

        assertThat(log().branches(KEY)).extracting(Branch::current).containsExactly(false);
    }

    @Test
    default void the_root_starts_aBranch_of_its_own_that_others_do_not_show() {
        log().append(KEY, batch("a", "b"));
        AppendResult result = log().append(KEY, Append.under(Parent.root(), users("x", "y")));

        assertThat(result.previousHead()).isEqualTo("b");
        assertThat(branch(log(), KEY)).containsExactly("x", "y");
        assertThat(branch(log(), KEY, "b")).containsExactly("a", "b");
        assertThat(log().read(KEY, ReadQuery.wholeBranch()).complete()).isTrue();
    }

    @Test
    default void the_head_moves_and_moves_back() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("a", "c"));

        assertThat(Logs.moveHead(log(), KEY, "b", null)).isEqualTo("c");
        assertThat(branch(log(), KEY)).containsExactly("a", "b");
        assertThat(log().append(KEY, batch("d")).previousHead()).isEqualTo("b");
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "d");

        assertThat(Logs.moveHead(
                        log(), KEY, "c", log().read(KEY, ReadQuery.newest(0)).epoch()))
                .isEqualTo("d");
        assertThat(branch(log(), KEY)).containsExactly("a", "c");
        assertThat(history(log(), KEY)).hasSize(4);
    }

    @Test
    default void the_head_does_not_move_to_an_unknown_message() {
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> Logs.moveHead(log(), KEY, "nowhere", null))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("nowhere");
        assertThat(log().read(KEY, ReadQuery.newest(0)).head()).isEqualTo("a");
    }

    @Test
    default void the_revision_tells_when_another_writer_moved_the_head() {
        AppendResult appended = log().append(KEY, batch("a", "b"));
        AppendResult plain = log().append(KEY, batch("c"));
        Logs.moveHead(log(), KEY, "a", null);
        AppendResult moved = log().append(KEY, batch("d"));

        assertThat(plain.revision()).isEqualTo(appended.revision());
        assertThat(moved.revision()).isNotEqualTo(plain.revision());
        assertThat(log().read(KEY, ReadQuery.newest(0)).revision()).isEqualTo(moved.revision());
    }

    @Test
    default void history_pages_go_both_ways_over_all_branches() {
        for (int i = 0; i < 10; i++) {
            log().append(KEY, i % 3 == 2 ? batchUnder("m0", "m" + i) : batch("m" + i));
        }
        List<String> all = List.of("m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9");

        for (int limit : new int[] {1, 3, 5, 9, 10, 11}) {
            assertThat(ids(history(log(), KEY, HistoryQuery.oldest(limit)))).isEqualTo(all);
            assertThat(ids(history(log(), KEY, HistoryQuery.newest(limit)))).isEqualTo(all);
        }
        assertThat(ids(log().history(KEY, HistoryQuery.newest(3)).messages())).containsExactly("m7", "m8", "m9");
        assertThat(ids(log().history(KEY, HistoryQuery.oldest(3)).messages())).containsExactly("m0", "m1", "m2");
        assertThat(log().history(KEY, HistoryQuery.oldest(10)).next()).isEmpty();
    }
}
