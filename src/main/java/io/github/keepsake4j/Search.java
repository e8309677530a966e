package io.github.keepsake4j;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.SearchOptions;
import io.github.keepsake4j.recall.SearchResult;

/**
 * Searches all messages for a user's words. Messages are found as soon as they are appended: up to 200 messages of a
 * memory that are not indexed yet are read from the log. Over a whole tenant, this applies only to appends of this
 * process; {@link SearchResult#lagging()} returns whether messages may be missing. Erased messages are not found after
 * the erasure has returned.
 *
 * <p>The last word may be unfinished, from two letters on. Any text is a valid search, and the cost is bounded: if the
 * words occur in very many messages, the messages with the rarest words are returned. Thread-safe.
 */
public final class Search {

    private final MessageSearch search;
    private final MemoryIds ids;

    Search(MessageSearch search, MemoryIds ids) {
        this.search = search;
        this.ids = ids;
    }

    /**
     * Searches all memories of the configured tenant, with {@linkplain SearchOptions#standard() standard options}.
     *
     * @param text the user's words; any text
     * @return the first page of hits, best first
     */
    public SearchResult find(String text) {
        return find(Scope.tenant(ids.tenant()), text);
    }

    /**
     * Searches one memory, with {@linkplain SearchOptions#standard() standard options}.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param text the user's words; any text
     * @return the first page of hits, best first
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public SearchResult find(Object memoryId, String text) {
        return find(memoryId, text, SearchOptions.standard());
    }

    /**
     * Searches one memory.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param text the user's words; any text
     * @param options how to search
     * @return a page of hits, best first
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public SearchResult find(Object memoryId, String text, SearchOptions options) {
        return find(Scope.memory(ids.key(memoryId)), text, options);
    }

    /**
     * Searches several memories, with {@linkplain SearchOptions#standard() standard options}.
     *
     * @param scope some memories, or all of a tenant
     * @param text the user's words; any text
     * @return the first page of hits, best first
     */
    public SearchResult find(Scope scope, String text) {
        return find(scope, text, SearchOptions.standard());
    }

    /**
     * Searches several memories.
     *
     * @param scope some memories, or all of a tenant
     * @param text the user's words; any text
     * @param options how to search
     * @return a page of hits, best first
     */
    public SearchResult find(Scope scope, String text, SearchOptions options) {
        return search.search(scope, text, options);
    }
}
