package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings an index up to date with a tenant's memories, in the calling thread. An application's indexer does the same in the
 * background; both may run at once.
 *
 * @param log the memories
 * @param index the index
 * @param tenant the tenant
 * @param progress shows how far it is
 * @param sleeper waits; a test has one that does not
 */
record IndexRun(MessageLog log, MessageIndex index, String tenant, ProgressLine progress, Consumer<Duration> sleeper) {

    /** For how long a memory may wait for another process: longer than the lease of a process that was killed. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final Duration PAUSE = Duration.ofMillis(500);

    /**
     * What was done.
     *
     * @param state the state at the end
     * @param added the number of messages that this process indexed
     * @param damaged the number of memories that cannot be read
     */
    record Report(IndexState state, long added, long damaged) {}

    /** Indexes what is missing, and waits for what another process is indexing. */
    Report run() {
        index.open(Words.standard().fingerprint());
        IndexState state = IndexState.of(log, index, tenant);
        Told told = new Told(state);
        Schedule schedule = new Schedule();
        MessageSearch search =
                new MessageSearch(told, told::begin, List.of(log), Words.standard(), schedule.soon(), schedule::after);
        search.start(tenant);
        // Looks what is to do, and does not do it yet.
        schedule.runNext();
        Duration waited = Duration.ZERO;
        while (!state.isComplete()) {
            IndexState before = state;
            schedule.runNext();
            told.rethrow();
            state = IndexState.of(log, index, tenant);
            if (state.missing() < before.missing()
                    || state.erased().size() < before.erased().size()) {
                waited = Duration.ZERO;
            } else if (!state.isComplete() && onlyDamaged(state.behind())) {
                break;
            } else if (!state.isComplete() && waited.compareTo(PATIENCE) > 0) {
                throw stuck(state);
            } else if (!state.isComplete()) {
                progress.tell(() -> told.step(" (waiting for another process)"));
                sleeper.accept(PAUSE);
                waited = waited.plus(PAUSE);
            }
        }
        return new Report(state, told.added, state.damaged() + state.behind().size());
    }

    private static StorageUnavailableException stuck(IndexState state) {
        List<MemoryKey> memories = new ArrayList<>(state.behind());
        memories.addAll(state.erased());
        return new StorageUnavailableException(
                "Memory " + memories.get(0) + " could not be indexed within " + PATIENCE.toSeconds()
                        + " seconds. Another process may be indexing it, or changes it all the time: retry later",
                null);
    }

    /** Returns whether none of these memories can be read to its end. */
    private boolean onlyDamaged(List<MemoryKey> keys) {
        return !keys.isEmpty() && keys.stream().allMatch(this::isDamaged);
    }

    private boolean isDamaged(MemoryKey key) {
        try {
            return !log.check(key).isEmpty();
        } catch (UnreadableDataException e) {
            return true;
        }
    }

    /** Tells what is added to the index. */
    private final class Told extends ForwardingIndex {

        private final IndexState begin;
        private @Nullable MemoryKey current;
        private @Nullable RuntimeException failure;
        private long added;

        Told(IndexState begin) {
            super(index);
            this.begin = begin;
        }

        MessageLog begin(MemoryKey key) {
            current = key;
            progress.tell(() -> step(""));
            return log;
        }

        Step step(String then) {
            String memory = current == null ? "" : ": " + Printable.memory(current);
            String text = Printable.number(Math.min(added, begin.missing())) + " of "
                    + Printable.count(begin.missing(), "message") + " indexed" + memory + then;
            return new Step(text, added, begin.missing());
        }

        /** Other tenants in the index are not asked for. */
        @Override
        public List<String> tenants() {
            return super.tenants().stream().filter(tenant::equals).toList();
        }

        @Override
        public boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
            try {
                boolean done = super.add(key, before, after, messages);
                if (done) {
                    added += after.sequence() - (before == null ? 0 : before.sequence());
                    progress.tell(() -> step(""));
                }
                return done;
            } catch (KeepsakeException e) {
                // The indexer only logs it, and tries again.
                failure = e;
                throw e;
            }
        }

        void rethrow() {
            if (failure != null) {
                throw failure;
            }
        }
    }
}
