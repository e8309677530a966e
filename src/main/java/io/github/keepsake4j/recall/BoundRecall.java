package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Recalls for the memory that a call of an AI service works with. This class is not for users: a {@code Keepsake} makes
 * retrievers and tools with it. Thread-safe.
 *
 * @param recall what recalls
 * @param keys returns the memory of a LangChain4j memory id
 * @param scopes returns where to look for a memory
 * @param options how to recall
 */
public record BoundRecall(
        MessageRecall recall,
        Function<Object, MemoryKey> keys,
        Function<MemoryKey, Scope> scopes,
        RecallOptions options) {

    /** Checks the components. */
    public BoundRecall {
        Objects.requireNonNull(recall, "recall");
        Objects.requireNonNull(keys, "keys");
        Objects.requireNonNull(scopes, "scopes");
        Objects.requireNonNull(options, "options");
    }

    /** Returns passages as texts, best first. */
    List<String> texts(@Nullable Object memoryId, String question) {
        if (memoryId == null) {
            throw new InvalidInputException(
                    "memory id",
                    "is missing; call the AI service with a @MemoryId, so that it is known whose memory is meant");
        }
        MemoryKey key = keys.apply(memoryId);
        return recall.recall(scopes.apply(key), question, options.shownTo(key)).passages().stream()
                .map(passage -> RecalledText.of(passage, options.zone()))
                .toList();
    }
}
