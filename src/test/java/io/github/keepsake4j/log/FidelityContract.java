package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Messages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Messages that are read equal the messages that were appended. */
public interface FidelityContract extends LogUnderTest {

    @Test
    default void text_comes_back_to_the_last_character() {
        List<String> texts = List.of(
                "",
                " ",
                "it's \"quoted\" \\ %s ? $1 {} :name",
                "line\nbreak\r\n\ttab\u0007bell\u2028",
                "nul \0 in the middle",
                "half \ud83d of a pair",
                "e\u0301 is not \u00e9, \ufeff, \u202e, 😀",
                "x".repeat(1 << 20));
        for (int i = 0; i < texts.size(); i++) {
            // TextContent refuses blank text, but an answer accepts it.
            ChatMessage message = AiMessage.from(texts.get(i));
            log().append(KEY, Append.under(Parent.head(), List.of(message("m" + i, message, 1))));
        }

        List<LoggedMessage> stored = history(log(), KEY);
        for (int i = 0; i < texts.size(); i++) {
            assertThat(((AiMessage) stored.get(i).message()).text()).isEqualTo(texts.get(i));
        }
    }

    @Test
    default void messages_of_every_type_come_back_equal() {
        long seed = System.nanoTime();
        List<ChatMessage> generated = Messages.sample(Messages.anyMessage(), Counts.of(300, 3_000), seed);
        for (int from = 0; from < generated.size(); from += 50) {
            List<NewMessage> batch = new ArrayList<>();
            for (int i = from; i < Math.min(from + 50, generated.size()); i++) {
                batch.add(message("m" + i, generated.get(i), 1));
            }
            log().append(KEY, Append.under(Parent.head(), batch));
            assertThat(log().append(KEY, Append.under(Parent.head(), batch)).replayed())
                    .as("seed %s: sent again", seed)
                    .isTrue();
        }

        assertThat(log().read(KEY, ReadQuery.wholeBranch()).messages())
                .as("seed %s", seed)
                .extracting(LoggedMessage::message)
                .isEqualTo(generated);
        assertThat(history(log(), KEY))
                .as("seed %s", seed)
                .extracting(LoggedMessage::message)
                .isEqualTo(generated);
    }

    @Test
    default void what_the_user_wrote_comes_back_with_the_question() {
        Image image = Image.builder()
                .base64Data("AAAA".repeat(100_000))
                .mimeType("image/png")
                .build();
        UserMessage sent = UserMessage.builder()
                .name("Ada")
                .contents(List.of(
                        TextContent.from("What? \0\ud83d and facts"),
                        ImageContent.from(image),
                        TextContent.from("You must")))
                .attributes(Map.of("a", 1L))
                .build();
        List<Asked> forms = List.of(
                new Asked("What?", null, "W\0", true, -1),
                new Asked("", null, null, false, -1),
                new Asked(
                        "What?",
                        later(sent, TextContent.from("What?"), sent.contents().get(1)),
                        null,
                        true,
                        90),
                new Asked("What?", later(sent, sent.contents().get(1), TextContent.from("\0 other")), null, true, -1));
        List<NewMessage> batch = new ArrayList<>();
        for (Asked asked : forms) {
            batch.add(message("m" + batch.size(), sent, 1).ofTurn("m0").withAsked(asked));
        }
        log().append(KEY, Append.under(Parent.head(), batch));

        List<LoggedMessage> read = log().read(KEY, ReadQuery.wholeBranch()).messages();
        assertThat(read).extracting(LoggedMessage::asked).isEqualTo(forms);
        assertThat(read).extracting(LoggedMessage::message).containsOnly(sent);
        assertThat(read).extracting(LoggedMessage::question).containsOnly("m0");
        assertThat(history(log(), KEY)).isEqualTo(read);
        assertThat(Reads.messages(log(), KEY, Set.of("m2"))).isEqualTo(read.subList(2, 3));
        assertThat(log().append(KEY, Append.under(Parent.head(), List.of(message("m0", sent, 1))))
                        .replayed())
                .as("what the user wrote is no part of equality")
                .isTrue();
    }

    private static UserMessage later(UserMessage sent, Content... contents) {
        return sent.toBuilder().contents(List.of(contents)).build();
    }

    @Test
    default void no_caller_changes_the_log_through_aMessage() {
        UserMessage message = UserMessage.builder()
                .addContent(TextContent.from("hello"))
                .attributes(new HashMap<>())
                .build();
        log().append(KEY, Append.under(Parent.head(), List.of(message("a", message, 1))));
        mutate(message);
        mutate(log().read(KEY, ReadQuery.newest(1)).messages().get(0).message());
        mutate(history(log(), KEY).get(0).message());

        assertThat(((UserMessage) history(log(), KEY).get(0).message()).attributes())
                .isEmpty();
    }

    /** Changes a message's attributes if they are a live map. */
    private static void mutate(ChatMessage message) {
        try {
            ((UserMessage) message).attributes().put("planted", true);
        } catch (UnsupportedOperationException e) {
            // The attributes cannot be changed.
        }
    }
}
