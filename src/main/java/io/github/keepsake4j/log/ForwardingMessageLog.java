package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Forwards every call to another log. A decorator extends it and overrides the calls that it changes. */
public abstract class ForwardingMessageLog implements MessageLog {

    private final MessageLog log;

    /**
     * Creates a decorator.
     *
     * @param log the log that gets the calls
     */
    protected ForwardingMessageLog(MessageLog log) {
        this.log = InvalidInputException.given("log", log);
    }

    /**
     * Returns the log that gets the calls.
     *
     * @return the log
     */
    protected final MessageLog log() {
        return log;
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return log.append(key, append);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return log.read(key, query);
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        return log.find(selection);
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return log.onBranch(key, sequences);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return log.history(key, query);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return log.branches(key);
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return log.change(key, change);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        return log.list(tenant, query);
    }

    @Override
    public List<NodeKey> nodes(ConversationKey conversation) {
        return log.nodes(conversation);
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        return log.details(key, parts);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        return log.acquireLease(key, name, owner, duration);
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        log.releaseLease(key, name, owner);
    }

    @Override
    public long erase(MemoryKey key) {
        return log.erase(key);
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return log.eraseIfIdle(key, since);
    }

    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        return log.removeTombstones(tenant, erasedBefore);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return log.check(key);
    }

    @Override
    public Repair repair(MemoryKey key) {
        return log.repair(key);
    }

    @Override
    public void flush(MemoryKey key) {
        log.flush(key);
    }

    @Override
    public String backend() {
        return log.backend();
    }

    /** Returns the text of the log below. */
    @Override
    public String toString() {
        return log.toString();
    }

    @Override
    public void close() {
        log.close();
    }
}
