package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.message.InvalidInputException.given;

import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Copies memories from one log to another, with all their data: messages on all branches with their ids, times, token
 * counts, outcomes, usage and sources; the head, named branches, views, summaries, title and metadata. Epochs and
 * leases are not copied.
 *
 * <pre>{@code
 * MemoryCopy.Report report = MemoryCopy.between(sqlite, postgres).tenant("acme");
 * }</pre>
 *
 * <p>An interrupted copy continues when it is called again. Each memory is compared with its copy at the end. A memory
 * that changes meanwhile is copied until both are equal. Nothing is written to the source. A copy to a
 * {@code FileMessageLog} is an export as JSON lines, and a copy from it an import.
 *
 * <p>Immutable and thread-safe. Several copies of one memory into one log may run at the same time.
 */
public final class MemoryCopy {

    /** The number of passes for a memory that changes while it is copied. */
    static final int MOST_PASSES = 20;

    private final MessageLog source;
    private final MessageLog target;
    private final Consumer<Progress> listener;

    /**
     * How far a copy is.
     *
     * @param memory the memory that is copied now
     * @param messages the number of its messages that are in the target
     * @param of the number of its messages in the source when its copy began
     */
    public record Progress(MemoryKey memory, long messages, long of) {}

    /**
     * What was copied.
     *
     * @param memories the number of memories that are in both logs now
     * @param messages the number of their messages
     * @param erased the memories that are not copied because they were erased in the target
     * @param damaged the number of memories that were skipped because they or their copies cannot be read
     */
    public record Report(long memories, long messages, List<MemoryKey> erased, long damaged) {

        /** Nothing. */
        static final Report NONE = new Report(0, 0, List.of(), 0);

        /** Copies the list. */
        public Report {
            erased = List.copyOf(erased);
        }

        Report plus(Report other) {
            List<MemoryKey> both = new ArrayList<>(erased);
            both.addAll(other.erased);
            return new Report(memories + other.memories, messages + other.messages, both, damaged + other.damaged);
        }
    }

    /**
     * Thrown at the end of a copy of several memories if some could not be copied. Its text names the first of these,
     * and {@link #getSuppressed()} returns the exception of each. Retryable if all these exceptions are.
     */
    public static final class UnfinishedException extends KeepsakeException {

        private final transient Report report;
        private final boolean retryable;

        private UnfinishedException(Report report, List<KeepsakeException> failures) {
            super(failures.get(0).getMessage() + ". Copied: " + report.memories() + " memories with "
                    + report.messages() + " messages; not copied: " + failures.size());
            failures.forEach(this::addSuppressed);
            this.report = report;
            this.retryable = failures.stream().allMatch(KeepsakeException::isRetryable);
        }

        /**
         * Returns what was copied.
         *
         * @return the report on the memories that were copied
         */
        public Report report() {
            return report;
        }

        @Override
        public boolean isRetryable() {
            return retryable;
        }
    }

    /** The memory does not stop changing. */
    private static final class ChangingException extends StorageUnavailableException {

        ChangingException(String message) {
            super(message);
        }
    }

    /** Thrown when a memory differs between the logs. */
    private static final class UncopiedException extends KeepsakeException {

        UncopiedException(String message) {
            super(message);
        }
    }

    private MemoryCopy(MessageLog source, MessageLog target, Consumer<Progress> listener) {
        this.source = source;
        this.target = target;
        this.listener = listener;
    }

    /**
     * Creates a copy from one log to another. Both logs remain open.
     *
     * @param source is read
     * @param target is written
     * @return the copy
     */
    public static MemoryCopy between(MessageLog source, MessageLog target) {
        return new MemoryCopy(given("source", source), given("target", target), progress -> {});
    }

    /**
     * Sets a listener that is called after each batch of messages. Default: none.
     *
     * @param progress called by the thread that copies; an exception ends the copy
     * @return a copy of this object
     */
    public MemoryCopy onProgress(Consumer<Progress> progress) {
        return new MemoryCopy(source, target, given("onProgress", progress));
    }

    /**
     * Copies all memories of a tenant, the oldest ones first, so that the target lists them in the order of the source.
     * Memories that the source no longer has are not removed from the target. A damaged memory is skipped. Messages
     * that were copied before the damage was found stay, and a copy after a repair continues there.
     *
     * @param tenant the tenant's id
     * @return a report; {@link Report#damaged()} memories are missing or incomplete
     * @throws UnfinishedException if a memory did not stop changing, was erased in the source meanwhile, or has other
     *     messages in the target; all others were copied before
     * @throws StorageUnavailableException (retryable) if a log cannot be reached; the copied messages stay
     */
    public Report tenant(String tenant) {
        return tenants(List.of(given("tenant", tenant)));
    }

