package io.github.keepsake4j.codec;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
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

    /** The classes of messages whose other parts are texts and attributes. */
    private static final Set<Class<? extends ChatMessage>> COPIED =
            Set.of(SystemMessage.class, UserMessage.class, AiMessage.class, ToolExecutionResultMessage.class);

    private static final Set<Class<?>> IMMUTABLE =
            Set.of(String.class, Integer.class, Long.class, Double.class, Boolean.class);

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
        return MessageWriter.canWrite(message);
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
        return COPIED.contains(message.getClass())
                && contents(message).stream().allMatch(content -> content.getClass() == TextContent.class)
                && MessageAttributes.of(message).values().stream()
                        .allMatch(value -> value != null && IMMUTABLE.contains(value.getClass()));
    }

    private static List<Content> contents(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.contents();
        }
        return message instanceof ToolExecutionResultMessage result ? result.contents() : List.of();
    }

    private static ChatMessage copy(ChatMessage message) {
        return message instanceof SystemMessage system
                ? SystemMessage.from(system.text())
                : MessageAttributes.with(message, MessageAttributes.of(message));
    }

    private static long length(ChatMessage message) {
        long length = 0;
        if (message instanceof SystemMessage system) {
            length += length(system.text());
        } else if (message instanceof UserMessage user) {
            length += length(user.name());
        } else if (message instanceof AiMessage ai) {
            length += length(ai.text()) + length(ai.thinking());
            for (ToolExecutionRequest call : ai.toolExecutionRequests()) {
                length += BESIDE_TEXT + length(call.id()) + length(call.name()) + length(call.arguments());
            }
        } else if (message instanceof ToolExecutionResultMessage result) {
            length += length(result.id()) + length(result.toolName());
        }
        for (Content content : contents(message)) {
            length += length(((TextContent) content).text());
        }
        for (Map.Entry<String, Object> attribute : MessageAttributes.of(message).entrySet()) {
            length += length(attribute.getKey()) + length(attribute.getValue().toString());
        }
        return length;
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }
}
