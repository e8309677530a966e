package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.base.DaemonThreads;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TenantMismatchException;
import io.github.keepsake4j.log.TurnPlace;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A layer that holds back the appends of a turn until the turn ends, so that a turn is one write. The appends are
 * applied to the memory as it was read, and reads of this log see them. When the turn ends, they are applied to the
 * newest document. So the messages of other writers stay, and come before the turn.
 */
final class TurnMode implements StoredMemories {

    private static final Logger LOG = LoggerFactory.getLogger(TurnMode.class);

    /** The number of appends after which a turn is written. The turn then continues. */
    private static final int MAX_BATCHES = 1_000;

    /** The longest pause between tries to write a turn, as a multiple of the idle time. */
    private static final int LONGEST_PAUSE = 64;

    private static final int THREADS = 4;

    /** A batch that was accepted, and when. */
    private record Batch(Append append, Instant acceptedAt) {

        Batch inEpoch(long epoch) {
            return append.epoch() == null ? new Batch(append.inEpoch(epoch), acceptedAt) : this;
        }
    }

    /**
     * The appends to one memory that are held back. Immutable.
     *
     * @param base the memory as it was last read or written
     * @param newest whether the base was read since the turn began, so that it may answer reads
     * @param tree the base with the appends that are held back, for reads
     * @param batches the appends that are held back, oldest first
     * @param touchedAt when the last batch was accepted, by {@link System#nanoTime}
     */
    private record Held(Snapshot base, boolean newest, MemoryTree tree, List<Batch> batches, long touchedAt) {

        long epoch() {
            return base.document().state().epoch();
        }

        Held stale() {
            return new Held(base, false, tree, batches, touchedAt);
        }
    }

    /** The appends that are held back can never be written, such as after an erasure. */
    private static final class LostTurnException extends RuntimeException {

        private final KeepsakeException reason;

        LostTurnException(KeepsakeException reason) {
            super(reason);
            this.reason = reason;
        }
    }

    private final DocumentStore store;
    private final long idleNanos;
    private final ConcurrentMap<MemoryKey, Held> turns = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer;
    private volatile boolean closed;

