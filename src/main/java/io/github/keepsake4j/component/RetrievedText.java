package io.github.keepsake4j.component;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A text that was retrieved for a message, such as a passage of a document. It is kept with the message, so that a
 * follow-up question can refer to it.
 *
 * @param text the text, not blank
 * @param source where it is from, such as a URL or the name of a file, or null
 * @param shown whether a model sees the text, behind the content of its message. Such a text counts towards the limits.
 *     A text that is not shown is only kept
 */
public record RetrievedText(String text, @Nullable String source, boolean shown) {

    /** The attribute of a message that holds its texts. */
    private static final String ATTRIBUTE = "keepsake.context";

    /** Checks the components. */
    public RetrievedText {
        if (Objects.requireNonNull(text, "text").isBlank()) {
            throw new InvalidInputException("context.text", "must not be blank");
        }
    }

    /**
     * Returns the texts that a message was added with.
     *
     * @param message the message, such as one of {@link MemoryOutput#messages()}
     * @return the texts, or an empty list
     */
    public static List<RetrievedText> of(ChatMessage message) {
        List<RetrievedText> texts = new ArrayList<>();
        if (attributes(message).get(ATTRIBUTE) instanceof List<?> stored) {
            for (Object each : stored) {
                if (each instanceof Map<?, ?> fields && fields.get("text") instanceof String text) {
                    String source = fields.get("source") instanceof String known ? known : null;
                    texts.add(new RetrievedText(text, source, Boolean.TRUE.equals(fields.get("shown"))));
                }
            }
        }
        return texts;
    }

    /** Returns a message that has the texts. */
    static ChatMessage attach(ChatMessage message, List<RetrievedText> texts) {
        if (texts.isEmpty()) {
            return message;
        }
        Map<String, Object> attributes = new HashMap<>(attributes(message));
        attributes.put(ATTRIBUTE, texts.stream().map(RetrievedText::fields).toList());
        if (message instanceof AiMessage ai && texts.stream().noneMatch(RetrievedText::shown)) {
            return ai.toBuilder().attributes(attributes).build();
        }
        if (message instanceof UserMessage user) {
            List<Content> contents =
                    Stream.concat(user.contents().stream(), shownOf(texts)).toList();
            return user.toBuilder().contents(contents).attributes(attributes).build();
        }
        throw new InvalidInputException(
                "message.context",
                message instanceof AiMessage
                        ? "must not have a text that is shown, in a message of the role assistant; use the user's message"
                        : "is allowed in messages of the roles user and assistant only");
    }

    /** Returns a message's contents without the texts that are shown. */
    static List<Content> contentsWithout(UserMessage user) {
        List<Content> shown = shownOf(of(user)).toList();
        int own = user.contents().size() - shown.size();
        return own >= 0 && user.contents().subList(own, user.contents().size()).equals(shown)
                ? user.contents().subList(0, own)
                : user.contents();
    }

    private static Stream<Content> shownOf(List<RetrievedText> texts) {
        return texts.stream().filter(RetrievedText::shown).map(shown -> TextContent.from(shown.text()));
    }

    private static Map<String, Object> attributes(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.attributes();
        }
        return message instanceof AiMessage ai ? ai.attributes() : Map.of();
    }

    /** Returns the text as plain values of JSON. */
    Map<String, @Nullable Object> fields() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("text", text);
        if (source != null) {
            fields.put("source", source);
        }
        fields.put("shown", shown);
        return fields;
    }

    /** Tells the size and not the text, so that the result may be logged. */
    @Override
    public String toString() {
        return "RetrievedText[" + text.length() + " characters, shown=" + shown + "]";
    }
}
