package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
        return change(key, tree -> tree.moveHead(messageId, epoch));
    }

    @Override
    public void moveBranch(MemoryKey key, String name, String messageId, @Nullable Long epoch) {
        Ids.check("branch", name);
        change(key, tree -> {
            tree.moveBranch(name, messageId, epoch);
            return true;
        });
    }

    @Override
    public Optional<String> branchEnd(MemoryKey key, String name) {
        return ask(key, tree -> tree.branchEnd(name));
    }

    @Override
    public void setOutcome(MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        change(key, tree -> {
            tree.setOutcome(messageId, outcome, epoch);
            return true;
        });
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
        change(key, tree -> {
            tree.describe(title, metadata, now());
            return true;
        });
    }

    @Override
    public void setTitle(MemoryKey key, @Nullable String title) {
        InputRules.checkDescription(title, Map.of());
        change(key, tree -> {
            tree.setTitle(title, now());
            return true;
        });
    }

    @Override
    public Map<String, String> mergeMetadata(MemoryKey key, Map<String, @Nullable String> changes) {
        Map<String, String> before = ask(key, MemoryTree::metadata);
        return Metadata.merged(before, changes).equals(before)
                ? before
                : change(key, tree -> tree.mergeMetadata(changes, now()));
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        change(key, tree -> {
            tree.putSummary(summary, epoch);
            return true;
        });
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return ask(key, MemoryTree::summaries);
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
