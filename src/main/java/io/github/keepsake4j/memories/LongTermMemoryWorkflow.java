package io.github.keepsake4j.memories;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates long-term memories: a function, an AI service, an agentic workflow or a workflow file. It is called on the thread of
 * the creator and may block. If it throws, nothing is stored and the next run tries the passage again. Must be
 * thread-safe.
 */
@FunctionalInterface
public interface LongTermMemoryWorkflow {

    /**
     * Makes memories from a passage.
     *
     * @param inputs for a chunk: the passage as text, the recent chunks, all chunks and the current summary, which prompts call
     *     {@code {agent1Input}} to {@code {agent4Input}}; for facts: the passage, and the known facts if the workflow
     *     {@linkplain #readsKnownFacts reads them}. All inputs are untrusted text; fence them in a call of a model.
     * @return for a chunk: its text; for facts: a JSON object or an array of objects with {@code title}, {@code summary},
     *     {@code entities} and {@code key_phrases}, and optionally in {@code replaces} the title of a fact that it
     *     contradicts. An object without one of the four fields is skipped; the two lists may be empty. Null or blank
     *     stores nothing, and the passage is tried again
     */
    @Nullable
    String run(List<String> inputs);

    /**
     * Returns the name of the model that is used. It is stored with each memory. Default: null.
     *
     * @return the name, or null if there is none
     */
    default @Nullable String model() {
        return null;
    }

    /**
     * Returns whether a workflow for chunks uses the inputs behind the passage. If so, a chunk is not trusted more than
     * the memories in the inputs. Default: true.
     *
     * @return whether other memories are sources of its results
     */
    default boolean readsMemories() {
        return true;
    }

    /**
     * Returns whether a workflow for facts gets a second input: the titles and summaries of known facts that are
     * similar to the passage and trusted at least as much, one fact a line. Default: false.
     *
     * @return whether it compares the passage with known facts
     */
    default boolean readsKnownFacts() {
        return false;
    }

    /**
     * Returns a text that identifies the version of its prompts. It is stored with each memory. Default: an empty text;
     * then the name of the workflow is stored.
     *
     * @return a short text
     */
    default String version() {
        return "";
    }
}
