package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.View.Run;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Views: lists that a caller set instead of the branch, and reads through them. */
public interface ViewContract extends LogUnderTest {

    @Test
    default void a_memory_has_no_view_until_one_is_set() {
        log().append(KEY, batch("a"));

        assertThat(log().read(KEY, ReadQuery.newest(1)).view()).isNull();
    }

    @Test
    default void a_view_set_with_an_append_is_anchored_at_the_new_head() {
        log().append(KEY, batch("a", "b", "c"));
        View set = View.of(null, List.of(new Run(null, "a"), new Run("b", "d")));

        AppendResult result = log().append(KEY, batch("d").withView(set));

        Tail tail = log().read(KEY, ReadQuery.newest(1));
        assertThat(tail.view()).isEqualTo(new View("d", 4, set.runs(), null));
        assertThat(tail.revision()).isEqualTo(result.revision());
    }

    @Test
    default void a_view_set_with_one_message_under_the_head_changes_the_revision_and_names_only_what_is_there() {
        String head = "\"'\\\n,;/%é😀";
        AppendResult before = log().append(KEY, batch("a", head));
        View set = View.of(null, List.of(new Run(null, "a"), new Run(View.HEAD, "c")));

        AppendResult result = log().append(KEY, batch("c").withView(set).sinceRevisionOf(before.position()));

        assertThat(result.revision()).isGreaterThan(before.revision());
        View view = log().read(KEY, ReadQuery.newest(1)).view();
        assertThat(view).isEqualTo(new View("c", 3, List.of(new Run(null, "a"), new Run(head, "c")), null));
        assertThatThrownBy(() -> log().append(KEY, batch("d").withView(set).sinceRevisionOf(before.position())))
                .isInstanceOf(HeadConflictException.class);
        View lost = View.of(null, List.of(new Run("a", "c"), new Run("nowhere", "d")));
        assertThatThrownBy(() -> log().append(KEY, batch("d").withView(lost)))
                .isInstanceOf(UnknownMessageException.class);
        Tail tail = log().read(KEY, ReadQuery.newest(9));
        assertThat(ids(tail.messages())).containsExactly("a", head, "c");
        assertThat(tail.position()).isEqualTo(result.position());
        assertThat(tail.view()).isEqualTo(view);
    }

    @Test
    default void a_view_may_be_set_without_messages() {
        AppendResult before = log().append(KEY, batch("a", "b"));

        AppendResult result = log().append(KEY, Append.viewOnly(View.of(null, List.of())));

        assertThat(result.previousHead()).isEqualTo("b");
        assertThat(result.head()).isEqualTo("b");
        assertThat(result.replayed()).isFalse();
        assertThat(result.revision()).isNotEqualTo(before.revision());
        assertThat(log().read(KEY, ReadQuery.newest(1)).view().anchor()).isEqualTo("b");
        assertThat(history(log(), KEY)).hasSize(2);
    }

