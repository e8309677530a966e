package io.github.keepsake4j.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.ShownView;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lists that are kept, by their number and by their length. */
class RecentListsTest {

    private final RecentLists lists = new RecentLists();

    @Test
    void a_thousand_short_lists_are_kept_and_the_oldest_goes_first() {
        for (int i = 0; i < 1_000; i++) {
            put(key(i), 1, "short");
        }
        assertThat(lists.get(key(0))).isNotNull();
        put(key(1_000), 1, "short");
        assertThat(lists.get(key(1))).isNull();
        assertThat(lists.get(key(0)).messages()).containsExactly(UserMessage.from("short"));
    }

    @Test
    void a_list_as_long_as_everything_takes_the_room_of_all_others_and_a_longer_one_takes_none() {
        put(key(0), 1, "short");
        put(key(1), 1, "x".repeat(15_999_000));
        assertThat(lists.get(key(0))).isNull();
        assertThat(lists.get(key(1))).isNotNull();
        put(key(2), 1, "x".repeat(16_000_000));
        assertThat(lists.get(key(1))).isNotNull();
        assertThat(lists.get(key(2))).isNull();
        put(key(1), 2, "x".repeat(16_000_000));
        assertThat(lists.get(key(1))).as("what it showed before").isNull();
        for (int i = 0; i < 1_000; i++) {
            put(key(i), 1, "short");
        }
        assertThat(lists.get(key(0))).as("the room is free again").isNotNull();
    }

    @Test
    void each_caller_receives_instances_of_its_own_and_an_erased_memory_may_use_an_id_again() {
        put(key(0), 1, "first");
        ChatMessage given = lists.get(key(0)).messages().get(0);
        assertThat(lists.get(key(0)).messages()).containsExactly(given).doesNotHaveDuplicates();
        assertThat(lists.get(key(0)).messages().get(0)).isNotSameAs(given);
        put(key(0), 2, "second");
        assertThat(lists.get(key(0)).messages()).containsExactly(UserMessage.from("second"));
    }

    private void put(MemoryKey key, long epoch, String text) {
        ShownView shown = ShownView.of(new Tail(
                new Position(epoch, 1, "id"),
                List.of(new LoggedMessage("id", null, 1, UserMessage.from(text), 1, "words", Instant.EPOCH)),
                List.of(),
                null,
                null,
                null,
                null,
                true,
                null));
        lists.put(key, shown.reading(), shown.given());
    }

    private static MemoryKey key(int number) {
        return ConversationKey.of("default", "m" + number);
    }
}
