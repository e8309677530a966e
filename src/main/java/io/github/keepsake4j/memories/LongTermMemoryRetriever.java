package io.github.keepsake4j.memories;

/**
 * Reads long-term memories and returns them as text. WilmerAI calls it a node type. It gets only objects that cannot write, and
 * must not call a model. Must be thread-safe.
 */
@FunctionalInterface
public interface LongTermMemoryRetriever {

    /**
     * Reads memories.
     *
     * @param memories the memories of a discussion
     * @param config the caller's configuration, with the names of WilmerAI
     * @return the text; never null
     */
    String retrieve(LongTermMemoriesOfDiscussion memories, NodeConfig config);
}
