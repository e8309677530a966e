package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.words.Words;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads long-term memories. Retrievers use only this interface, so they cannot write.
 *
 * <p>A memory is shown if its status is {@link MadeMemory.Status#CURRENT} and its passage is on the path to the head of
 * the {@link Progress}. Reading stores nothing and creates no files.
 *
 * <p>Every method is thread-safe, also across processes that share the store. It throws
 * {@link StorageUnavailableException} (retryable) if the store cannot be reached, and {@link UnreadableDataException}
 * if the stored data is damaged.
 */
public interface LongTermMemoryReader {

    /** The largest number of pinned memories of one kind in an overview. */
    int MAX_PINNED = 100;

    /**
     * Reads the newest chunks or facts that are shown.
     *
     * @param key the discussion
     * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
     * @param last the largest number of memories, 0 or more
     * @return the memories, oldest first; empty if there is none
     */
    List<MadeMemory> shown(MemoryKey key, MadeMemory.Kind kind, int last);

    /**
     * Reads the newest chunks that are shown.
     *
     * @param key the discussion
     * @param last the largest number of chunks, 0 or more
     * @return the chunks, oldest first; empty if there is none
     */
    default List<MadeMemory> chunks(MemoryKey key, int last) {
        return shown(key, MadeMemory.Kind.CHUNK, last);
    }

    /**
     * Reads the newest facts that are shown.
     *
     * @param key the discussion
     * @param last the largest number of facts, 0 or more
     * @return the facts, oldest first; empty if there is none
     */
    default List<MadeMemory> facts(MemoryKey key, int last) {
        return shown(key, MadeMemory.Kind.FACT, last);
    }

    /**
     * Finds facts by their words.
     *
     * @param key the discussion
     * @param query the query
     * @return the matching facts that are shown, best first; facts of equal rank are newest first
     */
    List<FoundLongTermMemory> search(MemoryKey key, FactQuery query);

    /**
     * Ranks memories that were read, such as those of several discussions, as {@link #search} does. Reads nothing.
     *
     * @param query the query
     * @param memories the memories, oldest first
     * @return the matching memories of enough trust, best first
     */
    default List<FoundLongTermMemory> rank(FactQuery query, List<MadeMemory> memories) {
        return new FactWords(Words.standard()).search(query, memories);
    }

    /**
     * Reads the summary: the newest current version whose last chunk is on the path to the head.
     *
     * @param key the discussion
     * @return the summary, or null if there is none
     */
    @Nullable
    MadeMemory summary(MemoryKey key);

    /**
     * Reads all versions of the summary.
     *
     * @param key the discussion
     * @return the versions in the order in which they were stored, including those that are not shown
     */
    List<MadeMemory> summaries(MemoryKey key);

    /**
     * Reads the memories that are shown without a question, in as few steps as the store can.
     *
     * @param key the discussion
     * @param last the largest number of the newest memories of each kind, 0 or more
     * @param leastTrust the least trust that a memory must have; it does not apply to the summary
     * @return the summary, the newest memories, and up to {@value #MAX_PINNED} pinned memories of each kind
     */
    default Overview overview(MemoryKey key, int last, Trust leastTrust) {
        return Overview.of(
                summary(key),
                List.of(
                        Overview.Track.of(this, key, MadeMemory.Kind.CHUNK),
                        Overview.Track.of(this, key, MadeMemory.Kind.FACT)),
                last,
                leastTrust);
    }

    /**
     * Finds a memory of any kind and status.
     *
     * @param key the discussion
     * @param id the memory's id
     * @return the memory, or empty if there is none
     */
    Optional<MadeMemory> find(MemoryKey key, String id);

    /**
     * Reads how far the creation of memories has come.
     *
     * @param key the discussion
     * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
     * @return the progress; with revision 0 and without steps if nothing was ever stored
     */
    Progress progress(MemoryKey key, MadeMemory.Kind kind);
}
