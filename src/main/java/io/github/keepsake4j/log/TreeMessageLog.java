package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A log of whole memories: the interface over {@link MemoryTree}, for backends that read and write a memory in one piece. Such a
 * backend says how it does that, and lists memories.
 */
public abstract class TreeMessageLog implements MessageLog {

    /** Makes a log. */
    protected TreeMessageLog() {}

    /**
     * Asks the newest state of a memory.
     *
     * @param key the memory
     * @param question reads from the tree and changes nothing
     * @param <T> the answer's type
     * @return the answer
     */
    protected abstract <T> T ask(MemoryKey key, Function<MemoryTree, T> question);

    /**
     * Changes a memory, so that no other writer's change is lost.
     *
     * @param key the memory
     * @param change changes a tree; may be called several times, each time with another tree
     * @param <T> the result's type
     * @return the result of the call that was written
     */
    protected abstract <T> T change(MemoryKey key, Function<MemoryTree, T> change);

    /**
     * Returns the store's time.
     *
     * @return the time
     */
    protected abstract Instant now();

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
    public AppendResult append(MemoryKey key, Append append) {
        return change(key, tree -> tree.append(append, now()));
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return ask(key, tree -> tree.read(query));
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        return selection.each(
                (key, ids) -> ask(key, tree -> tree.find(ids, selection.made())),
                (key, sequences) -> ask(key, tree -> tree.findAt(sequences, selection.made())));
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return ask(key, tree -> tree.onBranch(sequences));
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return ask(key, tree -> tree.history(query));
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return ask(key, MemoryTree::branches);
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return change.by(new Kinds(key));
    }

    /** The changes of one memory. */
    private final class Kinds implements Change.Kinds {

        private final MemoryKey key;

        Kinds(MemoryKey key) {
            this.key = key;
        }

        @Override
        public String moveHead(Change.MoveHead change) {
            return change(key, tree -> tree.moveHead(change.messageId(), change.epoch()));
        }

        @Override
        public void moveBranch(Change.MoveBranch change) {
            make(tree -> tree.moveBranch(change.name(), change.messageId(), change.epoch()));
        }

        @Override
        public void setOutcome(Change.SetOutcome change) {
            make(tree -> tree.setOutcome(change.messageId(), change.outcome(), change.epoch()));
        }

        @Override
        public Map<String, String> describe(Change.Describe change) {
            if (change.merge()) {
                Map<String, String> before = ask(key, MemoryTree::metadata);
                if (change.after(before).equals(before)) {
                    return before;
                }
            }
            return change(key, tree -> tree.describe(change, now()));
        }

        @Override
        public void putSummary(Change.PutSummary change) {
            make(tree -> tree.putSummary(change.summary(), change.epoch()));
        }

        private void make(Consumer<MemoryTree> change) {
            change(key, tree -> {
                change.accept(tree);
                return true;
            });
        }
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        return ask(key, tree -> tree.details(parts));
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return change(key, tree -> tree.acquireLease(name, owner, duration, leaseTime()));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        change(key, tree -> {
            tree.releaseLease(name, owner);
            return true;
        });
    }

    @Override
    public long erase(MemoryKey key) {
        return change(key, MemoryTree::erase);
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return ask(key, tree -> tree.isIdle(since)) && change(key, tree -> tree.isIdle(since) && tree.erase() > 0);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> ask(key, MemoryTree::check));
    }

    @Override
    public Repair repair(MemoryKey key) {
        return change(key, MemoryTree::repair);
    }
}
