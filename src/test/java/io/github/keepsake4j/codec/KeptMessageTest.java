package io.github.keepsake4j.codec;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.testing.Messages;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** What is given out of a kept message, against what a read would give out. */
class KeptMessageTest {

    private static final MessageCodec CODEC = new MessageCodec();

    @Provide
    Arbitrary<ChatMessage> messages() {
        return Messages.anyMessage();
    }

    @Property(tries = 500)
    void each_instance_is_a_new_one_and_equals_what_is_stored(@ForAll("messages") ChatMessage message) {
        String stored = CODEC.encode(message);
        ChatMessage read = CODEC.decode(stored);
        KeptMessage kept = KeptMessage.of(read);
        ChatMessage first = kept.instance();
        ChatMessage second = kept.instance();
        assertThat(first).isEqualTo(read).isNotSameAs(read).hasSameClassAs(read);
        assertThat(second).isEqualTo(read).isNotSameAs(first);
        assertThat(CODEC.encode(first)).isEqualTo(stored);
    }

    @Test
    void what_a_caller_does_to_its_message_afterwards_is_not_kept() {
        UserMessage own = UserMessage.from("q");
        KeptMessage kept = KeptMessage.of(own);
        own.attributes().put("a", "b");
        UserMessage given = (UserMessage) kept.instance();
        assertThat(given.attributes()).isEmpty();
        given.attributes().put("c", "d");
        assertThat(((UserMessage) kept.instance()).attributes()).isEmpty();
    }

    @Test
    void the_size_is_that_of_the_text_and_some_more() {
        assertThat(KeptMessage.of(SystemMessage.from("x".repeat(1_000))).size()).isBetween(1_000L, 1_500L);
        assertThat(KeptMessage.of(UserMessage.from("x".repeat(1_000))).size()).isBetween(1_000L, 1_500L);
        String text = "x".repeat(1_000);
        UserMessage named = UserMessage.from(text, "q");
        assertThat(KeptMessage.of(named).size()).isGreaterThan(1_000L);
        AiMessage call = AiMessage.from(call(text, text, "{}"));
        assertThat(KeptMessage.of(call).size()).isGreaterThan(2_000L);
        assertThat(KeptMessage.of(ToolExecutionResultMessage.from(text, text, "r"))
                        .size())
                .isGreaterThan(2_000L);
    }
}
