package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.words.Words;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds an index from logs in the background. Appends and erasures of this process are reported to it at once. It
 * finds the changes of other processes by a sweep. It has no thread of its own, and ends when it is no longer
 * referenced. Thread-safe.
 *
 * <p>A batch and the watermark behind it are written in one step, and only if the watermark is the one that was read.
 * So nothing is added twice, even if a process is killed or two indexers work at the same time. The lease only prevents
 * two processes from splitting the same long history. An indexer that adds less than a page needs no lease.
 */
final class Indexer {

    private static final Logger LOG = LoggerFactory.getLogger(Indexer.class);

    private static final String LEASE = "index";

    /** A database's list by activity is exact to the minute, and the clocks of two processes may differ. */
    private static final Duration ACTIVITY = Duration.ofMinutes(15);

    private static final int PAGE = 1_000;

    private final MessageIndex index;
    private final Function<MemoryKey, MessageLog> logs;
    private final Collection<MessageLog> sweptLogs;
    private final Words words;
    private final Settings settings;
    private final String owner = Ids.next();
    private final Executor executor;
    private final Function<Duration, Executor> later;
    private final BackgroundQueue<MemoryKey> queue;
    private final @Nullable Embedder embedder;

    private final Set<String> tenants = new HashSet<>();
    private boolean forgot;

    /** The tenants that were swept, and the start of their last sweep. */
    private final Map<String, Instant> swept = new ConcurrentHashMap<>();

    private int sweeps;
    private volatile boolean opened;

    /**
     * The settings of an indexer.
     *
     * @param pause the time for which appends are collected before they are indexed
     * @param sweepEvery the time from one sweep to the next
     * @param checkEvery the number of sweeps after which erasures of other processes are searched
     * @param page the number of messages that are read in one step; up to eight times as many are added in one step
     * @param lease the time for which a killed indexer blocks others from a long history
     */
    record Settings(Duration pause, Duration sweepEvery, int checkEvery, int page, Duration lease) {
        static final Settings STANDARD =
                new Settings(Duration.ofSeconds(2), Duration.ofSeconds(30), 20, 1_024, Duration.ofSeconds(60));
    }

    /**
     * Creates an indexer that does nothing until something changes or it is {@linkplain #start started}.
     *
     * @param logs returns the log that keeps a memory
     * @param sweptLogs all logs
     * @param executor runs the work
     * @param later returns an executor that runs something after a pause
     * @param embedder is told of the memories that are indexed, or null
     */
    Indexer(
            MessageIndex index,
            Function<MemoryKey, MessageLog> logs,
            Collection<MessageLog> sweptLogs,
            Words words,
            Executor executor,
            Function<Duration, Executor> later,
            Settings settings,
            @Nullable Embedder embedder) {
        this.index = index;
        this.logs = logs;
        this.sweptLogs = List.copyOf(sweptLogs);
        this.words = words;
        this.executor = work -> BackgroundQueue.tryToRun(executor, work);
        this.later = later;
        this.settings = settings;
        this.embedder = embedder;
        this.queue = new BackgroundQueue<>("indexing", this::index, settings.pause(), executor, later);
    }

    /** Says by which words the index is made, once. */
    void open() {
        if (!opened) {
            index.open(words.fingerprint());
            opened = true;
        }
    }

    /** Starts the sweeps of this tenant and of all tenants that are indexed or used. */
    void start(String tenant) {
        use(tenant);
        sweepLater(new WeakReference<>(this), settings.pause(), later, executor);
    }

    /** Includes a tenant in the sweeps. */
    synchronized void use(String tenant) {
        tenants.add(tenant);
    }

    /** A task has a weak reference to the indexer, so that the indexer does not outlive its users. */
    private static void sweepLater(
            WeakReference<Indexer> reference, Duration pause, Function<Duration, Executor> later, Executor executor) {
        later.apply(pause).execute(() -> {
            if (reference.get() == null) {
                return;
            }
            executor.execute(() -> {
                Indexer indexer = reference.get();
                if (indexer != null && indexer.sweepOrStop()) {
                    sweepLater(reference, indexer.settings.sweepEvery(), later, executor);
                }
            });
        });
    }

    private boolean sweepOrStop() {
        try {
            sweep();
        } catch (StorageClosedException e) {
            queue.stop();
        } catch (RuntimeException e) {
            LOG.warn("The sweep for the index failed and is repeated ({})", BackgroundQueue.reason(e));
        }
        return !queue.isStopped();
    }

    /** Records that a memory was appended to or erased. The sweep finds the memories for which the queue is too long. */
    void changed(MemoryKey key) {
        boolean added = queue.add(key);
        synchronized (this) {
            tenants.add(key.tenant());
            forgot |= !added;
        }
    }

