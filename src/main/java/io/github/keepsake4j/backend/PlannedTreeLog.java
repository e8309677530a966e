package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Implements the log over {@link MemoryTree}, for stores that have the trees of memories in the heap. A subclass
 * implements how a tree is read and how a planned change is made, and adds leases, erasure and lists.
 */
public abstract class PlannedTreeLog implements MessageLog {

    /** Makes a log. */
    protected PlannedTreeLog() {}

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
     * Plans a change of a memory and makes it, so that no other writer's change is lost.
     *
     * @param key the memory
     * @param planner plans on a tree and changes nothing; it may be called several times, each time with another tree
     * @param <T> the result's type
     * @return the result of the plan that was made
     */
    protected abstract <T> T plan(MemoryKey key, Function<MemoryTree, MemoryTree.Plan<T>> planner);

    /**
     * Returns the store's time.
     *
     * @return the time
     */
    protected abstract Instant now();

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return plan(key, tree -> new TreePlans(tree).append(append, now()));
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
            return plan(key, tree -> new TreePlans(tree).moveHead(change));
        }

        @Override
        public void moveBranch(Change.MoveBranch change) {
            plan(key, tree -> new TreePlans(tree).moveBranch(change));
        }

        @Override
        public void setOutcome(Change.SetOutcome change) {
            plan(key, tree -> new TreePlans(tree).setOutcome(change));
        }

        @Override
        public Map<String, String> describe(Change.Describe change) {
            if (change.merge()) {
                Map<String, String> before = ask(key, MemoryTree::metadata);
                if (change.after(before).equals(before)) {
                    return before;
                }
            }
            return plan(key, tree -> new TreePlans(tree).describe(change, now()));
        }

        @Override
        public void putSummary(Change.PutSummary change) {
            plan(key, tree -> new TreePlans(tree).putSummary(change));
        }
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        return ask(key, tree -> tree.details(parts));
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> ask(key, MemoryTree::check));
    }

    @Override
    public Repair repair(MemoryKey key) {
        return plan(key, tree -> new TreeCare(tree).repair());
    }
}
