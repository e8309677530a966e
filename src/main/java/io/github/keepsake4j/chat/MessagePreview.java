package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.text.MessageText;
import java.time.Instant;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The beginning of a message on one line, for a list that people read.
 *
 * @param messageId the message's id
 * @param type the message's type
 * @param createdAt when it was appended, in UTC with microsecond precision
 * @param text the beginning of its text, at most {@link #MAX_LENGTH} characters, in which each sequence of spaces and line
 *     breaks is one space. It ends with {@code …} if the text continues. Contents other than text are named, such as
 * {@code [image]}, and so are the tools that a message without text calls. It is not escaped for HTML
 */
public record MessagePreview(String messageId, ChatMessageType type, Instant createdAt, String text) {

    /** The maximum length of a preview's text, in UTF-16 units as {@link String#length()} counts them. */
    public static final int MAX_LENGTH = 120;

    /** The number of characters of one part that are looked at. Whitespace alone could be as long as the message. */
    private static final int MOST_OF_PART = 10 * MAX_LENGTH;

    /**
     * Creates the preview of a message. A question is shown as its user wrote it.
     *
     * @param message the message
     * @return its preview
     */
    public static MessagePreview of(LoggedMessage message) {
        return new MessagePreview(
                message.id(), message.message().type(), message.createdAt(), beginning(parts(message)));
    }

    private static Stream<String> parts(LoggedMessage logged) {
        String text = MessageText.of(logged.message());
        if (logged.message() instanceof UserMessage user) {
            boolean isOwn = text.equals(logged.userText());
            Stream<String> contents = user.contents().stream()
                    .filter(content -> isOwn || !(content instanceof TextContent))
                    .map(MessagePreview::part);
            return isOwn ? contents : Stream.concat(Stream.of(logged.userText()), contents);
        }
        return text.isBlank() && logged.message() instanceof AiMessage ai
                ? ai.toolExecutionRequests().stream().map(call -> "[" + call.name() + "]")
                : Stream.of(text);
    }

    private static String part(Content content) {
        return content instanceof TextContent text
                ? text.text()
                : "[" + content.type().name().toLowerCase(Locale.ROOT) + "]";
    }

    private static String beginning(Stream<String> parts) {
        String line = parts.map(part -> part.substring(0, Math.min(part.length(), MOST_OF_PART)))
                .collect(Collectors.joining(" "))
                .replaceAll("\\p{javaWhitespace}+", " ")
                .strip();
        if (line.length() <= MAX_LENGTH) {
            return line;
        }
        int end = MAX_LENGTH - 1;
        if (Character.isHighSurrogate(line.charAt(end - 1))) {
            end--;
        }
        return line.substring(0, end).stripTrailing() + "…";
    }

    /** Leaves out the text, so that the result may be logged. */
    @Override
    public String toString() {
        return "MessagePreview[messageId=" + messageId + ", type=" + type + ", createdAt=" + createdAt + "]";
    }
}
