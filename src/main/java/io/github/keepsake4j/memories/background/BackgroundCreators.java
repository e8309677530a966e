package io.github.keepsake4j.memories.background;

import io.github.keepsake4j.backend.ObservedLog;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.Discussion.Run.End;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryFailedException;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates long-term memories of conversations in the background, some time after an append. For one conversation, at
 * most one run works in this process. The store's lease allows at most one in all processes. A run that fails or hangs
 * does not delay turns: a turn only records that there is work. Failed work is repeated, each time after twice the
 * pause. This class is not for users: a {@code Keepsake} creates one. Thread-safe.
 */
public final class BackgroundCreators implements ObservedLog.Observer {

    /** The epoch of a conversation that was never erased. */
    private static final long FIRST_EPOCH = 1;

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundCreators.class);
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofHours(1);
    private static final int CONVERSATIONS = 10_000;
    private static final Duration LONGEST_FRESHNESS = Duration.ofDays(1);

    private final Discussions discussions;
    private final Function<MemoryKey, MessageLog> logs;
    private final BranchMessages branches;
    private final Duration freshness;
    private final Executor executor;
    private final Function<Duration, Executor> after;
    private final Runnable onPassedBy;
    private final Map<MemoryKey, Job> jobs = new HashMap<>();

    /** The epoch in which the memories of a conversation were created, as far as it is known. */
    private final RecentlyUsed<MemoryKey, Long> epochs = new RecentlyUsed<>(CONVERSATIONS);

    /** The work to do for a conversation. Guarded by the map. */
    private static final class Job {

        private boolean isRunning;
        private boolean isAgain;
        private int attempts;
        private boolean isTold;
    }

    /**
     * Creates the background creators. They start nothing before the first change.
     *
     * @param discussions makes the memories
     * @param logs returns the log of a conversation
     * @param freshness the longest time from a change to the start of a run, from zero to one day
     * @param executor runs the creators
     * @param after returns an executor that starts tasks after a pause
     * @param onPassedBy called for each skipped passage; it must be fast
     * @throws InvalidInputException if the freshness is out of range
     */
    public BackgroundCreators(
            Discussions discussions,
            Function<MemoryKey, MessageLog> logs,
            Duration freshness,
            Executor executor,
            Function<Duration, Executor> after,
            Runnable onPassedBy) {
        this.discussions = Objects.requireNonNull(discussions, "discussions");
        this.logs = Objects.requireNonNull(logs, "logs");
        this.branches = new BranchMessages(logs, discussions.store());
        this.executor = Objects.requireNonNull(executor, "executor");
        this.after = Objects.requireNonNull(after, "after");
        this.onPassedBy = Objects.requireNonNull(onPassedBy, "onPassedBy");
        this.freshness = Objects.requireNonNull(freshness, "freshness");
        if (freshness.isNegative() || freshness.compareTo(LONGEST_FRESHNESS) > 0) {
            throw new InvalidInputException("freshness", "must be from zero to one day, is " + freshness);
        }
    }

    /**
     * Returns the store of the memories.
     *
     * @return the store
     */
    public LongTermMemoryStore store() {
        return discussions.store();
    }

    @Override
    public void appended(MemoryKey key) {
        stale(key);
    }

    @Override
    public void moved(MemoryKey key) {
        stale(key);
    }

    @Override
    public void erasing(MemoryKey key) {
        erased(key);
    }

    /** Erases again, because a creator may have been at work. */
    @Override
    public void erased(MemoryKey key) {
        if (key instanceof ConversationKey) {
            store().erase(key);
        }
    }

    @Override
    public void cleanedUp(String tenant) {
        store().discussions(tenant, key -> {
            try {
                cleanUp(key);
            } catch (KeepsakeException e) {
                if (e.isRetryable()) {
                    throw e;
                }
                LOG.warn("Memories of {} are not cleaned up: {}", key, e.getMessage());
            }
        });
    }

    private void cleanUp(MemoryKey key) {
        MessageLog log = logs.apply(key);
        boolean wasErased = Reads.position(log, key).epoch() > FIRST_EPOCH;
        if (wasErased && Reads.info(log, key) == null) {
            store().erase(key);
            if (Reads.info(log, key) != null) {
                // The conversation was started again at this moment, and may have had new memories already. They are
                // created again.
                stale(key);
            }
        }
    }

    /**
     * Checks a conversation some time later, because its memories do not fit its messages: it was erased, or continues
     * on another branch.
     *
     * @param key the conversation
     */
    public void stale(MemoryKey key) {
        // Only conversations have memories. The important messages of an agent's nodes are in the conversation.
        if (!(key instanceof ConversationKey)) {
            return;
        }
        synchronized (jobs) {
            Job job = jobs.get(key);
            if (job != null) {
                job.isAgain |= job.isRunning;
                return;
            }
            jobs.put(key, new Job());
        }
        schedule(key, freshness);
    }

    private void schedule(MemoryKey key, Duration pause) {
        try {
            if (pause.isZero()) {
                executor.execute(() -> run(key));
            } else {
                after.apply(pause).execute(() -> schedule(key, Duration.ZERO));
            }
        } catch (RuntimeException e) {
            // The next change starts again.
            LOG.warn(
                    "No memories of {} are made: the executor refuses work ({})",
                    key,
                    e.getClass().getName());
            synchronized (jobs) {
                jobs.remove(key);
            }
        }
    }

    private void run(MemoryKey key) {
        synchronized (jobs) {
            Job job = jobs.get(key);
            if (job == null) {
                return;
            }
            job.isRunning = true;
            job.isAgain = false;
        }
        boolean isBusy = false;
        Throwable failure = null;
        try {
            isBusy = make(key, false).end() == End.BUSY;
        } catch (RuntimeException e) {
            failure = e;
        } catch (Error e) {
            failure = e;
            throw e;
        } finally {
            ended(key, isBusy, failure);
        }
    }

    private void ended(MemoryKey key, boolean isBusy, @Nullable Throwable failure) {
        Duration pause;
        synchronized (jobs) {
            Job job = jobs.get(key);
            if (job == null) {
                return;
            }
            job.isRunning = false;
            if (failure == null && !isBusy) {
                job.attempts = 0;
                if (!job.isAgain) {
                    jobs.remove(key);
                    return;
                }
                pause = freshness;
            } else {
                job.attempts++;
                pause = pause(job.attempts);
            }
            if (failure != null && !job.isTold) {
                job.isTold = true;
                // The message of a foreign exception may quote texts of users.
                LOG.warn(
                        "No memories of {} were made ({}). It is tried again in the background",
                        key,
                        failure instanceof KeepsakeException
                                ? failure.getMessage()
                                : String.valueOf(failure.getClass()));
            }
        }
        schedule(key, pause);
    }

    private Duration pause(int attempts) {
        Duration first = freshness.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : freshness;
        Duration pause = first.multipliedBy(1L << Math.min(attempts - 1, 12));
        return pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
    }

    /**
     * Returns whether the memories belong to messages that no longer exist. Only an erasure removes messages, and it
     * removes all of them. So it is sufficient to check the first messages of the memories, once in each epoch.
     */
    private boolean isOfErased(MemoryKey key, BranchMessages.Branch branch) {
        // Without messages, the number of erasures may be lost too, so that it tells nothing.
        if (!branch.messages().isEmpty() && Objects.equals(epochs.get(key), branch.epoch())) {
            return false;
        }
        Set<String> first = new HashSet<>();
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            store().progress(key, kind).steps().stream()
                    .limit(1)
                    .forEach(step -> first.addAll(step.passage().messageIds()));
        }
        boolean isGone =
                !first.isEmpty() && Reads.messages(logs.apply(key), key, first).size() < first.size();
        epochs.put(key, branch.epoch());
        return isGone;
    }

    /**
     * Creates the due memories of a conversation on this thread, including those of skipped passages.
     *
     * @param key the conversation
     * @return the created memories of all kinds
     * @throws LongTermMemoryFailedException if a model or a workflow failed; earlier results are stored
     * @throws KeepsakeException if a store cannot be used
     */
    public Discussion.Run make(MemoryKey key) {
        return make(key, true);
    }

    private Discussion.Run make(MemoryKey key, boolean isAgain) {
        BranchMessages.Branch branch = branches.read(key);
        Discussion discussion = discussions.discussion(key, onPassedBy);
        boolean isEmptied = branch.messages().isEmpty() && branch.epoch() > FIRST_EPOCH;
        if (isEmptied || isOfErased(key, branch)) {
            // It was erased by code that does not know long-term memories, such as a clean-up in another process.
            discussion.erase();
        }
        if (!discussions.creates()) {
            return new Discussion.Run(End.UP_TO_DATE, List.of(), List.of());
        }
        try {
            Discussion.Run made =
                    isAgain ? discussion.retry(branch.messages()) : discussion.qualityMemory(branch.messages());
            if (made.end() == End.BUSY) {
                return made;
            }
            Discussion.Run folded = discussion.updateSummary();
            List<MadeMemory> all = new ArrayList<>(made.made());
            all.addAll(folded.made());
            return new Discussion.Run(folded.end() == End.BUSY ? End.BUSY : made.end(), all, made.problems());
        } finally {
            if (Reads.position(logs.apply(key), key).epoch() != branch.epoch()) {
                // It was erased meanwhile, possibly before the first memory was stored.
                discussion.erase();
            }
        }
    }
}
