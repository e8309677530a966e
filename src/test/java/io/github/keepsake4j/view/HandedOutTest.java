package io.github.keepsake4j.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An instance is known exactly as long as its caller holds it. */
class HandedOutTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "x");

    private final HandedOut handedOut = new HandedOut();

    private void add(ShownView shown) {
        handedOut.add(KEY, shown.reading(), shown.given());
    }

    @Test
    void a_million_released_reads_leave_no_heap() {
        for (int read = 0; read < Counts.of(50_000, 1_000_000); read++) {
            add(shown(3, read));
        }
        await().atMost(Duration.ofMinutes(5)).pollInSameThread().until(() -> {
            System.gc();
            add(ShownView.of(Tail.empty(Position.NONE)));
            return handedOut.size() == 0;
        });
    }

    @Test
    void an_instance_that_changed_is_another_message_and_is_remembered_as_given_out() {
        ShownView shown = shown(2, 0);
        add(shown);
        List<ChatMessage> list = new ArrayList<>();
        shown.messages().forEach(message -> list.add(message.message()));
        assertThat(handedOut.recognize(KEY, list).places()).doesNotContainNull();

        ((UserMessage) list.get(0)).attributes().put("changed", true);

        assertThat(handedOut.recognize(KEY, list).places()[0]).isNull();
        assertThat(handedOut.recognize(KEY, list).places()[1]).isNotNull();
        assertThat(handedOut.holdsErased(KEY, 2, list.subList(0, 1))).isTrue();
    }

    @Test
    void an_instance_that_comes_twice_in_a_list_is_a_message_once() {
        ShownView shown = shown(1, 0);
        add(shown);
        ChatMessage message = shown.messages().get(0).message();
        assertThat(handedOut.recognize(KEY, List.of(message, message)).places()[1])
                .isNull();
        assertThat(handedOut
                        .recognize(ConversationKey.of("default", "y"), List.of(message))
                        .saw())
                .isNull();
    }

    private static ShownView shown(int messages, int read) {
        List<LoggedMessage> list = new ArrayList<>();
        String parent = null;
        for (int i = 1; i <= messages; i++) {
            String id = read + "-" + i;
            list.add(new LoggedMessage(id, parent, i, UserMessage.from("text " + i), 1, "words", Instant.EPOCH));
            parent = id;
        }
        return ShownView.of(new Tail(new Position(1, 1, parent), list, List.of(), null, null, null, null, true, null));
    }
}
