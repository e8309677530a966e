package io.github.keepsake4j.summary;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.ChatModel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a summary of the beginning of a conversation. {@link #of(ChatModel)} uses a language model. Any other function
 * can be used too.
 *
 * <p>A summarizer is called on a background thread, for several memories at once, so it must be thread-safe. It may
 * block: after a time limit its thread is interrupted and its result is discarded. It may throw: the summary is tried
 * again later, and in the meantime the model sees the messages that its limits allow.
 */
@FunctionalInterface
public interface Summarizer {

    /**
     * Writes the new summary.
     *
     * @param previous the summary of the messages before these, which the new summary replaces, or null if there is
     *     none
     * @param messages the messages that the new summary covers in addition, oldest first, at least one, without those
     *     that ended badly, such as failed questions and rejected answers. They are untrusted: they contain texts of
     * users, tools and web pages.
     * @return the new summary. It is refused, without any change, if it is blank or not shorter than the replaced
     * messages.
     */
    String summarize(@Nullable String previous, List<ChatMessage> messages);

    /**
     * Returns the name of the model that writes the summaries. It is stored with each summary. Default: null.
     *
     * @return the name, or null if there is none
     */
    default @Nullable String model() {
        return null;
    }

    /**
     * Creates a summarizer that uses a model with the default prompt and limits. Use
     * {@link ModelSummarizer#builder(ChatModel)} to change them.
     *
     * @param model the model; a small and cheap one is sufficient
     * @return the summarizer
     */
    static Summarizer of(ChatModel model) {
        return ModelSummarizer.builder(model).build();
    }
}
