package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Summaries and leases. */
public interface BesideMessagesContract extends LogUnderTest {

    private static Summary summary(String coversUpTo, String text) {
        Instant made = Instant.parse("2026-01-02T03:04:05.123456Z");
        return new Summary(coversUpTo, text, 7, "test-counter", 3_000_000_000L, 4_000_000_000L, "a-model", made);
    }

    @Test
    default void a_summary_comes_back_as_it_was_put() {
        log().append(KEY, batch("a", "b"));
        Summary full = summary("a", "it's \"so\" \\ \n é 😀 \0 \ud83d");
        Summary bare = new Summary("b", "", 0, "", 0, 0, null, Instant.EPOCH);
        Logs.putSummary(log(), KEY, full, epoch());
        Logs.putSummary(log(), KEY, bare, epoch());

        assertThat(Logs.summaries(log(), KEY)).containsExactly(full.withVersion(1), bare.withVersion(2));
    }

    @Test
    default void details_have_the_parts_that_are_asked_for() {
        log().append(KEY, batch("a", "b").withView(View.of(null, List.of())));
        log().append(KEY, batch("c").onBranch("tab"));
        Logs.putSummary(log(), KEY, summary("a", "s"), epoch());
        Logs.describe(log(), KEY, "title", Map.of("name", "text"));

        MemoryDetails all = log().details(KEY, EnumSet.allOf(MemoryDetails.Part.class));
        assertThat(all.info()).isNotNull().returns("title", MemoryInfo::title).returns(3L, MemoryInfo::messages);
        assertThat(all.branches()).containsExactly(Map.entry("tab", "c"));
        assertThat(all.views()).hasSize(1);
        assertThat(all.summaries()).containsExactly(summary("a", "s").withVersion(1));
        MemoryDetails none = MemoryDetails.NONE;
        assertThat(log().details(KEY, Set.of())).isEqualTo(none);
        assertThat(log().details(KEY, Set.of(MemoryDetails.Part.INFO)))
                .isEqualTo(new MemoryDetails(all.info(), none.branches(), none.views(), none.summaries()));
        assertThat(log().details(KEY, Set.of(MemoryDetails.Part.BRANCHES)))
                .isEqualTo(new MemoryDetails(null, all.branches(), none.views(), none.summaries()));
        assertThat(log().details(KEY, Set.of(MemoryDetails.Part.VIEWS)))
                .isEqualTo(new MemoryDetails(null, none.branches(), all.views(), none.summaries()));
        assertThat(log().details(KEY, Set.of(MemoryDetails.Part.SUMMARIES)))
                .isEqualTo(new MemoryDetails(null, none.branches(), none.views(), all.summaries()));
        assertThat(log().details(ConversationKey.of("acme", "none"), EnumSet.allOf(MemoryDetails.Part.class)))
                .isEqualTo(none);
    }

    @Test
    default void all_versions_of_aSummary_are_kept_in_order() {
        log().append(KEY, batch("a", "b"));
        Logs.putSummary(log(), KEY, summary("b", "1"), epoch());
        Logs.putSummary(log(), KEY, summary("a", "2"), epoch());
        Logs.putSummary(log(), KEY, summary("b", "3"), epoch());

        assertThat(Logs.summaries(log(), KEY)).extracting(Summary::text).containsExactly("1", "2", "3");
    }

    @Test
    default void a_read_up_to_the_summary_stops_behind_it() {
        log().append(KEY, batch("a", "b", "c", "d"));
        Logs.putSummary(log(), KEY, summary("b", "a and b"), epoch());

        Tail tail = log().read(KEY, ReadQuery.wholeBranch().upToSummary());
        assertThat(ids(tail.messages())).containsExactly("c", "d");
        assertThat(tail.summary()).isEqualTo(summary("b", "a and b").withVersion(1));
        assertThat(tail.complete()).isTrue();
        Tail bounded = log().read(KEY, ReadQuery.newest(1).upToSummary());
        assertThat(ids(bounded.messages())).containsExactly("d");
        assertThat(bounded.summary()).isNotNull();
        assertThat(bounded.complete()).isFalse();
        assertThat(log().read(KEY, ReadQuery.newest(2).upToSummary()).complete())
                .isTrue();
    }

    @Test
    default void a_read_that_does_not_ask_for_the_summary_goes_on_through_it() {
        log().append(KEY, batch("a", "b", "c"));
        Logs.putSummary(log(), KEY, summary("b", "a and b"), epoch());

        Tail tail = log().read(KEY, ReadQuery.wholeBranch());
        assertThat(ids(tail.messages())).containsExactly("a", "b", "c");
        assertThat(tail.summary()).isNull();
    }

    @Test
    default void a_summary_of_the_whole_branch_leaves_no_messages() {
        log().append(KEY, batch("a", "b"));
        Logs.putSummary(log(), KEY, summary("b", "all"), epoch());

        Tail tail = log().read(KEY, ReadQuery.wholeBranch().upToSummary());
        assertThat(tail.messages()).isEmpty();
        assertThat(tail.summary()).isNotNull();
        assertThat(tail.complete()).isTrue();
    }

    @Test
    default void the_newest_summary_of_the_newest_covered_message_counts() {
        log().append(KEY, batch("a", "b", "c", "d"));
        Logs.putSummary(log(), KEY, summary("c", "c first"), epoch());
        Logs.putSummary(log(), KEY, summary("c", "c second"), epoch());
        Logs.putSummary(log(), KEY, summary("a", "a, put last"), epoch());

        assertThat(summaryAt("d")).isEqualTo("c second");
        assertThat(summaryAt("c")).isEqualTo("c second");
        assertThat(summaryAt("b")).isEqualTo("a, put last");
    }