    /**
     * Copies all memories of several tenants, as {@link #tenant} does. A log has no list of its tenants, so the
     * application names them.
     *
     * @param tenants the tenants' ids
     * @return a report; {@link Report#damaged()} memories are missing or incomplete
     * @throws UnfinishedException if a memory did not stop changing, was erased in the source meanwhile, or has other
     *     messages in the target; all others were copied before
     * @throws StorageUnavailableException (retryable) if a log cannot be reached; the copied messages stay
     */
    public Report tenants(Collection<String> tenants) {
        List<KeepsakeException> failures = new ArrayList<>();
        Report report = MemoriesOfTenants.each(source, tenants, key -> {
            try {
                return memory(key);
            } catch (ErasedException e) {
                return new Report(0, 0, List.of(key), 0);
            } catch (ChangingException | UncopiedException | MessageIdConflictException e) {
                failures.add(e);
                return Report.NONE;
            }
        });
        if (!failures.isEmpty()) {
            throw new UnfinishedException(report, failures);
        }
        return report;
    }

    /**
     * Copies one memory.
     *
     * @param key the memory
     * @return what was copied
     * @throws ErasedException if the memory is erased in the target meanwhile; it stays erased
     * @throws StorageUnavailableException (retryable) if a log cannot be reached, or if the memory does not stop
     *     changing
     * @throws KeepsakeException if the target has other messages of this memory, or if the source no longer has it or
     * erases it meanwhile
     */
    public Report memory(MemoryKey key) {
        MemoryTarget to = MemoryTarget.of(target, key);
        if (to.isErased()) {
            return new Report(0, 0, List.of(key), 0);
        }
        long epoch = Reads.position(source, key).epoch();
        for (int pass = 0; pass < MOST_PASSES; pass++) {
            boolean isThere;
            try {
                isThere = copy(key, to);
            } catch (InvalidInputException | ErasedException e) {
                // The message that was just read may have been erased.
                refuseErased(key, epoch);
                throw e;
            }
            refuseErased(key, epoch);
            if (!isThere && to.newest() != null) {
                throw gone(key, "has messages in the target and is no longer in the source");
            }
            Fingerprint now = Fingerprint.of(source, key);
            if (now.equals(Fingerprint.of(target, key))) {
                return new Report(now.memories(), now.messages(), List.of(), 0);
            }
        }
        throw new ChangingException("Memory " + key + " still differs between the logs after " + MOST_PASSES
                + " passes. Copy it again when it is not in use");
    }

    /** Copies the missing parts once, and returns whether the source has the memory. */
    private boolean copy(MemoryKey key, MemoryTarget to) {
        // Parts that name messages are read before the messages, so that these messages are copied.
        BesideMessages beside = BesideMessages.read(source, key);
        if (beside == null) {
            return false;
        }
        LoggedMessage last = to.newest();
        long behind = last == null ? 0 : sequence(key, last);
        copyOutcomes(key, to, behind);
        MemorySource from = new MemorySource(source, key, beside.summaries());
        from.read(behind, page -> {
            to.append(page);
            LoggedMessage newest = to.newest();
            listener.accept(new Progress(key, newest == null ? 0 : newest.sequence(), beside.messages()));
        });
        to.complete(beside.with(from));
        return true;
    }

    /** The outcome of a message may change after it was copied. */
    private void copyOutcomes(MemoryKey key, MemoryTarget to, long upTo) {
        for (HistoryQuery next = HistoryQuery.oldest(MemorySource.PAGE); next != null && next.sequence() < upTo; ) {
            HistoryPage page = source.history(key, next);
            to.setOutcomes(page.messages().stream()
                    .filter(message -> message.sequence() <= upTo)
                    .toList());
            next = page.next().orElse(null);
        }
    }

    private long sequence(MemoryKey key, LoggedMessage last) {
        return Reads.message(source, key, last.id())
                .map(LoggedMessage::sequence)
                .orElseThrow(() -> new UncopiedException(
                        "Memory " + key + " has messages in the target that the source does not have, such as "
                                + last.id()
                                + ". Erase the memory in the target, or copy it into an empty log"));
    }

    private void refuseErased(MemoryKey key, long epoch) {
        if (Reads.position(source, key).epoch() != epoch) {
            throw gone(key, "was erased in the source while it was copied");
        }
    }

    private static UncopiedException gone(MemoryKey key, String problem) {
        return new UncopiedException("Memory " + key + " " + problem
                + ". The target keeps the copied messages: erase the memory there too, or leave it");
    }
}
