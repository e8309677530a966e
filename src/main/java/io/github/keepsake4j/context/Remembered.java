package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The long-term memories of a conversation, as the message in which a model sees them. The message is behind the system
 * message and the summary, and is not part of the log.
 *
 * @param message the message in the form in which it is shown, with its size. Its id depends only on its text
 * @param memories the ids of the memories in it, in order
 */
public record Remembered(LoggedMessage message, List<String> memories) {

    /** The attribute that marks a user message as a message of memories. Its value is the message's id. */
    public static final String ATTRIBUTE = "keepsake.memories";

    /** Copies the ids. */
    public Remembered {
        memories = List.copyOf(memories);
    }

    /**
     * Creates the message. The same text gives an equal message.
     *
     * @param text the whole text of the message
     * @param memories the ids of the memories in it, in order
     * @param counter counts its tokens
     * @return the message and the ids
     */
    public static Remembered of(String text, List<String> memories, TokenCounter counter) {
        String id = "memories-" + UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8));
        UserMessage message = marked(text, ATTRIBUTE, id);
        TokenCounter.Count count = counter.count(message);
        return new Remembered(
                new LoggedMessage(id, null, 0, message, count.tokens(), count.counter(), Instant.EPOCH), memories);
    }

    /** Creates a user message that an attribute marks as one of ours, so that it is recognized if it is written back. */
    static UserMessage marked(String text, String attribute, String id) {
        return UserMessage.builder()
                .addContent(TextContent.from(text))
                .attributes(Map.of(attribute, id))
                .build();
    }

    /**
     * Returns whether a message is a message of memories that was shown. Such a message is not stored when a framework
     * writes it back.
     *
     * @param message any message
     * @return whether the message is marked as a message of memories
     */
    public static boolean isShown(ChatMessage message) {
        return message instanceof UserMessage user && user.attributes().containsKey(ATTRIBUTE);
    }
}
