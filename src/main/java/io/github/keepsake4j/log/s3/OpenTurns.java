package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.LogClosedException;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In turn mode, holds back what a turn appends until it ends, so that a turn is one write. What is held back is applied to
 * the memory as it was read, where this log's reads find it; in the end it is applied to what the bucket holds by then. So
 * what others have written in between stays, and stands before the turn. Without turn mode nothing is held back.
 * Thread-safe.
 */
final class OpenTurns {

    private static final Logger LOG = LoggerFactory.getLogger(OpenTurns.class);

    /** A turn that appends more often is written, and goes on. */
    private static final int MAX_BATCHES = 1_000;

    /** What cannot be written is tried again after pauses of up to this many times the idle time. */
    private static final int LONGEST_PAUSE = 64;

    private static final int THREADS = 4;

    /** A batch that was accepted, and when. */
    private record Batch(Append append, Instant acceptedAt) {}

    /**
     * What is held back of one memory. Immutable.
     *
     * @param base the memory as it was read or written last
     * @param newest whether the base was read since the turn began, so that reads may be answered from here
     * @param tree the base and what is held back; only read from
     * @param batches what is held back, oldest first
     * @param touchedAt when the last of them was accepted, by {@link System#nanoTime}
     */
    private record Held(Loaded base, boolean newest, MemoryTree tree, List<Batch> batches, long touchedAt) {

        long epoch() {
            return base.document().state().epoch();
        }
    }

    /** What is held back can never be written, such as after an erasure. */
    private static final class LostTurnException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final KeepsakeException reason;

