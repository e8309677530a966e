package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Ids are data. Whatever characters they contain, each memory returns only its own messages. */
public interface KeyContract extends LogUnderTest {

    /** Ids that a path, a pattern, or a case-insensitive or normalising storage would confuse. */
    List<String> ODD_IDS = List.of(
            "a",
            "A",
            "a ",
            " a",
            "a.",
            "a/",
            "a/b",
            "a%2Fb",
            "a%",
            "_",
            "%",
            "..",
            ".",
            "../a",
            "/",
            "\\",
            "a'b",
            "a''b",
            "a\"b",
            "'; DROP TABLE x; --",
            "a\nb",
            "a\r\nb",
            "a\tb",
            "null",
            "CON",
            "*",
            "{}",
            "\u00e9",
            "e\u0301",
            "\ufeff",
            "\u202e",
            "ß",
            "ss",
            "😀",
            "x".repeat(512),
            "x".repeat(511),
            "ü".repeat(256),
            "😀".repeat(128));

    @Test
    default void no_error_carries_aControl_character_of_an_id() {
        String odd = "a\nb\r\u001b[31m\u202e\u2028";
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> log().append(KEY, Append.under(Parent.of(odd), List.of(message("m", UserMessage.from("x"), 1)))),
                () -> Logs.moveHead(log(), KEY, odd, null))) {
            assertThatThrownBy(call).isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.getMessage())
                    .contains("a")
                    .doesNotContainPattern("[\\p{Cntrl}\\p{Cf}\u2028]"));
        }
    }

    @Test
    default void odd_conversation_ids_name_memories_of_their_own() {
        assertEachMeetsItsOwn(ODD_IDS.stream()
                .map(id -> (MemoryKey) ConversationKey.of("acme", id))
                .toList());
    }

    @Test
    default void odd_tenants_name_memories_of_their_own() {
        List<MemoryKey> keys = ODD_IDS.stream()
                .map(id -> (MemoryKey) ConversationKey.of(id, "42"))
                .toList();
        assertEachMeetsItsOwn(keys);
        // The first one was erased.
        for (MemoryKey key : keys.subList(1, keys.size())) {
            assertThat(list(log(), key.tenant(), 10))
                    .extracting(MemoryInfo::key)
                    .containsExactly(key);
        }
    }

    @Test
    default void scopes_and_places_of_ids_are_kept_apart() {
        String longest = "ü".repeat(256);
        assertEachMeetsItsOwn(List.of(
                ConversationKey.of("a", "b"),
                ConversationKey.of("b", "a"),
                NodeKey.of("a", "a", "b", "b"),
                NodeKey.of("a", "b", "a", "b"),
                NodeKey.of("a", "b", "b", "a"),
                NodeKey.of("b", "b", "a", "a"),
                NodeKey.of("a", "b/c", "d", "e"),
                NodeKey.of("a", "b", "c/d", "e"),
                NodeKey.of("a", "b", "c", "d/e"),
                ConversationKey.of("a", "b/c/d/e"),
                ConversationKey.of("node", "a"),
                NodeKey.of("conversation", "a", "b", "c"),
                NodeKey.of(longest, longest, longest, longest),
                NodeKey.of(longest, longest, longest, "ü".repeat(255) + "é")));
    }

    @Test
    default void odd_message_ids_are_different_messages() {
        for (String id : ODD_IDS) {
            log().append(KEY, batch(id));
        }

        assertThat(branch(log(), KEY)).isEqualTo(ODD_IDS);
        for (int i = 1; i < ODD_IDS.size(); i++) {
            Tail tail =
                    log().read(KEY, ReadQuery.newest(5).endingIn(ODD_IDS.get(i)).after(ODD_IDS.get(i - 1)));
            assertThat(ids(tail.messages())).containsExactly(ODD_IDS.get(i));
            assertThat(log().append(KEY, batch(ODD_IDS.get(i))).replayed()).isTrue();
        }
    }

    @Test
    default void odd_lease_names_and_owners_are_kept_apart() {
        Duration minute = Duration.ofMinutes(1);
        for (String id : ODD_IDS) {
            assertThat(log().acquireLease(KEY, id, id, minute)).isPresent();
        }
        for (int i = 1; i < ODD_IDS.size(); i++) {
            assertThat(log().acquireLease(KEY, ODD_IDS.get(i), ODD_IDS.get(i - 1), minute))
                    .isEmpty();
            log().releaseLease(KEY, ODD_IDS.get(i), ODD_IDS.get(i - 1));
            assertThat(log().acquireLease(KEY, ODD_IDS.get(i), ODD_IDS.get(i), minute))
                    .isPresent();
        }
    }

    /** Appends messages with the same ids to every memory, and checks that each memory reads only its own. */
    private void assertEachMeetsItsOwn(List<MemoryKey> keys) {
        List<AppendResult> results = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            NewMessage own = message("m", UserMessage.from("of memory " + i), 1);
            results.add(log().append(keys.get(i), Append.under(Parent.head(), List.of(own, user("n")))));
            Logs.describe(log(), keys.get(i), "title " + i, Map.of());
        }
        assertThat(results).noneMatch(AppendResult::replayed).allMatch(result -> result.previousHead() == null);
        for (int i = 0; i < keys.size(); i++) {
            MemoryKey key = keys.get(i);
            assertThat(log().read(key, ReadQuery.wholeBranch())
                            .messages()
                            .get(0)
                            .message())
                    .as("%s", key)
                    .isEqualTo(UserMessage.from("of memory " + i));
            String title = "title " + i;
            assertThat(list(log(), key.tenant(), 1000))
                    .filteredOn(info -> info.key().equals(key))
                    .singleElement()
                    .satisfies(info -> assertThat(info.title()).isEqualTo(title));
        }
        log().erase(keys.get(0));
        for (MemoryKey key : keys.subList(1, keys.size())) {
            assertThat(branch(log(), key)).as("%s", key).containsExactly("m", "n");
        }
    }
}
