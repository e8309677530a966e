package io.github.keepsake4j.testing;

import static io.github.keepsake4j.testing.HistoryChecker.Outcome.ACKNOWLEDGED;
import static io.github.keepsake4j.testing.HistoryChecker.Outcome.REFUSED;
import static io.github.keepsake4j.testing.HistoryChecker.Outcome.REPLAYED;
import static io.github.keepsake4j.testing.HistoryChecker.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Finding;
import io.github.keepsake4j.testing.HistoryChecker.Kind;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks that the checker finds each kind of error, and finds none in a correct history. */
class HistoryCheckerTest {

    private final List<Attempt> attempts = new ArrayList<>();

    private void told(String client, long begin, long end, Outcome outcome, String... ids) {
        attempts.add(new Attempt(client, List.of(ids), begin, end, outcome));
    }

    /** Creates messages in order, each under the previous one. */
    private static List<Stored> line(String... ids) {
        List<Stored> stored = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            stored.add(new Stored(ids[i], i == 0 ? null : ids[i - 1], i + 1));
        }
        return stored;
    }

    private List<Kind> kinds(List<Stored> stored) {
        return HistoryChecker.check(attempts, stored).stream()
                .map(Finding::kind)
                .distinct()
                .toList();
    }

    @Test
    void a_right_history() {
        told("one", 0, 2, ACKNOWLEDGED, "a", "b");
        told("two", 1, 3, REPLAYED, "a", "b");
        told("one", 4, 9, UNKNOWN, "c");
        told("two", 5, 6, ACKNOWLEDGED, "d");
        told("two", 7, 8, UNKNOWN, "e", "f");
        told("two", 9, 9, REFUSED, "g");

        assertThat(kinds(line("a", "b", "d", "c"))).isEmpty();
        assertThat(kinds(line("a", "b", "c", "d", "e", "f"))).isEmpty();
    }

    @Test
    void lost() {
        told("one", 0, 1, ACKNOWLEDGED, "a");
        told("two", 2, 3, UNKNOWN, "b");
        told("one", 4, 5, REPLAYED, "b");

        List<Finding> found = HistoryChecker.check(attempts, line("a"));

        assertThat(found).extracting(Finding::kind).containsExactly(Kind.LOST);
        assertThat(found.get(0)).hasToString("LOST b\n    4..5 one sent [b]: REPLAYED");
    }

    @Test
    void doubled() {
        told("one", 0, 1, ACKNOWLEDGED, "a");
        told("two", 2, 3, ACKNOWLEDGED, "a");
        assertThat(kinds(line("a"))).containsExactly(Kind.DOUBLED);

        attempts.remove(1);
        assertThat(kinds(line("a", "a"))).contains(Kind.DOUBLED);
    }

    @Test
    void reordered() {
        told("one", 0, 1, ACKNOWLEDGED, "a");
        told("two", 2, 3, ACKNOWLEDGED, "b");
        assertThat(kinds(line("b", "a"))).containsExactly(Kind.REORDERED);
        assertThat(HistoryChecker.check(attempts, line("b", "a")).get(0).trace())
                .containsExactly(
                        "0..1 one sent [a]: ACKNOWLEDGED",
                        "2..3 two sent [b]: ACKNOWLEDGED",
                        "stored 2: a under b",
                        "stored 1: b under null");
    }

    @Test
    void reordered_within_a_batch() {
        told("one", 0, 1, ACKNOWLEDGED, "a", "b");
        assertThat(kinds(line("b", "a"))).containsExactly(Kind.REORDERED);
    }

    @Test
    void at_the_same_time_any_order_is_right() {
        told("one", 0, 3, ACKNOWLEDGED, "a");
        told("two", 2, 4, ACKNOWLEDGED, "b");
        assertThat(kinds(line("b", "a"))).isEmpty();
    }

    @Test
    void half_written() {
        told("one", 0, 1, UNKNOWN, "a", "b");
        assertThat(kinds(line("a"))).containsExactly(Kind.HALF_WRITTEN);
        told("two", 0, 1, ACKNOWLEDGED, "x");
        assertThat(kinds(line("a", "x", "b"))).containsExactly(Kind.HALF_WRITTEN);
    }

    @Test
    void refused_but_there_and_never_sent() {
        told("one", 0, 1, REFUSED, "a");
        assertThat(kinds(line("a"))).containsExactly(Kind.REFUSED_BUT_THERE);
        assertThat(kinds(line("z"))).containsExactly(Kind.NEVER_SENT);
    }

    @Test
    void a_fork_and_a_parent_that_is_not_there() {
        told("one", 0, 1, ACKNOWLEDGED, "a");
        told("one", 2, 3, ACKNOWLEDGED, "b");
        told("one", 4, 5, ACKNOWLEDGED, "c");
        assertThat(kinds(List.of(new Stored("a", null, 1), new Stored("b", "a", 2), new Stored("c", "a", 3))))
                .containsExactly(Kind.NOT_ONE_BRANCH);
        assertThat(kinds(List.of(new Stored("a", null, 1), new Stored("b", "a", 2), new Stored("c", "?", 4))))
                .containsExactly(Kind.NOT_ONE_BRANCH);
    }

    @Test
    void an_attempt_as_a_line() {
        Attempt attempt = new Attempt("one", List.of("a", "b"), 1, 2, UNKNOWN);
        assertThat(Attempt.of(attempt.line())).isEqualTo(attempt);
    }
}