        LostTurnException(KeepsakeException reason) {
            super(reason);
            this.reason = reason;
        }
    }

    private final DocumentStore store;
    private final @Nullable Duration idle;
    private final BiConsumer<MemoryKey, List<Append>> afterLoss;
    private final ConcurrentMap<MemoryKey, Held> turns = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer;
    private volatile boolean closed;

    /**
     * Holds nothing back yet.
     *
     * @param idle how long after its last append a turn is written that nothing has ended, or null to hold nothing back
     * @param afterLoss is told of what was held back and can never be written
     */
    OpenTurns(DocumentStore store, @Nullable Duration idle, BiConsumer<MemoryKey, List<Append>> afterLoss) {
        this.store = store;
        this.idle = idle;
        this.afterLoss = afterLoss;
        this.timer = new ScheduledThreadPoolExecutor(THREADS, work -> {
            Thread thread = new Thread(work, "keepsake-turns");
            thread.setDaemon(true);
            return thread;
        });
        timer.setKeepAliveTime(1, TimeUnit.MINUTES);
        timer.allowCoreThreadTimeOut(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Asks a memory: as this log's turn has it, or else its newest state. */
    <T> T read(MemoryKey key, Function<MemoryTree, T> query) {
        Held held = turns.get(key);
        if (held != null && !held.newest()) {
            held = store.locked(key, () -> {
                Held now = turns.get(key);
                return now == null || now.newest() ? now : refreshed(key, now);
            });
        }
        return held == null ? store.read(key, query) : query.apply(held.tree());
    }

    /** Appends, at once or at the end of the turn. */
    AppendResult append(MemoryKey key, Append append, Instant now) {
        if (idle == null || !mayWait(append)) {
            return write(key, tree -> tree.append(append, now));
        }
        return store.locked(key, () -> {
            Held held = turns.get(key);
            return held != null && held.batches().size() >= MAX_BATCHES
                    ? write(key, tree -> tree.append(append, now))
                    : hold(key, held, append, now);
        });
    }

    /** Changes a memory, in one write with what was held back. If that fails, it is still held back. */
    <T> T write(MemoryKey key, Function<MemoryTree, T> change) {
        if (idle == null) {
            return store.write(key, change);
        }
        return store.locked(key, () -> {
            Held held = turns.get(key);
            return held == null ? store.write(key, change) : writeAll(key, held, change);
        });
    }

    /** Writes what is held back of a memory. */
    void flush(MemoryKey key) {
        if (turns.containsKey(key)) {
            store.locked(key, () -> {
                Held held = turns.get(key);
                return held == null || writeAll(key, held, tree -> true);
            });
        }
    }

    /** What is held back goes too. */
    long erase(MemoryKey key) {
        return store.locked(key, () -> {
            long epoch = store.erase(key);
            turns.remove(key);
            return epoch;
        });
    }

    /** Writes all that is held back, and takes nothing more. Tries all, then throws the first error. */
    void close() {
        closed = true;
        timer.shutdown();
        KeepsakeException failed = null;
        for (MemoryKey key : List.copyOf(turns.keySet())) {
            try {
                flush(key);
            } catch (KeepsakeException e) {
                // Only this one: an append that came in between still writes its own.
                turns.remove(key);
                if (failed == null) {
                    failed = e;
                } else {
                    failed.addSuppressed(e);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** A view, an expected head and an import are decided on what the bucket holds; an answer ends the turn. */
    private static boolean mayWait(Append append) {
        List<?> messages = append.messages();
        if (messages.isEmpty()
                || append.view() != null
                || append.expected() != null
                || append.revision() != null
                || append.importing()) {
            return false;
        }
        ChatMessage last = append.messages().get(messages.size() - 1).message();
        return !(last instanceof AiMessage ai && !ai.hasToolExecutionRequests());
    }

    private AppendResult hold(MemoryKey key, @Nullable Held before, Append append, Instant now) {
        if (closed) {
            throw new LogClosedException("Memory " + key);
        }
        Held held = before == null ? begin(key) : before;
        while (true) {
            MemoryTree tree = new MemoryTree(key, Element.PAYLOADS, held.tree().state());
            AppendResult result;
            try {
                result = tree.append(append, now);
            } catch (KeepsakeException e) {
                if (held.newest()) {
                    throw e;
                }
                held = refreshed(key, held);
                continue;
            }
            if (result.replayed() && !held.newest()) {
                held = refreshed(key, held);
                continue;
            }
            if (!result.replayed()) {
                hold(key, held, tree, new Batch(held.newest() ? bound(append, held.epoch()) : append, now));
            }
            return result;
        }
    }

    private void hold(MemoryKey key, Held held, MemoryTree tree, Batch batch) {
        List<Batch> batches = new ArrayList<>(held.batches());
        batches.add(batch);
        Held now = new Held(held.base(), held.newest(), tree, List.copyOf(batches), System.nanoTime());
        if (turns.put(key, now) == null && !closed) {
            schedule(key, idleNanos(), 0);
        }
        if (closed) {
            // Nobody may come by any more who would write it.
            flush(key);
        }
    }

    private Held begin(MemoryKey key) {
        Loaded remembered = store.remembered(key);
        Loaded base = remembered == null ? store.load(key).readable() : remembered;
        return new Held(base, remembered == null, base.tree(), List.of(), System.nanoTime());
    }

    /** The turn on what the bucket holds now. What came before an erasure is refused from here on. */
    private Held refreshed(MemoryKey key, Held held) {
        Loaded base = store.load(key).readable();
        MemoryTree tree = new MemoryTree(key, Element.PAYLOADS, base.document().state());
        try {
            replay(held, tree);
        } catch (LostTurnException e) {
            throw lost(key, held, e);
        }
        long epoch = base.document().state().epoch();
        List<Batch> batches = held.batches().stream()
                .map(batch -> new Batch(bound(batch.append(), epoch), batch.acceptedAt()))
                .toList();
        Held now = new Held(base, true, tree, batches, held.touchedAt());
        turns.computeIfPresent(key, (same, before) -> now);
        return now;
    }

    private static Append bound(Append append, long epoch) {
        return append.epoch() == null ? append.inEpoch(epoch) : append;
    }

    private static void replay(Held held, MemoryTree tree) {
        for (Batch batch : held.batches()) {
            try {
                tree.append(batch.append(), batch.acceptedAt());
            } catch (UnreadableDataException e) {
                throw e;
            } catch (KeepsakeException e) {
                throw new LostTurnException(e);
            }
        }
    }

    private <T> T writeAll(MemoryKey key, Held held, Function<MemoryTree, T> change) {
        T result;
        try {
            result = store.write(key, held.base(), tree -> {
                replay(held, tree);
                return change.apply(tree);
            });
        } catch (LostTurnException e) {
            throw lost(key, held, e);
        }
        turns.remove(key);
        return result;
    }

    private KeepsakeException lost(MemoryKey key, Held held, LostTurnException lost) {
        turns.remove(key);
        afterLoss.accept(key, held.batches().stream().map(Batch::append).toList());
        return lost.reason;
    }

    private void schedule(MemoryKey key, long nanos, int failures) {
        // Not waited for: it tells of its failures itself.
        Future<?> unused = timer.schedule(() -> flushIdle(key, failures), nanos, TimeUnit.NANOSECONDS);
    }

    private void flushIdle(MemoryKey key, int failures) {
        Held held = turns.get(key);
        if (held == null || closed) {
            return;
        }
        long left = held.touchedAt() + idleNanos() - System.nanoTime();
        if (left > 0) {
            schedule(key, left, failures);
            return;
        }
        try {
            flush(key);
        } catch (RuntimeException e) {
            if (closed) {
                return;
            }
            if (e instanceof InvalidInputException) {
                // The document would be too large, and the next turn must not fail because of this one.
                turns.remove(key);
            }
            if (!turns.containsKey(key)) {
                LOG.error("Memory {}: an unfinished turn could not be written and is lost", key, e);
                return;
            }
            if (failures == 0) {
                LOG.warn("Memory {}: an unfinished turn could not be written and is tried again", key, e);
            }
            schedule(key, idleNanos() * Math.min(LONGEST_PAUSE, 2L << Math.min(failures, 10)), failures + 1);
        }
    }

    private long idleNanos() {
        return idle == null ? 0 : idle.toNanos();
    }
}
