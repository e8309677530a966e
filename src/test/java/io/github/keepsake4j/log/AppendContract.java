package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Appends: all or none of a batch is stored, once, in the named place. */
public interface AppendContract extends LogUnderTest {

    /** A kind of message that no codec knows. */
    final class Unencodable implements ChatMessage {

        @Override
        public ChatMessageType type() {
            return ChatMessageType.USER;
        }
    }

    @Test
    default void a_memory_that_was_never_written_is_empty() {
        Tail tail = log().read(KEY, ReadQuery.wholeBranch());

        assertThat(tail.head()).isNull();
        assertThat(tail.messages()).isEmpty();
        assertThat(tail.complete()).isTrue();
        assertThat(tail.missingParent()).isNull();
        assertThat(log().branches(KEY)).isEmpty();
        assertThat(Logs.summaries(log(), KEY)).isEmpty();
        assertThat(log().history(KEY, HistoryQuery.newest(10)).messages()).isEmpty();
    }

    @Test
    default void an_append_follows_the_head_and_tells_the_head_from_before() {
        AppendResult first = log().append(KEY, batch("a", "b"));
        AppendResult second = log().append(KEY, batch("c"));

        assertThat(first.previousHead()).isNull();
        assertThat(first.head()).isEqualTo("b");
        assertThat(first.replayed()).isFalse();
        assertThat(second.previousHead()).isEqualTo("b");
        assertThat(second.head()).isEqualTo("c");
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
    }

    @Test
    default void a_stored_message_tells_all_that_was_appended() {
        log().append(KEY, Append.under(Parent.head(), List.of(user("a"), answer("b"))));

        LoggedMessage b = log().read(KEY, ReadQuery.newest(1)).messages().get(0);

        assertThat(b.id()).isEqualTo("b");
        assertThat(b.parentId()).isEqualTo("a");
        assertThat(b.sequence()).isEqualTo(2);
        assertThat(b.message()).isEqualTo(answer("b").message());
        assertThat(b.tokens()).isEqualTo(10);
        assertThat(b.tokenCounter()).isEqualTo("test-counter");
    }

    @Test
    default void what_was_appended_is_there_for_another_process() throws Exception {
        log().append(KEY, batch("a", "b"));
        MessageLog other = reopen();
        other.append(KEY, batch("c"));

        assertThat(branch(other, KEY)).containsExactly("a", "b", "c");
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
    }

    @Test
    default void a_batch_with_aMessage_that_cannot_be_encoded_leaves_nothing() {
        log().append(KEY, batch("a"));
        Append refused = Append.under(Parent.head(), List.of(user("b"), message("c", new Unencodable(), 1), user("d")));

        assertThatThrownBy(() -> log().append(KEY, refused)).isInstanceOf(InvalidInputException.class);

        assertThat(ids(history(log(), KEY))).containsExactly("a");
        assertThat(log().append(KEY, batch("b")).replayed()).isFalse();
        assertThat(history(log(), KEY)).extracting(LoggedMessage::sequence).containsExactly(1L, 2L);
    }

