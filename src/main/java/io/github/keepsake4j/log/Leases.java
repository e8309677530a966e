package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.Optional;

/** The leases of memories. A lease is the right to do one kind of work on a memory, until it is released or expires. */
public interface Leases {

    /**
     * Takes or renews a lease.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the caller; if this owner already holds the lease, it is renewed
     * @param duration the time from now until the lease expires, by the clock of the store if it has one, else by the
     *     process's; more than zero
     * @return the lease, or empty if another owner holds it
     */
    Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration);

    /**
     * Releases a lease. Does nothing if the owner no longer holds it.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the lease's owner
     */
    void releaseLease(MemoryKey key, String name, String owner);
}
