package io.github.keepsake4j.backend;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/**
 * Implements the log over {@link MemoryTree}, for stores that read and write a memory in one piece. A subclass
 * implements how a memory is read and written, and lists memories.
 */
public abstract class TreeMessageLog extends PlannedTreeLog {

    /** Makes a log. */
    protected TreeMessageLog() {}

    /**
     * Changes a memory, so that no other writer's change is lost.
     *
     * @param key the memory
     * @param change changes a tree; may be called several times, each time with another tree
     * @param <T> the result's type
     * @return the result of the call that was written
     */
    protected abstract <T> T change(MemoryKey key, Function<MemoryTree, T> change);

    @Override
    protected <T> T plan(MemoryKey key, Function<MemoryTree, MemoryTree.Plan<T>> planner) {
        return change(key, tree -> tree.commit(planner.apply(tree)));
    }

    /**
     * Returns the time by which leases end. A store that all processes share overrides this method with its own clock.
     * Default: {@link #now()}.
     *
     * @return the time
     */
    protected Instant leaseTime() {
        return now();
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return change(key, tree -> tree.acquireLease(name, owner, duration, leaseTime()));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        change(key, tree -> tree.releaseLease(name, owner));
    }

    @Override
    public long erase(MemoryKey key) {
        return change(key, MemoryTree::erase);
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return ask(key, tree -> tree.isIdle(since)) && change(key, tree -> tree.isIdle(since) && tree.erase() > 0);
    }
}