    @Test
    default void a_view_may_be_anchored_at_an_older_message() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, Append.viewOnly(View.of("b", List.of())));

        View view = log().read(KEY, ReadQuery.newest(1)).view();
        assertThat(view.anchor()).isEqualTo("b");
        assertThat(view.anchorSequence()).isEqualTo(2);
        assertThat(viewed(ReadQuery.wholeBranch())).containsExactly("c");
    }

    @Test
    default void a_view_without_an_anchor_that_is_there_is_refused_and_leaves_nothing() {
        View view = View.of(null, List.of());

        assertThatThrownBy(() -> log().append(KEY, Append.viewOnly(view))).isInstanceOf(InvalidInputException.class);
        // Touches the memory again, so that no part of a change waits for the next write.
        log().releaseLease(KEY, "work", "unknown");
        assertThat(list(log(), KEY.tenant(), 1)).isEmpty();

        log().append(KEY, batch("a"));
        assertThatThrownBy(() -> log().append(KEY, batch("b").withView(View.of("nowhere", List.of()))))
                .isInstanceOf(InvalidInputException.class);
        assertThat(branch(log(), KEY)).containsExactly("a");
        assertThat(log().read(KEY, ReadQuery.newest(1)).view()).isNull();
    }

    @Test
    default void a_view_is_not_set_by_aRefused_or_replayed_batch() {
        log().append(KEY, batch("a", "b"));
        View view = View.of(null, List.of());

        assertThatThrownBy(() -> log().append(KEY, batch("c").withView(view).expectingHead("a")))
                .isInstanceOf(HeadConflictException.class);
        assertThatThrownBy(() -> log().append(KEY, Append.viewOnly(view).expectingHead("a")))
                .isInstanceOf(HeadConflictException.class);
        log().append(KEY, batch("a", "b").withView(view));

        assertThat(log().read(KEY, ReadQuery.newest(1)).view()).isNull();
    }

    @Test
    default void the_newest_view_on_the_branch_is_in_force() {
        log().append(KEY, batch("a").withView(View.of(null, List.of())));
        log().append(KEY, batch("b", "c").withView(View.of(null, List.of(new Run("a", "b")))));
        log().append(KEY, batch("d"));

        assertThat(anchor(ReadQuery.newest(1))).isEqualTo("c");
        assertThat(anchor(ReadQuery.newest(1).endingIn("c"))).isEqualTo("c");
        assertThat(anchor(ReadQuery.newest(1).endingIn("b"))).isEqualTo("a");
    }

    @Test
    default void a_view_set_again_at_the_same_anchor_replaces_the_first() {
        log().append(KEY, batch("a", "b").withView(View.of(null, List.of(new Run(null, "b")))));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run("a", "b")))));

        assertThat(log().read(KEY, ReadQuery.newest(1)).view().runs()).containsExactly(new Run("a", "b"));
    }

    @Test
    default void a_view_of_another_branch_is_not_in_force() {
        log().append(KEY, batch("a", "b").withView(View.of(null, List.of())));
        log().append(KEY, batchUnder("a", "c"));

        assertThat(log().read(KEY, ReadQuery.newest(1)).view()).isNull();
        assertThat(anchor(ReadQuery.newest(1).endingIn("b"))).isEqualTo("b");
        assertThat(viewed(ReadQuery.wholeBranch())).containsExactly("a", "c");
    }

    @Test
    default void odd_ids_in_aView_come_back_as_they_were() {
        String odd = "\"'\\\n,;/%é😀";
        log().append(KEY, batch("a", odd, "c"));
        View set = View.of(null, List.of(new Run("a", odd)));
        log().append(KEY, Append.viewOnly(set));

        View view = log().read(KEY, ReadQuery.newest(1)).view();
        assertThat(view.runs()).isEqualTo(set.runs());
    }

    /** Such ids end as the head's place in a stored view begins or ends. */
    @Test
    default void an_id_that_resembles_the_head_is_not_taken_for_it() {
        List<String> odd = List.of("\"" + View.HEAD, ":\"" + View.HEAD, "after\":\"" + View.HEAD, "x\"" + View.HEAD);
        List<Run> runs = odd.stream().map(id -> new Run(null, id)).toList();
        log().append(KEY, batch(odd.toArray(String[]::new)));
        log().append(KEY, batch("a"));
        log().append(KEY, batch("b").withView(View.of(null, runs)));
        assertThat(log().read(KEY, ReadQuery.newest(1)).view().runs()).isEqualTo(runs);
        log().append(KEY, Append.viewOnly(View.of("a", runs)));
        assertThat(log().read(KEY, ReadQuery.newest(1).endingIn("a")).view().runs())
                .isEqualTo(runs);
        assertThat(log().check(KEY)).isEmpty();
    }

    @Test
    default void without_aView_aReader_sees_the_branch() {
        log().append(KEY, batch("a", "b", "c"));

        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(2))).isEqualTo(log().read(KEY, ReadQuery.newest(2)));
    }

    @Test
    default void a_reader_sees_the_runs_in_their_order_and_what_follows_the_anchor() {
        log().append(KEY, batch("a", "b", "c", "d", "e"));
        View set = View.of(null, List.of(new Run("c", "d"), new Run(null, "b")));
        log().append(KEY, batch("f").withView(set));
        log().append(KEY, batch("g", "h"));

        assertViewed(ReadQuery.wholeBranch(), true, "d", "a", "b", "g", "h");
        assertViewed(ReadQuery.newest(5), true, "d", "a", "b", "g", "h");
        assertViewed(ReadQuery.newest(4), false, "a", "b", "g", "h");
        assertViewed(ReadQuery.newest(3), false, "b", "g", "h");
        assertViewed(ReadQuery.newest(2), false, "g", "h");
        assertViewed(ReadQuery.newest(1), false, "h");
        assertViewed(ReadQuery.newest(0), false);
    }

    @Test
    default void a_reader_honours_tokens_across_runs() {
        log().append(KEY, batch("a", "b", "c", "d", "e"));
        View set = View.of(null, List.of(new Run(null, "b"), new Run("c", "d")));
        log().append(KEY, Append.viewOnly(set));
        log().append(KEY, batch("f"));

        assertViewed(ReadQuery.wholeBranch().upToTokens(0), false);
        assertViewed(ReadQuery.wholeBranch().upToTokens(10), false, "f");
        assertViewed(ReadQuery.wholeBranch().upToTokens(11), false, "d", "f");
        assertViewed(ReadQuery.wholeBranch().upToTokens(21), false, "b", "d", "f");
        assertViewed(ReadQuery.wholeBranch().upToTokens(40), true, "a", "b", "d", "f");
    }

    @Test
    default void a_run_may_lie_on_another_branch() {
        log().append(KEY, batch("a", "b", "c"));
        View set = View.of(null, List.of(new Run("a", "c")));
        log().append(KEY, batchUnder("a", "d").withView(set));
        log().append(KEY, batch("e"));

        assertViewed(ReadQuery.wholeBranch(), true, "b", "c", "e");
        assertViewed(ReadQuery.newest(2), false, "c", "e");
    }

    @Test
    default void after_aClear_aReader_sees_only_what_follows() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), user("b"))));
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));

        assertViewed(ReadQuery.wholeBranch(), true);
        assertViewed(ReadQuery.newest(0), true);
        assertThat(ViewReader.read(log(), KEY, ReadQuery.wholeBranch()).system())
                .isNull();

        log().append(KEY, batch("c", "d"));
        assertViewed(ReadQuery.wholeBranch(), true, "c", "d");
        assertViewed(ReadQuery.newest(2), true, "c", "d");
        assertViewed(ReadQuery.newest(1), false, "d");
        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(1)).system()).isNull();
        assertThat(ids(history(log(), KEY))).containsExactly("s", "a", "b", "c", "d");
    }

    @Test
    default void a_reader_at_the_end_of_another_branch_follows_that_branchs_view() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));
        log().append(KEY, batch("c"));
        log().append(KEY, batchUnder("a", "d"));

        assertViewed(ReadQuery.wholeBranch(), true, "a", "d");
        assertViewed(ReadQuery.wholeBranch().endingIn("c"), true, "c");
        assertViewed(ReadQuery.newest(0).endingIn("b"), true);
    }

    @Test
    default void the_system_message_of_aView_is_the_one_in_its_runs() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), system("t"), user("b"))));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run(null, "a"), new Run("t", "b")))));
        log().append(KEY, batch("c"));

        Tail all = ViewReader.read(log(), KEY, ReadQuery.wholeBranch());
        assertThat(ids(all.messages())).containsExactly("s", "a", "b", "c");
        assertThat(all.system().id()).isEqualTo("s");
        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(1)).system().id())
                .isEqualTo("s");
        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(0)).system().id())
                .isEqualTo("s");

        log().append(KEY, Append.under(Parent.head(), List.of(system("u"), user("d"))));
        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(1)).system().id())
                .isEqualTo("u");
    }

    @Test
    default void a_reader_that_stops_between_two_runs_says_that_there_is_more() {
        log().append(KEY, Append.under(Parent.head(), List.of(user("a"), user("b"), system("s"), user("c"))));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run(null, "a"), new Run("b", "c")))));

        assertViewed(ReadQuery.newest(2), false, "s", "c");
    }

    @Test
    default void a_summary_of_what_was_cleared_is_not_shown() {
        log().append(KEY, batch("a", "b", "c"));
        putSummary("b");
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));
        log().append(KEY, batch("d"));

        assertViewed(ReadQuery.wholeBranch().upToSummary(), true, "d");
        assertThat(ViewReader.read(log(), KEY, ReadQuery.wholeBranch().upToSummary())
                        .summary())
                .isNull();
        putSummary("c");
        assertThat(ViewReader.read(log(), KEY, ReadQuery.newest(1).upToSummary())
                        .summary())
                .isNull();
    }

    @Test
    default void a_summary_made_behind_the_anchor_stands_for_the_runs_too() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), user("b"))));
        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run(null, "a")))));
        log().append(KEY, batch("c", "d", "e"));
        putSummary("c");

        Tail tail = ViewReader.read(log(), KEY, ReadQuery.wholeBranch().upToSummary());
        assertThat(ids(tail.messages())).containsExactly("d", "e");
        assertThat(tail.summary().coversUpTo()).isEqualTo("c");
        assertThat(tail.system().id()).isEqualTo("s");
        assertThat(tail.complete()).isTrue();
        assertViewed(ReadQuery.newest(1).upToSummary(), false, "e");
        assertViewed(ReadQuery.newest(2).upToSummary(), true, "d", "e");
        assertViewed(ReadQuery.wholeBranch(), true, "s", "a", "c", "d", "e");
    }

    @Test
    default void which_summary_aView_stands_behind_is_kept() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        putSummary("b");
        View behind = View.of(null, List.of(new Run("b", "c")));
        log().append(KEY, Append.viewOnly(behind.behindSummary("b")));
        assertThat(reopen().read(KEY, ReadQuery.newest(0)).view().summary()).isEqualTo("b");
        log().append(KEY, batch("d"));
        assertThat(reopen().read(KEY, ReadQuery.newest(0)).view().summary()).isEqualTo("b");

        log().append(KEY, Append.viewOnly(View.of(null, List.of(new Run("b", "d")))));
        assertThat(reopen().read(KEY, ReadQuery.newest(0)).view().summary()).isNull();
    }

    private void putSummary(String coversUpTo) {
        long epoch = log().read(KEY, ReadQuery.newest(0)).epoch();
        Summary summary = new Summary(coversUpTo, SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH);
        Logs.putSummary(log(), KEY, summary, epoch);
    }

    private String anchor(ReadQuery query) {
        View view = log().read(KEY, query).view();
        return view == null ? null : view.anchor();
    }

    private List<String> viewed(ReadQuery query) {
        return ids(ViewReader.read(log(), KEY, query).messages());
    }

    private void assertViewed(ReadQuery query, boolean complete, String... expected) {
        Tail tail = ViewReader.read(log(), KEY, query);
        assertThat(ids(tail.messages())).as("%s", query).containsExactly(expected);
        assertThat(tail.complete()).as("complete for %s", query).isEqualTo(complete);
    }
}
