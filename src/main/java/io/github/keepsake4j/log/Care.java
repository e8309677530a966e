package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.util.List;

/** Maintains memories: finds and repairs damage, and removes unused data. */
public interface Care {

    /**
     * Checks a whole memory for damage. Reads all of it, in bounded heap, and changes nothing.
     *
     * @param key the memory
     * @return the damage, at most {@link Damage#MAX_REPORTED} entries; empty for a sound memory
     */
    List<Damage> check(MemoryKey key);

    /**
     * Makes a damaged memory usable again. A message whose place is sound but whose content cannot be read gets the
     * outcome {@link io.github.keepsake4j.message.Outcome#UNREADABLE}. Reads return an {@link
     * io.github.keepsake4j.message.UnknownMessage} in its place, and all other messages. If the head's place is
     * damaged, the head is moved to the newest message whose whole path to the root is sound. Views and summaries are
     * dropped if they cannot be read or name a message that is missing. The bytes of messages are neither deleted nor
     * changed, so {@link #check} still reports the damaged ones. A memory without damage is not changed.
     *
     * @param key the memory
     * @return a report of the repair
     * @throws UnreadableDataException if the memory cannot be read at all; restore it from a backup, or erase it
     */
    Repair repair(MemoryKey key);

    /**
     * Erases a memory if nothing was appended to it since a time. This is one step: a concurrent append either keeps
     * the memory or comes after the erasure.
     *
     * @param key the memory
     * @param since the time; {@link MemoryInfo#lastUse()} must be before it
     * @return whether it was erased; false for a memory that does not exist
     * @throws UnreadableDataException if the memory's newest message cannot be read; it is not erased
     */
    boolean eraseIfIdle(MemoryKey key, Instant since);

    /**
     * Removes the tombstones of a tenant's memories that were erased before a time. After that, work that began before
     * such an erasure and is still under way is no longer refused. Logs that keep a tombstone in a row remove nothing.
     * Also ends the erasures of the tenant that a crash interrupted, so that none of their data remains.
     *
     * @param tenant the tenant's id
     * @param erasedBefore the time; it must be earlier than the start of any work that is still under way
     * @return the number of removed tombstones
     */
    default long removeTombstones(String tenant, Instant erasedBefore) {
        return 0;
    }
}
