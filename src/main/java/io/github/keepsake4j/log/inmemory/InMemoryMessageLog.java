package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.TreeMessageLog;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import java.time.Clock;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

/**
 * A log in the heap. Its memories are lost when the process ends, and only {@link #erase} frees heap. Messages are kept
 * as the text that other logs would store. So other logs accept the same messages, and a message's mutable attributes
 * cannot change the log. Thread-safe.
 */
public final class InMemoryMessageLog extends TreeMessageLog {

    private static final MessageCodec CODEC = new MessageCodec();

    static final MemoryTree.Payloads PAYLOADS = new MemoryTree.Payloads(CODEC::encode, CODEC::decodeRow);

    private final Clock clock;
    private final ListedMetadata listed;
    private final ConcurrentMap<MemoryKey, StoredMemory> memories = new ConcurrentHashMap<>();
    private volatile boolean closed;
    private final ConcurrentMap<String, TenantListing> listings = new ConcurrentHashMap<>();

    /**
     * Creates an empty log that uses the system's clock.
     *
     * @param listedMetadata up to three metadata names by which {@link ListQuery#withMetadata} lists memories
     * @throws InvalidInputException if there are too many names, or one is no id
     */
    public InMemoryMessageLog(String... listedMetadata) {
        this(Clock.systemUTC(), listedMetadata);
    }

    /**
     * Creates an empty log that uses the given clock.
     *
     * @param clock the clock for the times of messages and the expiry of leases
     * @param listedMetadata up to three metadata names by which {@link ListQuery#withMetadata} lists memories
     * @throws InvalidInputException if there are too many names, or one is no id
     */
    public InMemoryMessageLog(Clock clock, String... listedMetadata) {
        this.clock = clock;
        this.listed = ListedMetadata.of(listedMetadata);
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public String backend() {
        return "memory";
    }

    @Override
    public String toString() {
        return "InMemoryMessageLog[memories=" + memories.size() + "]";
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        TenantListing listing = listings.get(Ids.check("tenant", tenant));
        checkOpen("the list");
        listed.check(query);
        return (listing == null ? new TenantListing() : listing).page(query);
    }

    /** Returns a memory, created on first use. */
    StoredMemory memory(MemoryKey key) {
        return memories.computeIfAbsent(
                Objects.requireNonNull(key, "key"), k -> new StoredMemory(new MemoryTree(k, PAYLOADS)));
    }

    /** Reads without creating the memory. Otherwise a scan over invented ids would fill the heap. */
    @Override
    protected <T> T ask(MemoryKey key, Function<MemoryTree, T> query) {
        checkOpen(key);
        StoredMemory memory = memories.get(Objects.requireNonNull(key, "key"));
        return memory == null ? query.apply(new MemoryTree(key, PAYLOADS)) : memory.read(query);
    }

    @Override
    protected Instant now() {
        return clock.instant();
    }

    @Override
    protected <T> T change(MemoryKey key, Function<MemoryTree, T> change) {
        checkOpen(key);
        return memory(key).write(change, listing(key.tenant()));
    }

    private TenantListing listing(String tenant) {
        return listings.computeIfAbsent(tenant, t -> new TenantListing());
    }

    private void checkOpen(Object used) {
        if (closed) {
            throw new StorageClosedException("use of " + used);
        }
    }
}