    @Test
    default void a_summary_holds_on_every_branch_through_its_message_and_on_no_other() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("b", "d"));
        log().append(KEY, batchUnder("a", "e"));
        Logs.putSummary(log(), KEY, summary("b", "a and b"), epoch());

        assertThat(summaryAt("c")).isEqualTo("a and b");
        assertThat(summaryAt("d")).isEqualTo("a and b");
        assertThat(summaryAt("e")).isNull();
        assertThat(ids(log().read(KEY, ReadQuery.wholeBranch().upToSummary()).messages()))
                .containsExactly("a", "e");
    }

    @Test
    default void the_system_message_stays_in_force_before_aSummary() {
        log().append(KEY, Append.under(Parent.head(), List.of(system("s"), user("a"), user("b"))));
        Logs.putSummary(log(), KEY, summary("a", "a"), epoch());

        Tail tail = log().read(KEY, ReadQuery.wholeBranch().upToSummary());
        assertThat(tail.system().id()).isEqualTo("s");
    }

    @Test
    default void a_summary_of_an_unknown_message_is_refused() {
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> Logs.putSummary(log(), KEY, summary("nowhere", SECRET), epoch()))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("nowhere")
                .hasMessageNotContaining(SECRET);
        assertThat(Logs.summaries(log(), KEY)).isEmpty();
    }

    @Test
    default void a_summary_changes_neither_head_nor_history_nor_revision() {
        AppendResult appended = log().append(KEY, batch("a", "b"));
        Logs.putSummary(log(), KEY, summary("a", "a"), epoch());

        Tail tail = log().read(KEY, ReadQuery.wholeBranch());
        assertThat(ids(tail.messages())).containsExactly("a", "b");
        assertThat(tail.head()).isEqualTo("b");
        assertThat(tail.revision()).isEqualTo(appended.revision());
    }

    @Test
    default void a_lease_keeps_others_out() throws Exception {
        MessageLog other = reopen();
        Instant before = storeTime();
        Lease lease =
                log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60)).orElseThrow();

        assertThat(lease.name()).isEqualTo("work");
        assertThat(lease.owner()).isEqualTo("one");
        assertThat(lease.expiresAt())
                .isBetween(before.plusSeconds(60), storeTime().plusSeconds(60));
        assertThat(other.acquireLease(KEY, "work", "two", Duration.ofSeconds(60)))
                .isEmpty();
    }

    @Test
    default void the_same_owner_renews_aLease() throws Exception {
        log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60));
        passTime(Duration.ofSeconds(50));
        Instant before = storeTime();
        Lease renewed =
                log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60)).orElseThrow();
        Instant after = storeTime();
        passTime(Duration.ofSeconds(50));

        assertThat(renewed.expiresAt()).isBetween(before.plusSeconds(60), after.plusSeconds(60));
        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofSeconds(60)))
                .isEmpty();
    }

    @Test
    default void an_expired_lease_goes_to_who_asks() throws Exception {
        log().acquireLease(KEY, "work", "one", Duration.ofDays(1));
        passTime(Duration.ofHours(23));
        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofHours(1))).isEmpty();
        passTime(Duration.ofHours(2));

        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofHours(1))).isPresent();
        assertThat(log().acquireLease(KEY, "work", "one", Duration.ofHours(1))).isEmpty();
    }

    @Test
    default void a_released_lease_is_free() {
        log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60));
        log().releaseLease(KEY, "work", "one");

        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofSeconds(60)))
                .isPresent();
    }

    @Test
    default void only_its_holder_releases_aLease() {
        log().releaseLease(KEY, "work", "unknown");
        log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60));
        log().releaseLease(KEY, "work", "two");
        log().releaseLease(KEY, "other work", "one");

        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofSeconds(60)))
                .isEmpty();
    }

    @Test
    default void leases_of_two_names_or_two_memories_are_two_leases() {
        log().acquireLease(KEY, "work", "one", Duration.ofSeconds(60));

        assertThat(log().acquireLease(KEY, "other work", "two", Duration.ofSeconds(60)))
                .isPresent();
        assertThat(log().acquireLease(ConversationKey.of("acme", "43"), "work", "two", Duration.ofSeconds(60)))
                .isPresent();
    }

    @Test
    default void a_lease_needs_names_and_time() {
        for (Duration none : new Duration[] {Duration.ZERO, Duration.ofMillis(-1)}) {
            assertThatThrownBy(() -> log().acquireLease(KEY, "work", "one", none))
                    .isInstanceOf(InvalidInputException.class);
        }
        assertThatThrownBy(() -> log().acquireLease(KEY, "", "one", Duration.ofSeconds(1)))
                .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> log().acquireLease(KEY, "work", "", Duration.ofSeconds(1)))
                .isInstanceOf(InvalidInputException.class);
    }

    private long epoch() {
        return log().read(KEY, ReadQuery.newest(0)).epoch();
    }

    private String summaryAt(String leaf) {
        Summary summary = log().read(KEY, ReadQuery.newest(1).endingIn(leaf).upToSummary())
                .summary();
        return summary == null ? null : summary.text();
    }
}
