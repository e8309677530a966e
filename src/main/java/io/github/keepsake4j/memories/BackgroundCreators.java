package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.memories.MemoryRun.End;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.ObservedLog;
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
 * Makes memories of conversations in the background, some time after something was appended. Of one conversation at most one
 * run is at work in this process, and by the store's lease at most one in all processes. A run that fails or hangs delays no
 * turn: a turn only notes that there is something to do. What fails is tried again, each time after twice the pause. This
 * class is not for users: a {@code Keepsake} makes one. Thread-safe.
 */
public final class BackgroundCreators implements ObservedLog.Observer {

    /** The epoch of what was never erased. */
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

    /** The epoch in which the memories of a conversation are known to have been made. */
    private final RecentlyUsed<MemoryKey, Long> epochs = new RecentlyUsed<>(CONVERSATIONS);

    /** What is to be done for a conversation. Guarded by the map. */
    private static final class Job {

        private boolean isRunning;
        private boolean isAgain;
        private int attempts;
        private boolean isTold;
    }

    /**
     * Creates it. Nothing is begun before the first change.
     *
     * @param discussions makes the memories
     * @param logs returns the log of a conversation
     * @param freshness how long after a change a run begins at the latest, from zero to one day
     * @param executor runs the creators
     * @param after returns an executor that begins something after a pause
     * @param onPassedBy is run for each passage that is passed by; it must be fast
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

    /** Again, because a creator may have been at work. */
    @Override
    public void erased(MemoryKey key) {
        if (key instanceof ConversationKey) {
            discussions.store().erase(key);
        }
    }

    @Override
    public void cleanedUp(String tenant) {
        discussions.store().discussions(tenant, key -> {
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
            discussions.store().erase(key);
            if (Reads.info(log, key) != null) {
                // It was begun again in this moment, and perhaps had new memories already. They are made again.
                stale(key);
            }
        }
    }

    /**
     * Looks at a conversation some time later, because its memories do not fit its messages: it was erased, or continues on another
     * branch.
     *
     * @param key the conversation
     */
    public void stale(MemoryKey key) {
        // Only conversations have memories: what an agent's nodes say to each other is in them, as far as it matters.
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
            // The next change begins anew.
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
                // Its message may quote what was said, unless it is ours.
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
     * Returns whether the memories are of messages that are not there any more. Only an erasure removes messages, and it removes
     * all, so the first ones that memories were made of tell it. It is asked once in each epoch.
     */
    private boolean isOfErased(MemoryKey key, long epoch) {
        if (Objects.equals(epochs.get(key), epoch)) {
            return false;
        }
        Set<String> first = new HashSet<>();
        for (MemoryKind kind : List.of(MemoryKind.CHUNK, MemoryKind.FACT)) {
            discussions.store().progress(key, kind).steps().stream()
                    .limit(1)
                    .forEach(step -> first.addAll(step.passage().messageIds()));
        }
        boolean isGone =
                !first.isEmpty() && Reads.messages(logs.apply(key), key, first).size() < first.size();
        epochs.put(key, epoch);
        return isGone;
    }

    /**
     * Makes what is due of a conversation on this thread, and what was passed by.
     *
     * @param key the conversation
     * @return what was made, of all kinds
     * @throws MemoryFailedException if a model or a workflow failed; what was made before is stored
     * @throws KeepsakeException if a storage cannot be used
     */
    public MemoryRun make(MemoryKey key) {
        return make(key, true);
    }

    private MemoryRun make(MemoryKey key, boolean isAgain) {
        BranchMessages.Branch branch = branches.read(key);
        Discussion discussion = discussions.discussion(key, onPassedBy);
        if (branch.messages().isEmpty() || isOfErased(key, branch.epoch())) {
            // It was erased by what does not know of memories, such as a clean-up in another process.
            discussion.erase();
        }
        try {
            MemoryRun made =
                    isAgain ? discussion.retry(branch.messages()) : discussion.qualityMemory(branch.messages());
            if (made.end() == End.BUSY) {
                return made;
            }
            MemoryRun folded = discussion.updateSummary();
            List<MadeMemory> all = new ArrayList<>(made.made());
            all.addAll(folded.made());
            return new MemoryRun(folded.end() == End.BUSY ? End.BUSY : made.end(), all, made.problems());
        } finally {
            if (Reads.position(logs.apply(key), key).epoch() != branch.epoch()) {
                // It was erased meanwhile, perhaps before the first memory was stored.
                discussion.erase();
            }
        }
    }
}
