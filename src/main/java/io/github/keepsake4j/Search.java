package io.github.keepsake4j;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.SearchOptions;
import io.github.keepsake4j.recall.SearchResult;
import java.util.function.Function;

/**
 * Searches what was ever said, in the words of a person. Messages are found as soon as they are appended: what the index
 * lacks of one memory is read from the log, up to 200 messages. Over a whole tenant, this holds for what this process
 * appended; {@link SearchResult#lagging()} says whether something may be missing. What was erased is not found once the
 * erasure has returned.
 *
 * <p>The last word may be unfinished, from two letters on. No text breaks a search, and the costs are bounded: if the words
 * occur in very many messages, those of the rarest words decide. Thread-safe.
 */
public final class Search {

    private final MessageSearch search;
    private final Function<Object, MemoryKey> ids;

    Search(MessageSearch search, Function<Object, MemoryKey> ids) {
        this.search = search;
        this.ids = ids;
    }

    /**
     * Searches one memory, with {@linkplain SearchOptions#standard() standard options}.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param text what the person typed; any text
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
     * @param text what the person typed; any text
     * @param options how to search
     * @return a page of hits, best first
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public SearchResult find(Object memoryId, String text, SearchOptions options) {
        return find(Scope.memory(ids.apply(memoryId)), text, options);
    }

    /**
     * Searches several memories, with {@linkplain SearchOptions#standard() standard options}.
     *
     * @param scope some memories, or all of a tenant
     * @param text what the person typed; any text
     * @return the first page of hits, best first
     */
    public SearchResult find(Scope scope, String text) {
        return find(scope, text, SearchOptions.standard());
    }

    /**
     * Searches several memories.
     *
     * @param scope some memories, or all of a tenant
     * @param text what the person typed; any text
     * @param options how to search
     * @return a page of hits, best first
     */
    public SearchResult find(Scope scope, String text, SearchOptions options) {
        return search.search(scope, text, options);
    }
}
