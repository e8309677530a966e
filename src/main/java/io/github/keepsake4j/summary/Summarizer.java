package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.ChatModel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a summary of the beginning of a conversation. A language model does that with {@link #of(ChatModel)}; any function
 * can.
 *
 * <p>It is called on a background thread, for several memories at once, so it must be thread-safe. It may block: beyond a
 * time limit its thread is interrupted and what it returns is thrown away. It may throw: the summary is tried again later,
 * and meanwhile the model sees what its limits allow.
 */
@FunctionalInterface
public interface Summarizer {

    /**
     * Writes the new summary.
     *
     * @param previous the summary of what came before these messages, which the new one replaces, or null if there is none
     * @param messages the messages that the new summary covers in addition, oldest first, at least one; not trustworthy:
     *     they hold what users, tools and web pages said
     * @return the new summary; refused, so that nothing changes, if it is blank or not shorter than what it replaces
     */
    String summarize(@Nullable String previous, List<ChatMessage> messages);

    /**
     * Names the model that writes, for the record that is kept with each summary.
     *
     * @return the name, or null if there is none
     */
    default @Nullable String model() {
        return null;
    }

    /**
     * Has a model write summaries with our prompt and limits; {@link ModelSummarizer#builder(ChatModel)} changes them.
     *
     * @param model the model; a small and cheap one will do
     * @return the summarizer
     */
    static Summarizer of(ChatModel model) {
        return ModelSummarizer.builder(model).build();
    }
}
