package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.View.Run;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reads of the messages with which a branch, or the view of a memory, begins. */
public interface OldestContract extends LogUnderTest {

    @Test
    default void the_oldest_come_beside_the_newest() {
        log().append(KEY, batch("a", "b", "c", "d", "e"));

        assertOldest(ReadQuery.newest(2).alsoOldest(1), "a");
        assertOldest(ReadQuery.newest(2).alsoOldest(2), "a", "b");
        assertOldest(ReadQuery.newest(2).alsoOldest(4), "a", "b", "c", "d");
        assertOldest(ReadQuery.newest(2).alsoOldest(5), "a", "b", "c", "d", "e");
        assertThat(log().read(KEY, ReadQuery.newest(2).alsoOldest(4)))
                .as("everything else is what it was")
                .isEqualTo(withOldest(log().read(KEY, ReadQuery.newest(2)), read("a", "b", "c", "d")));
    }

    @Test
    default void who_does_not_ask_for_the_oldest_gets_none() {
        log().append(KEY, batch("a", "b"));

        assertOldest(ReadQuery.newest(1));
        assertOldest(ReadQuery.wholeBranch());
        assertOldest(ReadQuery.newest(1).alsoOldest(1).alsoOldest(0));
        assertThatThrownBy(() -> ReadQuery.newest(1).alsoOldest(-1)).isInstanceOf(InvalidInputException.class);
    }

    @Test
    default void a_branch_that_is_shorter_than_what_is_asked_for_is_all_oldest() {
        assertOldest(ReadQuery.newest(1).alsoOldest(3));

        log().append(KEY, batch("a", "b"));
        for (int n : new int[] {2, 3, Integer.MAX_VALUE}) {
            assertOldest(ReadQuery.newest(0).alsoOldest(n), "a", "b");
            assertOldest(ReadQuery.newest(1).alsoOldest(n), "a", "b");
            assertOldest(ReadQuery.wholeBranch().alsoOldest(n), "a", "b");
        }
    }

    @Test
    default void other_bounds_do_not_touch_the_oldest() {
        log().append(KEY, batch("a", "b", "c", "d"));
        Summary summary = new Summary("c", SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH);
        Logs.putSummary(
                log(), KEY, summary, log().read(KEY, ReadQuery.newest(0)).epoch());

        for (int n = 1; n <= 5; n++) {
            String[] first =
                    List.of("a", "b", "c", "d").subList(0, Math.min(n, 4)).toArray(String[]::new);
            for (int max : new int[] {0, 1, 2, 3, 4, 5}) {
                assertOldest(ReadQuery.newest(max).alsoOldest(n), first);
                assertOldest(ReadQuery.newest(max).upToSummary().alsoOldest(n), first);
                assertOldest(ReadQuery.wholeBranch().upToTokens(max * 10L).alsoOldest(n), first);
                assertOldest(ReadQuery.newest(2).upToTokens(max * 10L).alsoOldest(n), first);
            }
        }
    }