    /** Returns the memories of a tenant that wait or are being indexed. */
    Set<MemoryKey> behind(String tenant) {
        return queue.items().stream()
                .filter(key -> key.tenant().equals(tenant))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns whether other processes may have made appends to a tenant's memories that are unknown here. */
    boolean isUnswept(String tenant) {
        Instant last = swept.get(tenant);
        synchronized (this) {
            return forgot
                    || last == null
                    || last.isBefore(Instant.now().minus(settings.sweepEvery().multipliedBy(2)));
        }
    }

    /** Indexes all that waits now, for tests. */
    void drain() {
        queue.drain();
    }

    private boolean index(MemoryKey key) {
        boolean done = catchUp(key);
        if (done && embedder != null) {
            embedder.indexed(key);
        }
        return done;
    }

    /**
     * Indexes the messages of a memory behind the watermark.
     *
     * @return false if another process is indexing the memory, or the memory was erased meanwhile; then try again later
     */
    boolean catchUp(MemoryKey key) {
        open();
        MessageLog log = logs.apply(key);
        Position position = Reads.position(log, key);
        Watermark known = index.watermarks(List.of(key)).get(key);
        if (known != null && (known.epoch() != position.epoch() || !has(log, key, known))) {
            index.remove(key);
            known = null;
        }
        boolean leased = false;
        Batch batch = new Batch();
        long read = known == null ? 0 : known.sequence();
        try {
            while (true) {
                HistoryPage page = log.history(key, HistoryQuery.after(read, settings.page()));
                if (page.next().isPresent()) {
                    leased = log.acquireLease(key, LEASE, owner, settings.lease())
                            .isPresent();
                    if (!leased) {
                        return false;
                    }
                }
                for (LoggedMessage message : page.messages()) {
                    batch.add(IndexedText.split(message, words));
                    read = message.sequence();
                }
                boolean isLast = page.next().isEmpty();
                if (batch.messages.isEmpty()) {
                    return true;
                }
                if (!isLast && !batch.isFull(settings.page())) {
                    continue;
                }
                Watermark after = new Watermark(position.epoch(), read);
                if (!index.add(key, known, after, batch.messages)) {
                    return false;
                }
                // Messages that were erased after they were read must not stay in the index.
                if (Reads.position(log, key).epoch() != position.epoch()) {
                    index.remove(key);
                    return false;
                }
                if (isLast) {
                    return true;
                }
                known = after;
                batch = new Batch();
            }
        } finally {
            if (leased) {
                log.releaseLease(key, LEASE, owner);
            }
        }
    }

    /**
     * The messages that are added in one step. The rows of different terms are far from each other, so one large batch
     * takes much less time than several small ones.
     */
    private static final class Batch {

        private static final int PAGES = 8;
        private static final int MAX_TERMS = 500_000;

        final List<IndexedMessage> messages = new ArrayList<>();
        private long terms;

        void add(IndexedMessage message) {
            messages.add(message);
            terms += message.terms().size();
        }

        boolean isFull(int page) {
            return messages.size() >= PAGES * page || terms >= MAX_TERMS;
        }
    }

    /** Another log, or an older copy of it, may not have the message at the watermark. */
    private static boolean has(MessageLog log, MemoryKey key, Watermark watermark) {
        Selection there = Selection.ofSequences(Map.of(key, List.of(watermark.sequence())));
        return log.find(there).values().stream().anyMatch(found -> !found.isEmpty());
    }

    /** Looks for appends of other processes, and less often for their erasures and for missing vectors. */
    void sweep() {
        boolean checks;
        Set<String> all;
        synchronized (this) {
            checks = sweeps++ % settings.checkEvery() == 0;
            all = new HashSet<>(tenants);
            forgot = false;
        }
        List<String> indexed = index.tenants();
        all.addAll(indexed);
        for (String tenant : all) {
            Instant begun = Instant.now();
            // After a clear, all memories need indexing, not only those that were used since.
            Instant before = checks || !indexed.contains(tenant) ? null : swept.get(tenant);
            Set<MemoryKey> listed = new HashSet<>();
            for (MessageLog log : sweptLogs) {
                sweep(tenant, log, before == null ? null : before.minus(ACTIVITY), listed);
            }
            if (checks) {
                removeErased(tenant, listed);
                if (embedder != null) {
                    embedder.compareLater(tenant);
                }
            }
            swept.put(tenant, begun);
        }
    }

    private void sweep(String tenant, MessageLog log, @Nullable Instant since, Set<MemoryKey> listed) {
        Optional<ListQuery> next = Optional.of(
                since == null ? ListQuery.first(PAGE) : ListQuery.first(PAGE).byActivity());
        while (next.isPresent()) {
            MemoryPage page = log.list(tenant, next.get());
            List<MemoryKey> keys = page.memories().stream().map(MemoryInfo::key).toList();
            Map<MemoryKey, Watermark> known = index.watermarks(keys);
            for (MemoryInfo info : page.memories()) {
                listed.add(info.key());
                Watermark watermark = known.get(info.key());
                long indexed = watermark == null ? 0 : watermark.sequence();
                if (info.messages() != indexed) {
                    changed(info.key());
                }
            }
            boolean isOld = since != null
                    && !page.memories().isEmpty()
                    && page.memories().get(page.memories().size() - 1).lastUse().isBefore(since);
            next = isOld ? Optional.empty() : page.next();
        }
    }

    /** Removes a memory now. */
    void remove(MemoryKey key) {
        open();
        index.remove(key);
    }

    /** Removes the memories of a tenant that do not exist now. */
    void removeErased(String tenant) {
        open();
        eachPage(index, tenant, keys -> keys.stream()
                .filter(key -> Reads.info(logs.apply(key), key) == null)
                .forEach(index::remove));
    }

    private void removeErased(String tenant, Set<MemoryKey> listed) {
        eachPage(index, tenant, keys -> keys.stream()
                .filter(key -> !listed.contains(key))
                .forEach(this::changed));
    }

    /** Reads the memories of a tenant that are in an index, page by page. */
    static void eachPage(MessageIndex index, String tenant, Consumer<Collection<MemoryKey>> action) {
        NavigableMap<Long, MemoryKey> page;
        long after = 0;
        do {
            page = new TreeMap<>(index.memories(tenant, after, PAGE));
            after = page.isEmpty() ? after : page.lastKey();
            action.accept(page.values());
        } while (page.size() == PAGE);
    }
}
