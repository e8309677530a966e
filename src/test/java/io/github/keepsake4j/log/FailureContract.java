package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Damage is reported as an error, never as "empty", and loses no stored message. */
public interface FailureContract extends LogUnderTest {

    @Test
    default void an_unreadable_message_is_an_error_that_names_it() throws Exception {
        log().append(KEY, batch("first", "second"));
        corrupt(KEY, "second");

        assertUnreadable("second", () -> log().read(KEY, ReadQuery.newest(1)));
        assertUnreadable("second", () -> log().history(KEY, HistoryQuery.newest(10)));
        assertUnreadable("second", () -> log().append(KEY, batch("second")));
    }

    @Test
    default void nothing_is_written_over_unreadable_data() throws Exception {
        log().append(KEY, batch("first", "second"));
        corrupt(KEY, "first");
        String damaged = rawBytes(KEY, "first");

        tolerant(() -> log().append(KEY, batch("first")));
        tolerant(() -> log().append(KEY, batch("third")));
        tolerant(() -> log().append(KEY, batchUnder("first", "fourth")));
        tolerant(() -> Logs.moveHead(log(), KEY, "second", null));
        tolerant(() -> Logs.describe(log(), KEY, "title", Map.of()));
        tolerant(() -> Logs.mergeMetadata(log(), KEY, Map.of("name", "text")));
        tolerant(() -> log().acquireLease(KEY, "work", "one", Duration.ofSeconds(1)));

        assertThat(rawBytes(KEY, "first")).isEqualTo(damaged);
        assertThat(damaged).isNotEmpty();
        assertUnreadable("first", () -> log().read(KEY, ReadQuery.wholeBranch().endingIn("second")));
    }

    @Test
    default void other_memories_can_be_read_beside_an_unreadable_one() throws Exception {
        log().append(KEY, batch("a"));
        log().append(ConversationKey.of("acme", "43"), batch("a"));
        corrupt(KEY, "a");

        assertThat(branch(log(), ConversationKey.of("acme", "43"))).containsExactly("a");
    }

    @Test
    default void an_unreadable_memory_can_be_erased() throws Exception {
        log().append(KEY, batch("a"));
        corrupt(KEY, "a");

        log().erase(KEY);
        log().append(KEY, batch("a"));

        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void closing_twice_is_harmless() throws Exception {
        MessageLog second = reopen();
        second.close();

        assertThatCode(second::close).doesNotThrowAnyException();
    }

    private static void assertUnreadable(String messageId, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical())
                .hasMessageContaining(messageId)
                .hasMessageNotContaining(SECRET);
    }

    /** A backend that keeps a memory in one piece may refuse calls that a backend with rows can serve. */
    private static void tolerant(ThrowingCallable call) throws Exception {
        try {
            call.call();
        } catch (UnreadableDataException e) {
            assertThat(e).hasMessageContaining(KEY.canonical());
        } catch (Throwable e) {
            throw new AssertionError("neither done nor refused as unreadable", e);
        }
    }
}
