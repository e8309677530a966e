package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Threads;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** How messages ended, what answers were made from, and the tokens that were used for them. */
interface OutcomeContract extends LogUnderTest {

    private Outcome outcomeOf(String id) {
        return Logs.find(log(), KEY, List.of(id)).get(0).outcome();
    }

    private long revision() {
        return log().read(KEY, ReadQuery.newest(0)).revision();
    }

    private LocalDate today() {
        return LocalDate.ofInstant(clock().instant(), ZoneOffset.UTC);
    }

    private List<DailyUsage> usageOfToday() {
        return Logs.usage(log(), "acme", today(), today().plusDays(1));
    }

    @Test
    default void an_outcome_is_set_and_removed_and_every_read_returns_it() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        long before = revision();

        Logs.setOutcome(log(), KEY, "b", Outcome.failed("java.io.IOException"), null);

        Outcome failed = new Outcome(Outcome.Kind.FAILED, "java.io.IOException");
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.find(log, KEY, List.of("b", "c")))
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(failed, null);
            assertThat(log.history(KEY, HistoryQuery.oldest(10)).messages())
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(null, failed, null);
            assertThat(log.history(KEY, HistoryQuery.newest(10)).messages())
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(null, failed, null);
            assertThat(log.read(KEY, ReadQuery.wholeBranch().alsoOldest(2)).messages())
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(null, failed, null);
            assertThat(log.read(KEY, ReadQuery.newest(0).alsoOldest(2)).oldest())
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(null, failed);
            assertThat(log.read(KEY, ReadQuery.newest(1).endingIn("b")).user().outcome())
                    .isEqualTo(failed);
        }
        assertThat(revision()).isGreaterThan(before);

        Logs.setOutcome(log(), KEY, "b", null, null);

        assertThat(outcomeOf("b")).isNull();
        assertThat(Logs.find(reopen(), KEY, List.of("b")).get(0).outcome()).isNull();
    }

    @Test
    default void the_same_outcome_again_changes_nothing() {
        log().append(KEY, batch("a"));
        Logs.setOutcome(log(), KEY, "a", null, null);
        assertThat(revision()).isEqualTo(1);
        Logs.setOutcome(log(), KEY, "a", Outcome.failed(null), null);
        long after = revision();
        assertThat(after).isGreaterThan(1);

        Logs.setOutcome(log(), KEY, "a", Outcome.failed(null), null);

        assertThat(revision()).isEqualTo(after);
        Logs.setOutcome(log(), KEY, "a", Outcome.failed("other"), null);
        assertThat(revision()).isGreaterThan(after);
    }

    @Test
    default void an_outcome_of_an_older_epoch_or_of_an_unknown_message_is_refused() {
        long epoch = log().append(KEY, batch("a")).position().epoch();
        assertThatThrownBy(() -> Logs.setOutcome(log(), KEY, "nowhere", Outcome.failed(null), epoch))
                .isInstanceOf(UnknownMessageException.class)
                .hasMessageContaining("nowhere");
        MemoryKey never = ConversationKey.of("acme", "never written");
        assertThatThrownBy(() -> Logs.setOutcome(log(), never, "a", Outcome.failed(null), null))
                .isInstanceOf(UnknownMessageException.class);
        assertThat(history(log(), never)).isEmpty();
        Logs.setOutcome(log(), KEY, "a", Outcome.failed(null), epoch);

        log().erase(KEY);
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> Logs.setOutcome(log(), KEY, "a", Outcome.failed(null), epoch))
                .isInstanceOf(ErasedException.class);
        assertThat(outcomeOf("a")).isNull();
    }

    @Test
    default void an_outcome_comes_with_its_message_and_is_no_part_of_what_is_the_same() {
        NewMessage cut = answer("b").withOutcome(Outcome.incomplete("cancelled"));
        AppendResult first = log().append(KEY, Append.underHead(user("a"), cut));
        assertThat(first.position().revision()).isEqualTo(1);
        assertThat(outcomeOf("b")).isEqualTo(Outcome.incomplete("cancelled"));

        AppendResult again = log().append(KEY, Append.underHead(user("a"), answer("b")));

        assertThat(again.replayed()).isTrue();
        assertThat(outcomeOf("b")).isEqualTo(Outcome.incomplete("cancelled"));
    }

    @Test
    default void an_outcome_of_a_message_on_another_branch_keeps_head_and_branches() {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, batchUnder("a", "d"));
        for (Outcome outcome : List.of(
                Outcome.rejected("com.example.Guard"), Outcome.incomplete("limit"), Outcome.failed("\ud83d\ude00 x"))) {
            Logs.setOutcome(log(), KEY, "c", outcome, null);
            assertThat(outcomeOf("c")).isEqualTo(outcome);
        }
        assertThat(LogTesting.branch(log(), KEY)).containsExactly("a", "d");
        assertThat(log().check(KEY)).isEmpty();
        assertThat(log().repair(KEY).damage()).isEmpty();
        assertThat(outcomeOf("c")).isNotNull();
    }

    @Test
    default void an_outcome_of_messages_that_were_cleared_is_kept() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));
        Logs.setOutcome(log(), KEY, "b", Outcome.failed("x"), null);
        log().append(KEY, batch("d"));
        Logs.setOutcome(log(), KEY, "c", Outcome.failed("y"), null);

        assertThat(reopen().history(KEY, HistoryQuery.oldest(10)).messages())
                .extracting(LoggedMessage::outcome)
                .containsExactly(null, Outcome.failed("x"), Outcome.failed("y"), null);
    }

    @Test
    default void outcomes_that_cannot_be_stored_are_refused() {
        assertThat(Outcome.failed("x".repeat(300)).reason()).hasSize(200);
        assertThatThrownBy(() -> new Outcome(Outcome.Kind.FAILED, "x".repeat(201)))
                .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> Outcome.failed("a\0b")).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> Outcome.failed("\ud83d")).isInstanceOf(InvalidInputException.class);
        log().append(KEY, batch("a"));
        Logs.setOutcome(log(), KEY, "a", Outcome.failed("  a b\n"), null);
        assertThat(outcomeOf("a").reason()).isEqualTo("  a b\n");
        Logs.setOutcome(log(), KEY, "a", Outcome.failed(""), null);
        assertThat(outcomeOf("a").reason()).isEmpty();
    }

    @Test
    default void what_an_answer_was_made_from_is_kept_beside_it() throws Exception {
        Seen seen = new Seen(
                Seen.ranges(List.of(1L, 2L, 5L, 4L, 7L, 8L, 9L)),
                List.of(2L, 8L),
                3,
                true,
                List.of("m1", "a, b\u00e9 u1,2,3"),
                true);
        assertThat(seen.sequences()).containsExactly(1L, 2L, 5L, 4L, 7L, 8L, 9L);
        Usage usage = new Usage(1_000_000_000_000L, 2, 3);
        Seen empty = new Seen(List.of(), List.of(), 0, false);
        log().append(
                        KEY,
                        Append.underHead(
                                user("a"),
                                answer("b").withSeen(seen).withUsage(usage),
                                answer("c").withSeen(empty),
                                answer("d").withUsage(Usage.NONE)));
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.made(log, KEY, "a")).isEmpty();
            assertThat(Logs.made(log, KEY, "b")).contains(new Made(seen, usage));
            assertThat(Logs.made(log, KEY, "c")).contains(new Made(empty, null));
            assertThat(Logs.made(log, KEY, "d")).contains(new Made(null, Usage.NONE));
            assertThatThrownBy(() -> Logs.made(log, KEY, "nowhere")).isInstanceOf(UnknownMessageException.class);
        }
        Logs.setOutcome(log(), KEY, "b", Outcome.rejected("x"), null);
        log().append(KEY, Append.viewOnly(View.of(null, List.of())));
        assertThat(Logs.made(reopen(), KEY, "b")).contains(new Made(seen, usage));
    }

    @Test
    default void the_turn_of_a_message_is_kept_with_it() throws Exception {
        log().append(KEY, Append.underHead(user("a").ofTurn("a")));
        log().append(KEY, Append.underHead(answer("b").ofTurn("a"), user("c"), answer("d \u00e9")));
        log().append(
                        KEY,
                        Append.under(Parent.of("a"), List.of(answer("e").ofTurn("a")))
                                .onBranch("tab"));
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(log.history(KEY, HistoryQuery.oldest(10)).messages())
                    .extracting(LoggedMessage::question)
                    .containsExactly("a", "a", null, null, "a");
            assertThat(log.read(KEY, ReadQuery.wholeBranch()).messages())
                    .extracting(LoggedMessage::question)
                    .containsExactly("a", "a", null, null);
            assertThat(Logs.find(log, KEY, List.of("e", "c")))
                    .extracting(LoggedMessage::question)
                    .containsExactly(null, "a");
        }
        Logs.setOutcome(log(), KEY, "a", Outcome.failed("x"), null);
        assertThat(Logs.find(reopen(), KEY, List.of("a"))).singleElement().satisfies(message -> {
            assertThat(message.question()).isEqualTo("a");
            assertThat(message.message()).isEqualTo(user("a").message());
        });
        // It is no part of the message: what was appended without it is the same.
        assertThat(log().append(KEY, Append.under(Parent.of("a"), List.of(answer("b"))))
                        .replayed())
                .isTrue();
        assertThat(log().check(KEY)).isEmpty();
        assertThatThrownBy(() -> user("x").ofTurn("")).isInstanceOf(InvalidInputException.class);
    }

    @Test
    default void the_model_and_why_it_ended_are_kept_beside_its_answer() throws Exception {
        Made made = new Made(null, new Usage(3, 2, 1), "org/model 7b,q4\u00e9\ud83d\ude00", "STOP", null);
        Made alone = new Made(null, null, "m", null, null);
        log().append(KEY, Append.underHead(user("a"), answer("b").withMade(made)));
        log().append(KEY, Append.underHead(answer("c").withMade(alone)));
        log().append(
                        KEY,
                        Append.underHead(answer("d").withMade(alone.withRequest("{}")))
                                .onBranch("tab"));
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.made(log, KEY, "a")).isEmpty();
            assertThat(Logs.made(log, KEY, "b")).contains(made);
            assertThat(Logs.made(log, KEY, "c")).contains(alone);
            assertThat(Logs.made(log, KEY, "d")).contains(alone.withRequest("{}"));
        }
        Logs.setOutcome(log(), KEY, "b", Outcome.rejected("x"), null);
        assertThat(Logs.made(reopen(), KEY, "b")).contains(made);
        assertThat(log().check(KEY)).isEmpty();
        for (Made bad : List.of(new Made(null, null, "a\0b", null, null), new Made(null, null, null, "\ud83d", null))) {
            assertThatThrownBy(() -> answer("x").withMade(bad)).isInstanceOf(InvalidInputException.class);
        }
    }

    @Test
    default void the_request_is_kept_beside_its_answer() throws Exception {
        String small = "{\"messages\":[\"\u00e9\ud83d\ude00 \\u0000\"]}";
        String large = "x".repeat(200_000);
        Seen seen = new Seen(Seen.ranges(List.of(1L)), List.of(), 0, true);
        log().append(KEY, Append.underHead(user("a")));
        log().append(KEY, Append.underHead(answer("b").withRequest(small)));
        log().append(
                        KEY,
                        Append.underHead(
                                answer("c").withSeen(seen).withUsage(Usage.NONE).withRequest(large), answer("d")));
        log().append(KEY, Append.under(Parent.of("a"), List.of(answer("e").withRequest(small))));
        log().append(KEY, Append.underHead(answer("f").withRequest(small)).onBranch("tab"));
        log().append(
                        NodeKey.of("acme", "app", "42", "writer"),
                        Append.underHead(answer("a").withRequest(small)));
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.made(log, KEY, "a")).isEmpty();
            assertThat(Logs.made(log, KEY, "b")).contains(Made.NOTHING.withRequest(small));
            assertThat(Logs.made(log, KEY, "c")).contains(new Made(seen, Usage.NONE).withRequest(large));
            assertThat(Logs.made(log, KEY, "d")).isEmpty();
            assertThat(Logs.made(log, KEY, "e")).contains(Made.NOTHING.withRequest(small));
            assertThat(Logs.made(log, KEY, "f")).contains(Made.NOTHING.withRequest(small));
            assertThat(Logs.made(log, NodeKey.of("acme", "app", "42", "writer"), "a"))
                    .contains(Made.NOTHING.withRequest(small));
            assertThat(log.history(KEY, HistoryQuery.oldest(10)).messages())
                    .extracting(LoggedMessage::message)
                    .contains(answer("c").message());
        }
        Logs.setOutcome(log(), KEY, "b", Outcome.rejected("x"), null);
        assertThat(Logs.made(reopen(), KEY, "b")).contains(Made.NOTHING.withRequest(small));
        log().append(KEY, Append.under(Parent.of("a"), List.of(answer("b"))));
        assertThat(Logs.made(log(), KEY, "b")).contains(Made.NOTHING.withRequest(small));
        assertThat(log().check(KEY)).isEmpty();
        assertThatThrownBy(() -> answer("x").withRequest("a\0b")).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> answer("x").withRequest("\ud83d")).isInstanceOf(InvalidInputException.class);

        log().erase(KEY);
        assertThatThrownBy(() -> Logs.made(log(), KEY, "b")).isInstanceOf(UnknownMessageException.class);
        log().append(KEY, Append.underHead(answer("b")));
        assertThat(Logs.made(log(), KEY, "b")).isEmpty();
    }

    @Test
    default void usage_is_summed_by_memory_and_day() throws Exception {
        LocalDate day = today();
        NodeKey node = NodeKey.of("acme", "app", "42", "writer");
        log().append(
                        KEY,
                        Append.underHead(
                                user("a"),
                                answer("b").withUsage(new Usage(10, 1, 5)),
                                answer("c").withUsage(new Usage(20, 2, 0))));
        log().append(KEY, Append.underHead(answer("d").withUsage(new Usage(100, 3, 0))));
        log().append(node, Append.underHead(answer("a").withUsage(new Usage(7, 7, 7))));
        log().append(
                        ConversationKey.of("other", "42"),
                        Append.underHead(answer("a").withUsage(new Usage(9, 9, 9))));
        clock().advance(Duration.ofDays(2));
        log().append(KEY, Append.underHead(answer("e").withUsage(new Usage(1, 1, 1))));

        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.usage(log, "acme", day, day.plusDays(3)))
                    .containsExactlyInAnyOrder(
                            new DailyUsage(KEY, day, new Usage(130, 6, 5)),
                            new DailyUsage(node, day, new Usage(7, 7, 7)),
                            new DailyUsage(KEY, day.plusDays(2), new Usage(1, 1, 1)));
            assertThat(Logs.usage(log, "acme", day.plusDays(1), day.plusDays(3)))
                    .containsExactly(new DailyUsage(KEY, day.plusDays(2), new Usage(1, 1, 1)));
            assertThat(Logs.usage(log, "acme", day.plusDays(1), day.plusDays(2)))
                    .isEmpty();
            assertThat(Logs.usage(log, "acme", day, day)).isEmpty();
            assertThat(Logs.usage(log, "nobody", day, day.plusDays(3))).isEmpty();
            assertThatThrownBy(() -> Logs.usage(log, "acme", day, day.minusDays(1)))
                    .isInstanceOf(InvalidInputException.class);
            assertThat(Logs.usage(log, "acme", LocalDate.MIN, LocalDate.MAX)).hasSize(3);
        }
    }

    @Test
    default void a_list_with_usage_has_only_the_memories_with_usage_in_its_days() {
        LocalDate day = today();
        for (int i = 0; i < 7; i++) {
            ConversationKey key = ConversationKey.of("acme", "chat" + i);
            log().append(key, Append.underHead(user("a"), i % 3 == 0 ? user("b") : used("b", i)));
            log().append(key, Append.underHead(i % 2 == 0 ? used("c", 10 * i) : user("c")));
        }
        clock().advance(Duration.ofDays(1));
        log().append(ConversationKey.of("acme", "chat1"), Append.underHead(used("d", 100)));
        log().append(ConversationKey.of("acme", "later"), Append.underHead(used("a", 100)));

        for (ListQuery first : List.of(ListQuery.first(2), ListQuery.first(2).byActivity())) {
            List<DailyUsage> usage = new ArrayList<>();
            List<MemoryKey> listed = new ArrayList<>();
            for (Optional<ListQuery> next = Optional.of(first.withUsage(day, day.plusDays(1))); next.isPresent(); ) {
                MemoryPage page = log().list("acme", next.get());
                assertThat(page.memories()).hasSizeLessThanOrEqualTo(2);
                assertThat(page.usage())
                        .extracting(DailyUsage::key)
                        .containsExactlyInAnyOrderElementsOf(
                                page.memories().stream().map(MemoryInfo::key).toList());
                page.memories().forEach(info -> listed.add(info.key()));
                usage.addAll(page.usage());
                next = page.next();
            }
            assertThat(listed).hasSize(6).doesNotHaveDuplicates();
            assertThat(usage)
                    .extracting(DailyUsage::key, each -> each.usage().input())
                    .containsExactlyInAnyOrder(
                            tuple(ConversationKey.of("acme", "chat0"), 0L),
                            tuple(ConversationKey.of("acme", "chat1"), 1L),
                            tuple(ConversationKey.of("acme", "chat2"), 22L),
                            tuple(ConversationKey.of("acme", "chat4"), 44L),
                            tuple(ConversationKey.of("acme", "chat5"), 5L),
                            tuple(ConversationKey.of("acme", "chat6"), 60L));
        }
        assertThat(log().list("acme", ListQuery.first(100)).usage()).isEmpty();
    }

    private static NewMessage used(String id, long tokens) {
        return answer(id).withUsage(new Usage(tokens, 0, 0));
    }

    @Test
    default void how_messages_of_several_memories_were_made_is_found_with_them() {
        Made made = new Made(null, new Usage(1, 2, 3), "gpt", "STOP", "{}");
        NodeKey node = NodeKey.of("acme", "app", "42", "writer");
        log().append(KEY, Append.underHead(user("a"), answer("b").withMade(made), answer("c")));
        log().append(node, Append.underHead(answer("a").withMade(made.withRequest(null))));

        Selection ids = Selection.ofIds(Map.of(KEY, List.of("c", "b", "none"), node, List.of("a")));
        Selection sequences = Selection.ofSequences(Map.of(KEY, List.of(2L, 3L, 9L), node, List.of(1L)));
        for (Selection selection : List.of(ids, sequences)) {
            Map<MemoryKey, List<Found>> found = log().find(selection.withMade());
            assertThat(found.keySet()).containsExactlyInAnyOrder(KEY, node);
            assertThat(found.get(KEY)).extracting(Found::made).containsExactly(made, null);
            assertThat(found.get(KEY)).extracting(each -> each.message().id()).containsExactly("b", "c");
            assertThat(found.get(node)).extracting(Found::made).containsExactly(made.withRequest(null));
            assertThat(log().find(selection).get(KEY)).extracting(Found::made).containsOnlyNulls();
        }
        assertThat(log().find(Selection.ofIds(Map.of()))).isEmpty();
        assertThatThrownBy(() -> new Selection(ids.ids(), sequences.sequences(), false))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    default void a_replayed_append_counts_its_usage_once() {
        Append append = Append.underHead(user("a"), answer("b").withUsage(new Usage(10, 1, 0)));
        log().append(KEY, append);
        assertThat(log().append(KEY, append).replayed()).isTrue();
        Append another = Append.underHead(user("a"), answer("b").withUsage(new Usage(99, 99, 99)));
        assertThat(log().append(KEY, another).replayed()).isTrue();
        Append conflict = Append.underHead(user(SECRET), answer("b").withUsage(new Usage(99, 99, 99)));
        assertThatThrownBy(() -> log().append(KEY, conflict)).isInstanceOf(MessageIdConflictException.class);

        assertThat(usageOfToday()).containsExactly(new DailyUsage(KEY, today(), new Usage(10, 1, 0)));
        assertThat(Logs.made(log(), KEY, "b")).contains(new Made(null, new Usage(10, 1, 0)));
    }

    @Test
    default void usage_counts_on_the_day_of_the_message() {
        NewMessage eve =
                new NewMessage("a", answer("a").message(), 1, "c", Instant.parse("2026-01-01T23:59:59.999999Z"));
        NewMessage morning = new NewMessage("b", answer("b").message(), 1, "c", Instant.parse("2026-01-02T00:00:00Z"));
        NewMessage early = new NewMessage("c", answer("c").message(), 1, "c", Instant.parse("1969-12-31T00:00:00Z"));
        Usage one = new Usage(1, 2, 3);
        log().append(KEY, Append.underHead(early.withUsage(one), eve.withUsage(one), morning.withUsage(one)));

        assertThat(Logs.usage(log(), "acme", LocalDate.of(2025, 12, 31), LocalDate.of(2026, 1, 3)))
                .containsExactly(
                        new DailyUsage(KEY, LocalDate.of(2026, 1, 1), one),
                        new DailyUsage(KEY, LocalDate.of(2026, 1, 2), one));
        assertThat(Logs.usage(log(), "acme", LocalDate.of(1969, 1, 1), LocalDate.of(1970, 1, 1)))
                .containsExactly(new DailyUsage(KEY, LocalDate.of(1969, 12, 31), one));
    }

    @Test
    default void an_erasure_deletes_outcomes_and_usage() {
        log().append(
                        KEY,
                        Append.underHead(answer("a")
                                .withOutcome(Outcome.incomplete("cut"))
                                .withSeen(new Seen(List.of(), List.of(), 0, true))
                                .withUsage(new Usage(1, 1, 1))));
        log().erase(KEY);

        assertThat(usageOfToday()).isEmpty();
        assertThatThrownBy(() -> Logs.made(log(), KEY, "a")).isInstanceOf(UnknownMessageException.class);
        log().append(KEY, Append.underHead(answer("a")));
        assertThat(outcomeOf("a")).isNull();
        assertThat(Logs.made(log(), KEY, "a")).isEmpty();
        assertThat(usageOfToday()).isEmpty();
    }

    @Test
    default void summaries_tell_their_versions() throws Exception {
        log().append(KEY, batch("a", "b", "c"));
        Summary put = new Summary("b", "text", 1, "test-counter", 1, 1, null, Instant.EPOCH);
        Logs.putSummary(log(), KEY, put, 1);
        Logs.putSummary(log(), KEY, put, 1);
        Logs.putSummary(log(), KEY, new Summary("a", "text", 1, "test-counter", 1, 1, null, Instant.EPOCH), 1);

        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.summaries(log, KEY))
                    .extracting(Summary::version)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, 3).boxed().toList());
            assertThat(log.read(KEY, ReadQuery.newest(1).upToSummary())
                            .summary()
                            .version())
                    .isEqualTo(2);
        }
    }

    @Test
    default void a_summary_that_is_copied_again_is_stored_once() throws Exception {
        log().append(KEY, batch("a", "b"));
        Summary first = new Summary("a", "text", 1, "test-counter", 1, 1, null, Instant.EPOCH, 1);
        Threads.run(3, thread -> Logs.putSummary(log(), KEY, first, 1));
        Threads.run(3, thread -> Logs.putSummary(log(), KEY, first.withVersion(2), 1));
        Logs.putSummary(log(), KEY, first, 1);
        Logs.putSummary(log(), KEY, first.withVersion(0), 1);
        for (MessageLog log : List.of(log(), reopen())) {
            assertThat(Logs.summaries(log, KEY)).extracting(Summary::version).containsExactly(1L, 2L, 3L);
        }
    }
}
