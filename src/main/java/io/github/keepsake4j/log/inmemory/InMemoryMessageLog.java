package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps memories in the heap: nothing outlives the process, and nothing but {@link #erase} frees memory. Messages are
 * kept as the text that other logs would store, so that what this one accepts they accept too, and nobody can change
 * the log through a message's mutable attributes. Thread-safe.
 */
public final class InMemoryMessageLog implements MessageLog {

    private static final MessageCodec CODEC = new MessageCodec();

    static final MemoryTree.Payloads PAYLOADS = new MemoryTree.Payloads(CODEC::encode, CODEC::decode);

    private final Clock clock;
    private final ConcurrentMap<MemoryKey, Memory> memories = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Listing> listings = new ConcurrentHashMap<>();

    /** Makes an empty log. */
    public InMemoryMessageLog() {
        this(Clock.systemUTC());
    }

    /**
     * Makes an empty log with a clock.
     *
     * @param clock what times of messages and the ends of leases are taken from
     */
    public InMemoryMessageLog(Clock clock) {
        this.clock = clock;
    }

    @Override
    public String backend() {
        return "memory";
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return write(key, tree -> tree.append(append, clock.instant()));
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return read(key, tree -> tree.read(query));
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return read(key, tree -> tree.history(query));
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return read(key, MemoryTree::branches);
    }

    @Override
    public String moveHead(MemoryKey key, String messageId, @Nullable Long epoch) {
        return write(key, tree -> tree.moveHead(messageId, epoch));
    }

    @Override
    public void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata) {
        write(key, tree -> {
            tree.describe(title, metadata, clock.instant());
            return true;
        });
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Listing listing = listings.get(Ids.check("tenant", tenant));
        return (listing == null ? new Listing() : listing).page(query);
    }

    @Override
    public void putSummary(MemoryKey key, Summary summary, long epoch) {
        write(key, tree -> {
            tree.putSummary(summary, epoch);
            return true;
        });
    }

    @Override
    public List<Summary> summaries(MemoryKey key) {
        return read(key, MemoryTree::summaries);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        return write(key, tree -> tree.acquireLease(name, owner, duration, clock.instant()));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        write(key, tree -> {
            tree.releaseLease(name, owner);
            return true;
        });
    }

    @Override
    public long erase(MemoryKey key) {
        return write(key, MemoryTree::erase);
    }

    /** Does nothing: what was kept stays readable until the log is garbage. */
    @Override
    public void close() {
        // The heap is all there is.
    }

    /** The memory, made on first use. */
    Memory memory(MemoryKey key) {
        return memories.computeIfAbsent(
                Objects.requireNonNull(key, "key"), k -> new Memory(new MemoryTree(k, PAYLOADS)));
    }

    /** Reading what was never written leaves no trace, or a scan over made-up ids would fill the heap. */
    private <T> T read(MemoryKey key, Function<MemoryTree, T> query) {
        Memory memory = memories.get(Objects.requireNonNull(key, "key"));
        return memory == null ? query.apply(new MemoryTree(key, PAYLOADS)) : memory.read(query);
    }

    private <T> T write(MemoryKey key, Function<MemoryTree, T> change) {
        return memory(key).write(change, listing(key.tenant()));
    }

    private Listing listing(String tenant) {
        return listings.computeIfAbsent(tenant, t -> new Listing());
    }
}
