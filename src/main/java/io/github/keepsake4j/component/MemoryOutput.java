package io.github.keepsake4j.component;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The output of {@link MemoryComponent#run(MemoryInput)}: the messages that the session's memory shows after the
 * action.
 *
 * @param messages the messages within both limits, oldest first, in the form in which a model accepts them
 * @param messageCount their number
 * @param tokenCount their number of tokens, 0 if there are none
 * @param summary the newest summary of the memory, or null if there is none. It is also among the messages only with
 * the strategy summarization
 */
public record MemoryOutput(List<ChatMessage> messages, int messageCount, int tokenCount, @Nullable String summary) {

    /** Copies the list. */
    public MemoryOutput {
        messages = List.copyOf(messages);
    }

    /**
     * Writes the output as JSON.
     *
     * @return a JSON object with {@code messages}, {@code message_count}, {@code token_count} and {@code summary}
     */
    public String toJson() {
        return PlainJson.write(new JsonObject()
                .with("messages", messages.stream().map(MessageJson::write).toList())
                .with("message_count", messageCount)
                .with("token_count", tokenCount)
                .with("summary", summary));
    }

    /** Leaves out all texts, so that the result may be logged. */
    @Override
    public String toString() {
        return "MemoryOutput[messageCount=" + messageCount + ", tokenCount=" + tokenCount + "]";
    }
}
