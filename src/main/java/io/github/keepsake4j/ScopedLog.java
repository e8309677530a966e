package io.github.keepsake4j;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One log over two logs: the memories of nodes are in one, all others in the other. {@link #list} and {@link #backend}
 * are those of the conversations' log. {@link #close} closes neither log: the application closes both.
 */
record ScopedLog(MessageLog conversations, MessageLog nodes) implements MessageLog {

    private MessageLog of(MemoryKey key) {
        return key instanceof NodeKey ? nodes : conversations;
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return of(key).append(key, append);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return of(key).read(key, query);
    }

    @Override
    public List<LoggedMessage> find(MemoryKey key, Collection<String> ids) {
        return of(key).find(key, ids);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return of(key).history(key, query);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return of(key).branches(key);
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        return of(key).moveHead(key, messageId, epoch);
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        of(key).describe(key, title, metadata);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        return conversations.list(tenant, query);
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        of(key).putSummary(key, summary, epoch);
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return of(key).summaries(key);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        return of(key).acquireLease(key, name, owner, duration);
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        of(key).releaseLease(key, name, owner);
    }

    @Override
    public long erase(MemoryKey key) {
        return of(key).erase(key);
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return of(key).check(key);
    }

    @Override
    public Repair repair(MemoryKey key) {
        return of(key).repair(key);
    }

    @Override
    public void flush(MemoryKey key) {
        of(key).flush(key);
    }

    @Override
    public String backend() {
        return conversations.backend();
    }

    @Override
    public void close() {}
}