    /**
     * Creates a layer that holds nothing back yet.
     *
     * @param idle the time after its last append at which an open turn is written
     */
    TurnMode(DocumentStore store, Duration idle) {
        this.store = store;
        this.idleNanos = idle.toNanos();
        this.timer = new ScheduledThreadPoolExecutor(THREADS, DaemonThreads.named("keepsake-turns"));
        timer.setKeepAliveTime(1, TimeUnit.MINUTES);
        timer.allowCoreThreadTimeOut(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Reads from the memory of the open turn, or else from its newest state. */
    @Override
    public <T> T ask(MemoryKey key, Function<MemoryTree, T> question) {
        Held held = turns.get(key);
        if (held != null && !held.newest()) {
            held = store.locked(key, () -> {
                Held now = turns.get(key);
                return now == null || now.newest() ? now : refreshed(key, now);
            });
        }
        return held == null ? store.ask(key, question) : question.apply(held.tree());
    }

    @Override
    public AppendResult append(MemoryKey key, Append append, Instant now) {
        return store.locked(key, () -> {
            Held held = turns.get(key);
            boolean waits = mayWait(append) && (held == null || held.batches().size() < MAX_BATCHES);
            try {
                return waits ? hold(key, held, append, now) : change(key, tree -> tree.append(append, now));
            } catch (HeadConflictException e) {
                // The caller reads before it decides, which needs the newest document.
                turns.computeIfPresent(key, (same, turn) -> turn.stale());
                throw e;
            }
        });
    }

    /** Changes a memory, in one write with the appends that are held back. If this fails, they are still held back. */
    @Override
    public <T> T change(MemoryKey key, Function<MemoryTree, T> change) {
        return store.locked(key, () -> {
            Held held = turns.get(key);
            if (held == null) {
                return store.change(key, change);
            }
            try {
                T result = store.change(key, held.base(), tree -> {
                    replay(held, tree);
                    return change.apply(tree);
                });
                turns.remove(key);
                return result;
            } catch (LostTurnException e) {
                turns.remove(key);
                throw e.reason;
            }
        });
    }

    @Override
    public void flush(MemoryKey key) {
        if (turns.containsKey(key)) {
            store.locked(key, () -> turns.containsKey(key) && change(key, tree -> true));
        }
    }

    /** Erases a memory, and drops the appends that are held back. */
    @Override
    public long erase(MemoryKey key) {
        return store.locked(key, () -> {
            long epoch = store.erase(key);
            turns.remove(key);
            return epoch;
        });
    }

    /** A memory with a turn that is held back is in use. */
    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return store.locked(key, () -> !turns.containsKey(key) && store.eraseIfIdle(key, since));
    }

    @Override
    public boolean eraseIf(MemoryKey key, String etag, @Nullable Tombstone listed) {
        return store.locked(key, () -> !turns.containsKey(key) && store.eraseIf(key, etag, listed));
    }

    @Override
    public Set<MemoryKey> held() {
        return Set.copyOf(turns.keySet());
    }

    /** Writes all appends that are held back, and accepts no more. Tries all turns, then throws the first error. */
    @Override
    public void close() {
        closed = true;
        timer.shutdown();
        KeepsakeException failed = null;
        for (MemoryKey key : List.copyOf(turns.keySet())) {
            try {
                flush(key);
            } catch (KeepsakeException e) {
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

    /**
     * Returns whether an append may wait for the end of the turn. A view, an expected position and an import need the
     * newest document; an answer ends the turn. A system message that expects the head waits. If other writers are
     * first, it is written behind their messages unless an equal one is in force. What follows the question of a turn
     * waits too, and its place is decided when it is written.
     */
    private static boolean mayWait(Append append) {
        List<NewMessage> messages = append.messages();
        boolean expects = append.expectsHead() || append.revision() != null;
        if (messages.isEmpty()
                || append.view() != null
                || (expects && !isSystem(append) && !isOfTurn(append))
                || append.importing()) {
            return false;
        }
        ChatMessage last = messages.get(messages.size() - 1).message();
        return !(last instanceof AiMessage ai && !ai.hasToolExecutionRequests());
    }

    private AppendResult hold(MemoryKey key, @Nullable Held before, Append append, Instant now) {
        if (closed) {
            throw new StorageClosedException("Memory " + key);
        }
        Held held = before == null ? begin(key) : before;
        while (true) {
            MemoryTree tree = store.tree(key, held.tree().state());
            AppendResult result = null;
            try {
                result = tree.append(append, now);
            } catch (KeepsakeException e) {
                if (held.newest()) {
                    throw e;
                }
            }
            if (result != null && !result.replayed()) {
                hold(key, held, tree, new Batch(append, now));
                return result;
            }
            if (result != null && held.newest()) {
                return result;
            }
            held = refreshed(key, held);
        }
    }

    private void hold(MemoryKey key, Held held, MemoryTree tree, Batch batch) {
        List<Batch> batches = new ArrayList<>(held.batches());
        batches.add(held.newest() ? batch.inEpoch(held.epoch()) : batch);
        Held now = new Held(held.base(), held.newest(), tree, List.copyOf(batches), System.nanoTime());
        if (turns.put(key, now) == null && !closed) {
            schedule(key, idleNanos, 0);
        }
        if (closed) {
            // The log was closed meanwhile, possibly before this turn existed.
            flush(key);
        }
    }

    private Held begin(MemoryKey key) {
        Snapshot remembered = store.remembered(key);
        Snapshot base = remembered == null ? store.load(key).readable() : remembered;
        return new Held(base, remembered == null, base.tree(), List.of(), System.nanoTime());
    }

    /** Returns the turn, applied to the newest document. A later erasure makes its batches fail. */
    private Held refreshed(MemoryKey key, Held held) {
        Snapshot base = store.load(key).readable();
        MemoryTree tree = store.tree(key, base.document().state());
        try {
            replay(held, tree);
        } catch (LostTurnException e) {
            turns.remove(key);
            throw e.reason;
        }
        long epoch = base.document().state().epoch();
        List<Batch> batches =
                held.batches().stream().map(batch -> batch.inEpoch(epoch)).toList();
        Held now = new Held(base, true, tree, batches, held.touchedAt());
        turns.computeIfPresent(key, (same, before) -> now);
        return now;
    }

    private static void replay(Held held, MemoryTree tree) {
        for (Batch batch : held.batches()) {
            try {
                if (!isInForce(batch.append(), tree)) {
                    append(tree, unconditional(batch.append()), batch.acceptedAt());
                }
            } catch (UnreadableDataException e) {
                throw e;
            } catch (KeepsakeException e) {
                throw new LostTurnException(e);
            }
        }
    }

    /** Appends what was held back. What follows the question of a turn goes where the turn goes on. */
    private static void append(MemoryTree tree, Append append, Instant now) {
        try {
            tree.append(append, now);
        } catch (HeadConflictException e) {
            String question = append.messages().isEmpty()
                    ? null
                    : append.messages().get(0).question();
            String own = question == null || !isOfTurn(append) ? null : tree.newestOfTurn(question);
            if (own == null) {
                throw e;
            }
            Parent parent = append.parent() instanceof Parent.Of of ? of : Parent.of(own);
            tree.append(
                    TurnPlace.again(append, own, question, tree::read)
                            .orElseGet(() -> TurnPlace.beside(append, parent)),
                    now);
        }
    }

    /** Returns whether an append goes where its turn goes on. */
    private static boolean isOfTurn(Append append) {
        String question = append.messages().get(0).question();
        return question != null
                && !question.equals(append.messages().get(0).id())
                && (append.revision() != null || append.reference() != null);
    }

    private static boolean isSystem(Append append) {
        return append.messages().size() == 1 && append.messages().get(0).message() instanceof SystemMessage;
    }

    /** Returns whether a system message that must not be stored twice is in force. */
    private static boolean isInForce(Append append, MemoryTree tree) {
        LoggedMessage system =
                append.expectsHead() ? tree.read(ReadQuery.newest(0)).system() : null;
        return system != null
                && system.message().equals(append.messages().get(0).message());
    }

    private static Append unconditional(Append append) {
        if (!append.expectsHead() || !isSystem(append)) {
            return append;
        }
        Append free = Append.under(append.parent(), append.messages()).creating(append.metadata());
        Long epoch = append.epoch();
        return epoch == null ? free : free.inEpoch(epoch);
    }

    private void schedule(MemoryKey key, long nanos, int failures) {
        // The result is not awaited: the task logs its failures itself.
        Future<?> unused = timer.schedule(() -> flushIdle(key, failures), nanos, TimeUnit.NANOSECONDS);
    }

    private void flushIdle(MemoryKey key, int failures) {
        Held held = turns.get(key);
        if (held == null || closed) {
            return;
        }
        long left = held.touchedAt() + idleNanos - System.nanoTime();
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
            if (e instanceof InvalidInputException || e instanceof TenantMismatchException) {
                // The document would be too large or belongs to another tenant. The next turn must not fail because of
                // this one.
                turns.remove(key);
            }
            if (!turns.containsKey(key)) {
                LOG.error("Memory {}: an unfinished turn could not be written and is lost", key, e);
                return;
            }
            if (failures == 0) {
                LOG.warn("Memory {}: an unfinished turn could not be written and is tried again", key, e);
            }
            schedule(key, idleNanos * Math.min(LONGEST_PAUSE, 2L << Math.min(failures, 10)), failures + 1);
        }
    }
}
