package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Reads and changes long-term memories. Each change is atomic and is on the disk when the method returns. Each change
 * compares the revision with the one that the caller saw, so that only one of two creators at the same place changes
 * anything.
 */
public interface LongTermMemoryWriter extends LongTermMemoryReader {

    /**
     * Adds the memories of a passage, and the passage as a step under the head, which becomes the head. Stores all of
     * it, or nothing. If the passage failed before, its step becomes a processed step; a head behind it stays.
     *
     * @param key the discussion
     * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
     * @param revision the revision that the caller saw
     * @param passage the passage, or {@link Passage#NONE} for memories of a user or an application; they do not move
     * the head and are always on the path
     * @param memories the memories of this kind; one chunk or more, in order; for facts any number, because a passage may hold
     *     none. A memory that names another one in {@link MadeMemory#replaces()} makes it {@link MadeMemory.Status#REPLACED}.
     * @return false if the revision is another one; then nothing was changed
     * @throws InvalidInputException if the memories are of another kind, or a memory's id is used
     */
    boolean add(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage, List<MadeMemory> memories);

    /**
     * Counts a failed try to create memories of a passage. The passage becomes a step under the head with one failure,
     * or gets one failure more. The head stays.
     *
     * @param key the discussion
     * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
     * @param revision the revision that the caller saw
     * @param passage the passage, not {@link Passage#NONE}
     * @return false if the revision is another one; then nothing was changed
     */
    boolean addFailure(MemoryKey key, MadeMemory.Kind kind, long revision, Passage passage);

    /**
     * Moves the head to a step, so that only memories on the path to it are shown.
     *
     * @param key the discussion
     * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
     * @param revision the revision that the caller saw
     * @param step the step's number, or 0 for the beginning of the conversation
     * @return false if the revision is another one; then nothing was changed
     * @throws InvalidInputException if there is no such step
     */
    boolean moveTo(MemoryKey key, MadeMemory.Kind kind, long revision, long step);

    /**
     * Adds a version of the summary.
     *
     * @param key the discussion
     * @param versions the number of versions that the caller saw
     * @param revision the revision of the chunks that the caller saw
     * @param summary the new version
     * @return false if there are more versions by now, or the chunks have changed; then nothing was changed
     */
    boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary);

    /**
     * Replaces the memory of the same id: pinned, replaced, forgotten, or with another text. Afterwards, its earlier
     * text is in no row and no file, for some stores only after {@link LongTermMemoryStore#compact}.
     *
     * @param key the discussion
     * @param memory the memory; its kind and source are not changed
     * @return false if there is no memory with this id
     */
    boolean put(MemoryKey key, MadeMemory memory);

    /**
     * Takes or renews a lease: the right to do one kind of work on a discussion's memories until it is released or expires.
     *
     * @param key the discussion
     * @param name the kind of work
     * @param owner the id of the caller; if this owner already holds the lease, it is renewed
     * @param duration the time until the lease expires; more than zero
     * @return the lease, or empty if another owner holds it
     */
    Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration);

    /**
     * Releases a lease. Does nothing if the owner no longer holds it.
     *
     * @param key the discussion
     * @param name the kind of work
     * @param owner the id of the lease's owner
     */
    void releaseLease(MemoryKey key, String name, String owner);

    /**
     * Removes all memories of a discussion. The results of a creator that began earlier are refused, because the
     * revision has changed.
     *
     * @param key the discussion
     */
    void erase(MemoryKey key);
}
