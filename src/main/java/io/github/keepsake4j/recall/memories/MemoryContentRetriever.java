package io.github.keepsake4j.recall.memories;

import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import dev.langchain4j.rag.query.Query;
import java.util.List;
import java.util.Objects;

/**
 * Retrieves memories for the conversation with which the AI service was called. A {@code Keepsake} makes it. Each content is
 * a memory in a fence that its text cannot close. It never calls a model and never writes. Thread-safe.
 */
public final class MemoryContentRetriever implements ContentRetriever {

    private final MemoryLookup lookup;

    /**
     * Creates a retriever.
     *
     * @param lookup what looks up memories
     */
    public MemoryContentRetriever(MemoryLookup lookup) {
        this.lookup = Objects.requireNonNull(lookup, "lookup");
    }

    @Override
    public List<Content> retrieve(Query query) {
        Object memoryId = query.metadata() == null ? null : query.metadata().chatMemoryId();
        return lookup.search(memoryId, query.text()).stream()
                .map(memory -> Content.from(
                        MemoryText.of(List.of(memory), lookup.options().zone())))
                .toList();
    }
}