    @Test
    default void the_oldest_behind_an_ancestor_follow_it() {
        log().append(KEY, batch("a", "b", "c", "d", "e"));
        log().append(KEY, batchUnder("c", "f", "g"));

        assertOldest(ReadQuery.newest(1).after("a").alsoOldest(2), "b", "c");
        assertOldest(ReadQuery.newest(1).after("b").alsoOldest(2), "c", "f");
        assertOldest(ReadQuery.newest(1).after("c").alsoOldest(2), "f", "g");
        assertOldest(ReadQuery.newest(0).after("f").alsoOldest(2), "g");
        assertOldest(ReadQuery.newest(1).after("g").alsoOldest(2));
        assertOldest(ReadQuery.newest(1).after("b").endingIn("d").alsoOldest(9), "c", "d");
        assertThatThrownBy(() -> log().read(KEY, ReadQuery.newest(1).after("e").alsoOldest(1)))
                .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() ->
                        log().read(KEY, ReadQuery.newest(1).after("nowhere").alsoOldest(1)))
                .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() ->
                        log().read(KEY, ReadQuery.newest(1).endingIn("nowhere").alsoOldest(1)))
                .isInstanceOf(InvalidInputException.class);
    }

    @Test
    default void the_oldest_are_those_of_the_branch_that_is_read() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d", "e"));
        log().append(KEY, batchUnder("d", "f"));
        log().append(KEY, batchUnder("c", "g", "h"));

        assertOldest(ReadQuery.newest(1).alsoOldest(4), "a", "b", "c", "g");
        assertOldest(ReadQuery.newest(1).endingIn("f").alsoOldest(4), "a", "d", "f");
        assertOldest(ReadQuery.newest(1).endingIn("f").alsoOldest(2), "a", "d");
        assertOldest(ReadQuery.newest(1).endingIn("b").alsoOldest(2), "a", "b");
        assertOldest(ReadQuery.newest(1).endingIn("a").alsoOldest(2), "a");
        Logs.moveHead(log(), KEY, "e", null);
        assertOldest(ReadQuery.newest(1).alsoOldest(2), "a", "d");
    }

    @Test
    default void a_root_elsewhere_begins_aBranch_of_its_own() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, Append.under(Parent.root(), users("x", "y", "z")));

        assertOldest(ReadQuery.newest(1).alsoOldest(2), "x", "y");
        assertOldest(ReadQuery.newest(1).alsoOldest(9), "x", "y", "z");
        assertOldest(ReadQuery.newest(1).endingIn("c").alsoOldest(2), "a", "b");
        log().append(KEY, batchUnder("b", "d"));
        assertOldest(ReadQuery.newest(1).alsoOldest(9), "a", "b", "d");
    }

    @Test
    default void a_missing_parent_is_where_the_oldest_begin() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("lost", "x", "y").asImport());
        log().append(KEY, batchUnder("b", "c"));
        log().append(KEY, batchUnder("y", "z"));

        assertOldest(ReadQuery.newest(1).alsoOldest(2), "x", "y");
        assertOldest(ReadQuery.newest(1).alsoOldest(9), "x", "y", "z");
        assertThat(log().read(KEY, ReadQuery.newest(1).alsoOldest(9)).missingParent())
                .as("the newest do not reach it")
                .isNull();
        assertThat(log().read(KEY, ReadQuery.newest(3).alsoOldest(1)).missingParent())
                .isEqualTo("lost");
    }

    @Test
    default void the_oldest_are_found_across_many_forks() {
        List<String> left = new ArrayList<>(List.of("root"));
        List<String> right = new ArrayList<>(List.of("root"));
        log().append(KEY, batch("root"));
        for (int i = 0; i < 100; i++) {
            List<String> grows = i % 2 == 0 ? left : right;
            log().append(KEY, batchUnder(grows.get(grows.size() - 1), "m" + i, "n" + i));
            grows.addAll(List.of("m" + i, "n" + i));
        }

        for (List<String> path : List.of(left, right)) {
            String end = path.get(path.size() - 1);
            for (int n : new int[] {1, 2, 3, 4, 50, 99, 100, 101, 102}) {
                String[] first = path.subList(0, Math.min(n, path.size())).toArray(String[]::new);
                assertOldest(ReadQuery.newest(3).endingIn(end).alsoOldest(n), first);
            }
            String[] behind = path.subList(42, 49).toArray(String[]::new);
            assertOldest(ReadQuery.newest(3).endingIn(end).after(path.get(41)).alsoOldest(7), behind);
        }
    }

    @Test
    default void where_no_view_is_set_aReader_sees_the_branchs_oldest() {
        log().append(KEY, batch("a", "b", "c", "d"));

        assertOldestSeen(ReadQuery.newest(1).alsoOldest(2), "a", "b");
    }

    @Test
    default void the_oldest_of_aView_are_those_of_its_runs_and_then_of_what_follows_its_anchor() {
        log().append(KEY, batch("a", "b", "c", "d", "e"));
        View set = View.of(null, List.of(new Run("c", "d"), new Run(null, "b")));
        log().append(KEY, batch("f").withView(set));
        log().append(KEY, batch("g", "h", "i"));
        List<String> shown = List.of("d", "a", "b", "g", "h", "i");

        for (int n = 1; n <= 7; n++) {
            String[] first = shown.subList(0, Math.min(n, 6)).toArray(String[]::new);
            for (int max = 0; max <= 9; max += Counts.of(3, 1)) {
                assertOldestSeen(ReadQuery.newest(max).alsoOldest(n), first);
                assertOldestSeen(ReadQuery.newest(max).endingIn("i").alsoOldest(n), first);
                assertOldestSeen(ReadQuery.wholeBranch().upToTokens(max * 10L).alsoOldest(n), first);
            }
        }
        assertOldestSeen(ReadQuery.newest(1));
        assertOldestSeen(ReadQuery.newest(0).endingIn("g").alsoOldest(9), "d", "a", "b", "g");
        assertOldestSeen(ReadQuery.newest(0).endingIn("f").alsoOldest(9), "d", "a", "b");
        assertOldestSeen(ReadQuery.newest(1).endingIn("e").alsoOldest(2), "a", "b");
    }

    @Test
    default void the_oldest_of_aView_whose_runs_lie_on_another_branch_are_there() {
        log().append(KEY, batch("a", "b", "c"));
        View set = View.of(null, List.of(new Run("a", "c"), new Run(null, "b")));
        log().append(KEY, batchUnder("a", "d", "e").withView(set));
        log().append(KEY, batch("f", "g"));

        for (int max = 0; max <= 7; max++) {
            assertOldestSeen(ReadQuery.newest(max).alsoOldest(1), "b");
            assertOldestSeen(ReadQuery.newest(max).alsoOldest(3), "b", "c", "a");
            assertOldestSeen(ReadQuery.newest(max).alsoOldest(5), "b", "c", "a", "b", "f");
        }
    }

    @Test
    default void the_oldest_of_aCleared_view_follow_its_anchor() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));

        assertOldestSeen(ReadQuery.newest(0).alsoOldest(2));
        log().append(KEY, batch("d", "e", "f", "g"));
        for (int max = 0; max <= 8; max++) {
            assertOldestSeen(ReadQuery.newest(max).alsoOldest(2), "d", "e");
            assertOldestSeen(ReadQuery.newest(max).alsoOldest(9), "d", "e", "f", "g");
        }
        log().append(KEY, batchUnder("d", "h", "i"));
        assertOldestSeen(ReadQuery.newest(1).alsoOldest(2), "d", "h");
        log().append(KEY, batchUnder("b", "j"));
        assertOldestSeen(ReadQuery.newest(1).alsoOldest(2), "a", "b");
    }

    @Test
    default void a_summary_that_stands_for_aViews_runs_leaves_its_oldest_alone() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run("a", "b")))));
        log().append(KEY, batch("d", "e", "f"));
        Summary summary = new Summary("d", SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH);
        Logs.putSummary(
                log(), KEY, summary, log().read(KEY, ReadQuery.newest(0)).epoch());

        Tail tail =
                ViewReader.read(log(), KEY, ReadQuery.newest(5).upToSummary().alsoOldest(3));
        assertThat(ids(tail.messages())).containsExactly("e", "f");
        assertThat(tail.complete()).isTrue();
        assertThat(ids(tail.oldest())).containsExactly("b", "d", "e");
    }

    private List<LoggedMessage> read(String... ids) {
        List<String> wanted = List.of(ids);
        return log().read(KEY, ReadQuery.wholeBranch()).messages().stream()
                .filter(message -> wanted.contains(message.id()))
                .toList();
    }

    private static Tail withOldest(Tail tail, List<LoggedMessage> oldest) {
        return new Tail(
                tail.position(),
                tail.messages(),
                oldest,
                tail.system(),
                tail.user(),
                tail.view(),
                tail.summary(),
                tail.complete(),
                tail.missingParent());
    }

    private void assertOldest(ReadQuery query, String... expected) {
        assertThat(ids(log().read(KEY, query).oldest())).as("%s", query).containsExactly(expected);
        // The parts that the query does not request are the same as without it.
        assertThat(ids(log().read(KEY, query).messages()))
                .isEqualTo(ids(log().read(KEY, query.alsoOldest(0)).messages()));
    }

    private void assertOldestSeen(ReadQuery query, String... expected) {
        assertThat(ids(ViewReader.read(log(), KEY, query).oldest()))
                .as("%s", query)
                .containsExactly(expected);
    }
}