    @Test
    default void a_refused_first_batch_makes_no_memory() {
        Append refused = Append.under(Parent.head(), List.of(user("b"), message("c", new Unencodable(), 1)));

        assertThatThrownBy(() -> log().append(KEY, refused)).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> log().append(KEY, batchUnder("nowhere", "b")))
                .isInstanceOf(UnknownParentException.class);

        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
    }

    @Test
    default void a_batch_that_is_there_is_aReplay_and_changes_nothing() {
        AppendResult first = log().append(KEY, batch("a", "b"));

        AppendResult again = log().append(KEY, batch("a", "b"));

        assertThat(again.replayed()).isTrue();
        assertThat(again.head()).isEqualTo("b");
        assertThat(again.previousHead()).isEqualTo("b");
        assertThat(again.epoch()).isEqualTo(first.epoch());
        assertThat(again.revision()).isEqualTo(first.revision());
        assertThat(ids(history(log(), KEY))).containsExactly("a", "b");
    }

    @Test
    default void a_replay_does_not_move_the_head_back() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batch("c"));

        AppendResult again = log().append(KEY, batch("a", "b"));

        assertThat(again.replayed()).isTrue();
        assertThat(again.head()).isEqualTo("c");
        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
    }

    @Test
    default void tokens_counter_and_time_do_not_make_aReplay_another_batch() {
        log().append(KEY, batch("a"));
        NewMessage recounted = new NewMessage("a", user("a").message(), 99, "other", Instant.EPOCH);
        clock().advance(Duration.ofHours(1));

        assertThat(log().append(KEY, Append.under(Parent.head(), List.of(recounted)))
                        .replayed())
                .isTrue();
        LoggedMessage kept = history(log(), KEY).get(0);
        assertThat(kept.tokens()).isEqualTo(10);
        assertThat(kept.tokenCounter()).isEqualTo("test-counter");
    }

    @Test
    default void a_used_id_with_other_content_is_an_error_that_names_the_id_only() {
        log().append(KEY, batch("a"));
        NewMessage other = message("a", UserMessage.from(SECRET + " other"), 10);

        assertThatThrownBy(() -> log().append(KEY, Append.under(Parent.head(), List.of(other))))
                .isInstanceOfSatisfying(MessageIdConflictException.class, e -> assertThat(e.messageId())
                        .isEqualTo("a"))
                .hasMessageContaining(KEY.canonical())
                .hasMessageNotContaining(SECRET);
        assertThat(history(log(), KEY).get(0).message()).isEqualTo(user("a").message());
    }

    @Test
    default void the_same_text_in_another_role_is_other_content() {
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> log().append(KEY, Append.under(Parent.head(), List.of(answer("a")))))
                .isInstanceOf(MessageIdConflictException.class);
    }

    @Test
    default void a_batch_whose_beginning_is_there_is_refused() {
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> log().append(KEY, batch("a", "b")))
                .isInstanceOfSatisfying(MessageIdConflictException.class, e -> assertThat(e.messageId())
                        .isEqualTo("a"));
        assertThat(ids(history(log(), KEY))).containsExactly("a");
    }

    @Test
    default void a_batch_whose_end_is_there_is_refused() {
        log().append(KEY, batch("a"));

        assertThatThrownBy(() -> log().append(KEY, batch("b", "a")))
                .isInstanceOfSatisfying(MessageIdConflictException.class, e -> assertThat(e.messageId())
                        .isEqualTo("a"));
        assertThat(ids(history(log(), KEY))).containsExactly("a");
    }

    @Test
    default void the_same_messages_in_another_order_are_no_replay() {
        log().append(KEY, batch("a", "b"));

        assertThatThrownBy(() -> log().append(KEY, batch("b", "a"))).isInstanceOf(MessageIdConflictException.class);
    }

    @Test
    default void the_same_id_in_two_memories_is_two_messages() {
        MemoryKey other = ConversationKey.of("acme", "43");
        log().append(KEY, batch("a"));
        NewMessage otherContent = message("a", UserMessage.from("else"), 3);

        assertThat(log().append(other, Append.under(Parent.head(), List.of(otherContent)))
                        .replayed())
                .isFalse();
        assertThat(history(log(), KEY).get(0).message()).isEqualTo(user("a").message());
        assertThat(history(log(), other).get(0).message()).isEqualTo(UserMessage.from("else"));
    }

    @Test
    default void an_id_twice_in_one_batch_is_refused() {
        assertThatThrownBy(() -> log().append(KEY, batch("a", "b", "a")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("a");
        assertThat(history(log(), KEY)).isEmpty();
    }

    @Test
    default void equal_messages_with_their_own_ids_are_both_kept() {
        ChatMessage ok = UserMessage.from("ok");

        log().append(KEY, Append.under(Parent.head(), List.of(message("a", ok, 1), message("b", ok, 1))));
        log().append(KEY, Append.under(Parent.head(), List.of(message("c", ok, 1))));

        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
    }

    @Test
    default void compare_and_set_refuses_another_head() {
        log().append(KEY, batch("a", "b"));

        assertThatThrownBy(() -> log().append(KEY, batch("c").expectingHead("a")))
                .isInstanceOfSatisfying(HeadConflictException.class, e -> assertThat(e.actualHead())
                        .isEqualTo("b"))
                .hasMessageContaining(KEY.canonical());
        assertThat(branch(log(), KEY)).containsExactly("a", "b");

        assertThat(log().append(KEY, batch("c").expectingHead("b")).head()).isEqualTo("c");
    }

    @Test
    default void compare_and_set_on_an_empty_memory() {
        assertThatThrownBy(() -> log().append(KEY, batch("a").expectingHead("x")))
                .isInstanceOfSatisfying(HeadConflictException.class, e -> assertThat(e.actualHead())
                        .isNull());

        log().append(KEY, batch("a").expectingHead(null));

        assertThatThrownBy(() -> log().append(KEY, batch("b").expectingHead(null)))
                .isInstanceOf(HeadConflictException.class);
        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void compare_and_set_holds_for_aNamed_parent_too() {
        log().append(KEY, batch("a", "b"));

        assertThatThrownBy(() -> log().append(KEY, batchUnder("a", "c").expectingHead("a")))
                .isInstanceOf(HeadConflictException.class);
        assertThat(log().append(KEY, batchUnder("a", "c").expectingHead("b")).head())
                .isEqualTo("c");
    }

    @Test
    default void a_replay_is_recognised_before_the_head_is_compared() {
        log().append(KEY, batch("a").expectingHead(null));
        log().append(KEY, batch("b"));

        assertThat(log().append(KEY, batch("a").expectingHead(null)).replayed()).isTrue();
        assertThat(branch(log(), KEY)).containsExactly("a", "b");
    }

    @Test
    default void a_replay_under_its_named_parent_is_aReplay() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("a", "c"));

        assertThat(log().append(KEY, batchUnder("a", "c")).replayed()).isTrue();
        assertThat(log().append(KEY, batch("c")).replayed()).isTrue();
        assertThat(history(log(), KEY)).hasSize(3);
    }

    @Test
    default void a_replay_under_another_named_parent_is_an_error() {
        log().append(KEY, batch("a", "b", "c"));

        assertThatThrownBy(() -> log().append(KEY, batchUnder("a", "c")))
                .isInstanceOfSatisfying(MessageIdConflictException.class, e -> assertThat(e.messageId())
                        .isEqualTo("c"));
        assertThatThrownBy(() -> log().append(KEY, Append.under(Parent.root(), users("c"))))
                .isInstanceOf(MessageIdConflictException.class);
        assertThat(history(log(), KEY)).hasSize(3);
    }

    @Test
    default void an_unknown_parent_is_refused() {
        log().append(KEY, batch("a"));
        log().append(ConversationKey.of("acme", "43"), batch("elsewhere"));

        assertThatThrownBy(() -> log().append(KEY, batchUnder("elsewhere", "b")))
                .isInstanceOf(UnknownParentException.class)
                .hasMessageContaining("elsewhere")
                .hasMessageContaining(KEY.canonical());
        assertThatThrownBy(() -> log().append(KEY, batchUnder("b", "b"))).isInstanceOf(UnknownParentException.class);
        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void an_import_keeps_an_unknown_parent_and_reads_report_it() {
        log().append(KEY, batchUnder("lost", "a", "b").asImport());

        Tail whole = log().read(KEY, ReadQuery.wholeBranch());
        assertThat(ids(whole.messages())).containsExactly("a", "b");
        assertThat(whole.messages().get(0).parentId()).isEqualTo("lost");
        assertThat(whole.missingParent()).isEqualTo("lost");
        assertThat(log().read(KEY, ReadQuery.newest(1)).missingParent()).isNull();
        assertThat(log().append(KEY, batchUnder("lost", "a", "b").asImport()).replayed())
                .isTrue();
    }

    @Test
    default void an_imported_message_that_names_itself_as_parent_ends_the_walk() {
        log().append(KEY, batchUnder("a", "a", "b").asImport());

        assertThat(branch(log(), KEY)).containsExactly("a", "b");
    }

    @Test
    default void an_import_under_aKnown_parent_is_an_ordinary_append() {
        log().append(KEY, batch("a"));
        log().append(KEY, batchUnder("a", "b").asImport());

        assertThat(branch(log(), KEY)).containsExactly("a", "b");
        assertThat(log().read(KEY, ReadQuery.wholeBranch()).missingParent()).isNull();
    }

    @Test
    default void the_zero_uuid_as_parent_means_the_message_with_the_highest_sequence() {
        log().append(KEY, batch("a", "b"));
        log().append(KEY, batchUnder("a", "c"));
        Logs.moveHead(log(), KEY, "b", null);

        log().append(KEY, batchUnder(Ids.BEFORE_IN_TIME, "d"));

        assertThat(branch(log(), KEY)).containsExactly("a", "c", "d");
        assertThat(history(log(), KEY).get(3).parentId()).isEqualTo("c");
        assertThat(log().append(KEY, batchUnder(Ids.BEFORE_IN_TIME, "d")).replayed())
                .isTrue();
    }

    @Test
    default void the_zero_uuid_as_parent_means_the_root_where_nothing_is() {
        log().append(KEY, batchUnder(Ids.BEFORE_IN_TIME, "a"));

        Tail tail = log().read(KEY, ReadQuery.wholeBranch());
        assertThat(tail.messages().get(0).parentId()).isNull();
        assertThat(tail.missingParent()).isNull();
    }

    @Test
    default void order_is_the_sequence_whatever_the_clock_says() {
        for (String id : List.of("a", "b", "c")) {
            log().append(KEY, batch(id));
            clock().advance(Duration.ofHours(-1));
        }

        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
        assertThat(ids(history(log(), KEY))).containsExactly("a", "b", "c");
        assertThat(ids(log().read(KEY, ReadQuery.newest(1)).messages())).containsExactly("c");
    }

    @Test
    default void times_are_microseconds_of_utc() {
        log().append(KEY, batch("a"));
        Instant made = Instant.parse("1969-12-31T23:59:59.999999999Z");
        log().append(
                        KEY,
                        Append.under(
                                Parent.head(),
                                List.of(new NewMessage("b", user("b").message(), 1, "x", made))));

        assertThat(history(log(), KEY))
                .extracting(LoggedMessage::createdAt)
                .containsExactly(
                        Instant.parse("2026-01-02T03:04:05.123456Z"), Instant.parse("1969-12-31T23:59:59.999999Z"));
    }
}
