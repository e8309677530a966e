package io.github.keepsake4j.memories;

import java.util.Map;

/**
 * Provides retrievers by name to every {@link Discussions}. Implementations are found by {@link java.util.ServiceLoader}: list the
 * class in {@code META-INF/services/io.github.keepsake4j.memories.LongTermMemoryRetrieverFactory}.
 */
public interface LongTermMemoryRetrieverFactory {

    /**
     * Returns the retrievers.
     *
     * @return the retrievers by their names
     */
    Map<String, LongTermMemoryRetriever> retrievers();
}
