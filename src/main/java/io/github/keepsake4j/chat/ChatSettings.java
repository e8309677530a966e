package io.github.keepsake4j.chat;

import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.TurnLeases;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings of chat memories. This class is not for users: a {@code Keepsake} creates them.
 *
 * @param logs returns the log that keeps a memory
 * @param ids returns the key of a memory id
 * @param strategy selects the messages that a model sees
 * @param counter counts messages when they are appended
 * @param executor runs the asynchronous methods
 * @param worker creates summaries, or null for none
 * @param metrics the metrics sink
 * @param keepsRequests whether a request is stored with its answer if it differs from the memory's own part
 * @param showsRetrieved whether later requests show what was retrieved for a question
 * @param listener receives the messages that leave the view, or null
 * @param remembered loads the memories that the strategy shows
 * @param turnLimit the time that a turn may run; an older question without an answer belongs to a process that was
 * killed
 * @param nanoTime the clock of turns and of remote counts, in nanoseconds
 * @param turns runs turns under the configured policy
 * @param outside what a conversation does with more than its own memory
 * @param capture prepares a task for another thread, which may create a memory with what its caller's thread has
 */
public record ChatSettings(
        Function<MemoryKey, MessageLog> logs,
        Function<Object, MemoryKey> ids,
        ContextStrategy strategy,
        TokenCounter counter,
        Executor executor,
        @Nullable SummaryWorker worker,
        Metrics metrics,
        boolean keepsRequests,
        boolean showsRetrieved,
        @Nullable LeavingViewListener listener,
        Remembering remembered,
        Duration turnLimit,
        LongSupplier nanoTime,
        TurnLeases turns,
        Outside outside,
        BiFunction<MemoryKey, Runnable, Runnable> capture) {

    /** What a conversation does with more than its own memory. */
    public interface Outside {

        /**
         * Copies a branch up to a message into another memory.
         *
         * @param from the memory
         * @param messageId the newest message of the fork
         * @param into the fork
         */
        void fork(MemoryKey from, String messageId, MemoryKey into);

        /**
         * Deletes a memory. Imports nothing.
         *
         * @param key the memory
         * @return the number of messages that were deleted, as far as they can be counted
         */
        long erase(MemoryKey key);

        /**
         * Deletes a conversation and the memories of its nodes.
         *
         * @param key the conversation
         * @return the number of nodes' memories that were deleted
         */
        int eraseWithNodes(MemoryKey key);
    }

    /** Loads the long-term memories that are shown in addition to the messages. Must be thread-safe. */
    @FunctionalInterface
    public interface Remembering {

        /** The source for a strategy without long-term memories. */
        Remembering NONE = key -> tail -> Optional.empty();

        /**
         * Begins to load the memories, while the caller reads the messages.
         *
         * @param key the memory
         * @return a function that waits for them for a bounded time, and returns those of the branch that was read; it does
         * not throw if they cannot be loaded, and returns none
         */
        Function<Tail, Optional<Remembered>> begin(MemoryKey key);
    }
}
