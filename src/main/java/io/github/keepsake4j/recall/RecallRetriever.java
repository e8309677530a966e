package io.github.keepsake4j.recall;

import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import dev.langchain4j.rag.query.Query;
import java.util.List;
import java.util.Objects;

/**
 * Retrieves what was said before, for the memory with which the AI service was called. A {@code Keepsake} makes it. Each
 * content is a passage with times and speakers. A question that nothing fits retrieves nothing. Thread-safe.
 */
public final class RecallRetriever implements ContentRetriever {

    private final BoundRecall recall;

    /**
     * Creates a retriever.
     *
     * @param recall what recalls
     */
    public RecallRetriever(BoundRecall recall) {
        this.recall = Objects.requireNonNull(recall, "recall");
    }

    @Override
    public List<Content> retrieve(Query query) {
        Object memoryId = query.metadata() == null ? null : query.metadata().chatMemoryId();
        return recall.texts(memoryId, query.text()).stream().map(Content::from).toList();
    }
}
