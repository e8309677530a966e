package io.github.keepsake4j.codec;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A cached message that returns equal copies. Each caller receives an instance of its own, as from a read: the instance
 * identifies the messages that its caller has seen, and its attributes can be changed. Immutable.
 */
public final class KeptMessage {

    /** The maximum number of characters of the messages in one cache. */
    public static final long ROOM = 16_000_000;

    /** The least number of characters that a list of messages counts, so that one cache has at most 1,000 lists. */
    public static final long LEAST_ROOM = 16_000;

    private static final MessageCodec CODEC = new MessageCodec();

    /** The classes of decoded messages. */
    private static final Set<Class<? extends ChatMessage>> KEPT = Set.of(
            SystemMessage.class,
            UserMessage.class,
            AiMessage.class,
            ToolExecutionResultMessage.class,
            CustomMessage.class,
            UnknownMessage.class);

    /** The number of characters that a message counts in addition to its text. */
    private static final long BESIDE_TEXT = 200;

    /** An instance that no caller receives, or null if the message is kept as text. */
    private final @Nullable ChatMessage own;

    private final String text;
    private final long size;

    private KeptMessage(@Nullable ChatMessage own, String text, long length) {
        this.own = own;
        this.text = text;
        this.size = BESIDE_TEXT + length;
    }

    /**
     * Keeps a message. A message with immutable parts is copied. Any other message is kept as its stored text.
     *
     * @param message the message
     * @return the kept message
     */
    public static KeptMessage of(ChatMessage message) {
        if (isOfImmutableParts(message)) {
            return new KeptMessage(copy(message), "", length(message));
        }
        String text = CODEC.encode(message);
        return new KeptMessage(null, text, text.length());
    }

    /**
     * Returns whether {@link #instance} returns a message that equals the original. A log's own class of messages is
     * lost.
     *
     * @param message the message
     * @return whether it can be kept
     */
    public static boolean canKeep(ChatMessage message) {
        return KEPT.contains(message.getClass());
    }

    /**
     * Returns whether a message equals this one.
     *
     * @param message the message
     * @return whether they are equal
     */
    public boolean isOf(ChatMessage message) {
        return own == null ? text.equals(CODEC.encode(message)) : own.equals(message);
    }

    /**
     * Returns the message.
     *
     * @return a new instance
     */
    public ChatMessage instance() {
        return own == null ? CODEC.decode(text) : copy(own);
    }

    /**
     * Returns about how many characters are kept.
     *
     * @return the number of characters
     */
    public long size() {
        return size;
    }

    private static boolean isOfImmutableParts(ChatMessage message) {
        Class<?> type = message.getClass();
        if (type == UserMessage.class) {
            UserMessage user = (UserMessage) message;
            return isText(user.contents()) && isOfValues(user.attributes());
        }
        if (type == AiMessage.class) {
            return isOfValues(((AiMessage) message).attributes());
        }
        if (type == ToolExecutionResultMessage.class) {
            ToolExecutionResultMessage result = (ToolExecutionResultMessage) message;
            return isText(result.contents()) && isOfValues(result.attributes());
        }
        return type == SystemMessage.class;
    }

    private static boolean isText(List<Content> contents) {
        for (Content content : contents) {
            if (content.getClass() != TextContent.class) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOfValues(Map<String, Object> attributes) {
        for (Object value : attributes.values()) {
            if (!(value instanceof String
                    || value instanceof Integer
                    || value instanceof Long
                    || value instanceof Double
                    || value instanceof Boolean)) {
                return false;
            }
        }
        return true;
    }

    private static ChatMessage copy(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.toBuilder().build();
        }
        if (message instanceof AiMessage ai) {
            return ai.toBuilder().build();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.toBuilder().build();
        }
        return SystemMessage.from(((SystemMessage) message).text());
    }

    private static long length(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return length(user.name()) + length(user.contents()) + length(user.attributes());
        }
        if (message instanceof AiMessage ai) {
            return length(ai.text())
                    + length(ai.thinking())
                    + ai.toolExecutionRequests().stream()
                            .mapToLong(request -> BESIDE_TEXT
                                    + length(request.id())
                                    + length(request.name())
                                    + length(request.arguments()))
                            .sum()
                    + length(ai.attributes());
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return length(result.id())
                    + length(result.toolName())
                    + length(result.contents())
                    + length(result.attributes());
        }
        return length(((SystemMessage) message).text());
    }

    private static long length(List<Content> contents) {
        long length = 0;
        for (Content content : contents) {
            length += length(((TextContent) content).text());
        }
        return length;
    }

    private static long length(Map<String, Object> attributes) {
        long length = 0;
        for (Map.Entry<String, Object> attribute : attributes.entrySet()) {
            length += length(attribute.getKey()) + length(attribute.getValue().toString());
        }
        return length;
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }
}
