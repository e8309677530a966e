package io.github.keepsake4j.view;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Empties what a memory shows, in one step: a compare-and-set on the position. The log keeps the messages. */
public final class ViewClearer {

    private static final Logger LOG = LoggerFactory.getLogger(ViewClearer.class);

    /** How often other writers may set a list, move the head or branch between a read and the step. */
    private static final int MAX_CONFLICTS = 100;

    private ViewClearer() {}

    /**
     * Empties what a memory shows. Messages that arrive meanwhile stay. Nothing is written if the memory shows nothing.
     *
     * @param log the log
     * @param key the memory
     * @throws StorageUnavailableException if other writers were first more than 100 times
     */
    public static void clear(MessageLog log, MemoryKey key) {
        clear(log, key, null, log::append, tail -> tail);
    }

    /**
     * Empties what a memory shows.
     *
     * @param log the log to read from
     * @param key the memory
     * @param epoch the epoch that the caller works in, or null for the one in force
     * @param appender appends to that log
     * @param meter counts a read and returns it
     * @return what the caller has seen then; null if the memory has no messages
     * @throws ErasedException if another epoch is in force
     */
    static @Nullable Reading clear(
            MessageLog log,
            MemoryKey key,
            @Nullable Long epoch,
            BiFunction<MemoryKey, Append, AppendResult> appender,
            UnaryOperator<Tail> meter) {
        for (int conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
            Tail tail = meter.apply(log.read(key, ReadQuery.newest(1)));
            Position position = tail.position();
            String head = position.head();
            if (head == null) {
                return null;
            }
            Reading empty = Reading.empty(position, tail.messages().get(0).sequence());
            View view = tail.view();
            if (view != null && view.isEmpty() && head.equals(view.anchor())) {
                return empty;
            }
            Append append = Append.viewOnly(View.of(head, List.of())).sinceRevisionOf(position);
            try {
                return empty.cleared(appender.apply(key, epoch == null ? append : append.inEpoch(epoch)));
            } catch (HeadConflictException | UnknownMessageException e) {
                LOG.debug("Memory {}: another writer was first; it is emptied as it is now", key);
            }
        }
        throw new StorageUnavailableException(
                "Memory " + key + ": other writers were first " + MAX_CONFLICTS + " times", null);
    }
}
