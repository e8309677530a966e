package io.github.keepsake4j.text;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.rag.content.injector.DefaultContentInjector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The text that the author of a message wrote, without added texts. Added texts are: the contents that LangChain4j's
 * {@code DefaultContentInjector} puts behind a question with its default template, texts that this library put in a
 * {@link Fence}, and the texts that the memory component stores with a message. The additions of an injector with
 * another template cannot be distinguished from the user's own text. With such an injector, set
 * {@code storeRetrievedContentInChatMemory(false)}.
 *
 * @param text the text; empty if the author wrote none
 * @param isAll whether nothing was added to it
 */
public record OwnText(String text, boolean isAll) {

    /**
     * The attribute in which the memory component keeps retrieved texts. Some of them are contents of the message too.
     */
    private static final String KEPT_WITH_MESSAGE = "keepsake.context";

    /** The text that LangChain4j's default template writes between a user's text and the retrieved contents. */
    private static final String BEFORE_RETRIEVED = DefaultContentInjector.DEFAULT_PROMPT_TEMPLATE
            .template()
            .replace("{{userMessage}}", "")
            .replace("{{contents}}", "");

    /**
     * Returns the own text of a message's author.
     *
     * @param message any message
     * @return its own text
     */
    public static OwnText of(ChatMessage message) {
        ChatMessage without = message instanceof UserMessage user ? withoutKept(user) : message;
        String written = MessageText.of(without);
        String own = blanked(without);
        return own.equals(written) ? new OwnText(written, without == message) : new OwnText(own.strip(), false);
    }

    /**
     * Returns a text, with spaces in place of texts that this library put in a {@link Fence}. Marks that a person typed
     * hide nothing.
     *
     * @param text any text
     * @return a text of the same length
     */
    public static String withoutFenced(String text) {
        return Fence.MEMORIES.blankWritten(Fence.RECALLED.blankWritten(text));
    }

    /**
     * Returns the text of a message, with spaces in place of texts that were recalled, remembered or retrieved for it.
     *
     * @param message any message
     * @return its texts, one after the other; empty if it has none
     */
    public static String blanked(ChatMessage message) {
        String written = MessageText.of(message);
        // A tool may return a part of a fenced text, and no person types its result.
        String text = message instanceof ToolExecutionResultMessage
                ? Fence.MEMORIES.blank(Fence.RECALLED.blank(written))
                : withoutFenced(written);
        int retrieved = message instanceof UserMessage ? text.indexOf(BEFORE_RETRIEVED) : -1;
        return retrieved < 0 ? text : text.substring(0, retrieved) + " ".repeat(text.length() - retrieved);
    }

    /**
     * Returns a question without added texts.
     *
     * @param question any question
     * @return the question with only its own text and its contents other than text; the same instance if nothing was
     * added
     */
    public static UserMessage without(UserMessage question) {
        OwnText own = of(question);
        return own.isAll() || own.text().isBlank() ? question : with(question, own.text());
    }

    /**
     * Returns a question with another text.
     *
     * @param question the question
     * @param text the text; if it is blank and there are other contents, the result has no text
     * @return a copy with one text, and the other contents behind it
     */
    public static UserMessage with(UserMessage question, String text) {
        boolean hasOthers = question.contents().stream().anyMatch(content -> !(content instanceof TextContent));
        List<Content> contents = new ArrayList<>();
        if (!text.isBlank() || !hasOthers) {
            contents.add(TextContent.from(text));
        }
        question.contents().stream()
                .filter(content -> !(content instanceof TextContent))
                .forEach(contents::add);
        return question.toBuilder().contents(contents).build();
    }

    private static UserMessage withoutKept(UserMessage user) {
        if (!(user.attributes().get(KEPT_WITH_MESSAGE) instanceof List<?> kept)) {
            return user;
        }
        Set<Object> texts = new HashSet<>();
        kept.forEach(each -> {
            if (each instanceof Map<?, ?> fields && Boolean.TRUE.equals(fields.get("shown"))) {
                texts.add(String.valueOf(fields.get("text")));
            }
        });
        List<Content> own = user.contents().stream()
                .filter(content -> !(content instanceof TextContent text && texts.contains(text.text())))
                .collect(Collectors.toList());
        if (own.size() == user.contents().size()) {
            return user;
        }
        if (own.isEmpty()) {
            own.add(TextContent.from(" "));
        }
        return user.toBuilder().contents(own).build();
    }

    /** Leaves out the text, so that the result may be logged. */
    @Override
    public String toString() {
        return "OwnText[isAll=" + isAll + "]";
    }
}
