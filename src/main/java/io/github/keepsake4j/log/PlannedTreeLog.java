package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The interface over {@link MemoryTree}, for backends that have the trees of memories in the heap. Such a backend says how it
 * asks a tree and how it makes a planned change, and adds leases, erasure and lists.
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
     * @param planner plans on a tree and changes nothing; may be called several times, each time with another tree
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
    public List<LoggedMessage> find(MemoryKey key, Collection<String> ids) {
        return ask(key, tree -> tree.find(ids));
    }

    @Override
    public List<LoggedMessage> findAt(MemoryKey key, Collection<Long> sequences) {
        return ask(key, tree -> tree.findAt(sequences));
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
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        return plan(key, tree -> new TreePlans(tree).moveHead(messageId, epoch));
    }

    @Override
    public void moveBranch(MemoryKey key, String name, String messageId, @Nullable Long epoch) {
        Ids.check("branch", name);
        plan(key, tree -> new TreePlans(tree).moveBranch(name, messageId, epoch));
    }

    @Override
    public Optional<String> branchEnd(MemoryKey key, String name) {
        return ask(key, tree -> tree.branchEnd(name));
    }

    @Override
    public void setOutcome(MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        plan(key, tree -> new TreePlans(tree).setOutcome(messageId, outcome, epoch));
    }

    @Override
    public Optional<Made> made(MemoryKey key, String messageId) {
        return ask(key, tree -> tree.made(messageId));
    }

    @Override
    public MemoryDetails details(MemoryKey key) {
        return ask(key, MemoryTree::details);
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        InputRules.checkDescription(title, metadata);
        plan(key, tree -> new TreePlans(tree).describe(title, metadata, now()));
    }

    @Override
    public void setTitle(MemoryKey key, @Nullable String title) {
        InputRules.checkDescription(title, Map.of());
        plan(key, tree -> new TreePlans(tree).setTitle(title, now()));
    }

    @Override
    public Map<String, String> mergeMetadata(MemoryKey key, Map<String, @Nullable String> changes) {
        Map<String, String> before = ask(key, MemoryTree::metadata);
        return Metadata.merged(before, changes).equals(before)
                ? before
                : plan(key, tree -> new TreePlans(tree).mergeMetadata(changes, now()));
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        plan(key, tree -> new TreePlans(tree).putSummary(summary, epoch));
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return ask(key, MemoryTree::summaries);
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
