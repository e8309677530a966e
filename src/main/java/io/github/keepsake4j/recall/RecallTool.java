package io.github.keepsake4j.recall;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import dev.langchain4j.rag.query.Query;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.text.OwnText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A tool with which a model looks up earlier messages, and a retriever that adds them to a question. Each content is a
 * passage with times and speakers. A {@code Keepsake} creates it. The memory is the one with which the AI service was
 * called; the model cannot choose it. Thread-safe.
 *
 * @param recall the recall
 * @param keys returns the memory of a LangChain4j memory id
 * @param scopes returns the scope to search for a memory
 * @param options how to recall
 */
public record RecallTool(
        MessageRecall recall,
        Function<Object, MemoryKey> keys,
        Function<MemoryKey, Scope> scopes,
        RecallOptions options)
        implements ContentRetriever {

    /** Checks the components. */
    public RecallTool {
        InvalidInputException.given("options", options);
    }

    /**
     * Looks up earlier messages.
     *
     * @param question the question
     * @param memoryId the memory id of the call, which LangChain4j passes
     * @return passages with times and speakers, best first, or a sentence that nothing was found
     */
    @Tool(
            name = "recall",
            value = "Looks up what the user and you said earlier in this conversation, also long ago."
                    + " Returns passages with their dates. Use it when something that was said before is missing here.")
    public String recall(
            @P("What to look for: a question or some words, with names and dates if they are known") String question,
            @ToolMemoryId Object memoryId) {
        List<String> texts = texts(memoryId, question, null);
        return texts.isEmpty() ? "Nothing was said about it." : String.join("\n", texts);
    }

    @Override
    public List<Content> retrieve(Query query) {
        return texts(memoryId(query), query.text(), before(query)).stream()
                .map(Content::from)
                .toList();
    }

    /** Returns what the user said before a query, newest first, or null if its metadata does not tell. */
    private static @Nullable List<String> before(Query query) {
        if (query.metadata() == null || query.metadata().chatMemory() == null) {
            return null;
        }
        List<ChatMessage> known = new ArrayList<>(query.metadata().chatMemory());
        Collections.reverse(known);
        return known.stream()
                .filter(UserMessage.class::isInstance)
                .map(OwnText::blanked)
                .toList();
    }

    /** Returns passages as texts, best first. */
    private List<String> texts(@Nullable Object memoryId, String question, @Nullable List<String> before) {
        MemoryKey key = key(memoryId, keys);
        return recall.recall(scopes.apply(key), question, before, options.shownTo(key)).passages().stream()
                .map(passage -> RecalledText.of(passage, options.zone()))
                .toList();
    }

    /**
     * Returns the memory that a call of an AI service works with.
     *
     * @param memoryId the id that LangChain4j passes, or null
     * @param keys returns the memory of an id
     * @return the memory
     * @throws InvalidInputException if there is no id
     */
    public static MemoryKey key(@Nullable Object memoryId, Function<Object, MemoryKey> keys) {
        if (memoryId == null) {
            throw new InvalidInputException(
                    "memory id",
                    "is missing; add a parameter with @MemoryId to the method of the AI service, so that the "
                            + "memory is known");
        }
        return keys.apply(memoryId);
    }

    /**
     * Returns the memory id of a query.
     *
     * @param query the query of a retriever
     * @return the id, or null if there is none
     */
    public static @Nullable Object memoryId(Query query) {
        return query.metadata() == null ? null : query.metadata().chatMemoryId();
    }
}
