package io.github.keepsake4j.metrics;

import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Receives events in order to count them. Every method does nothing by default. The methods are called on the thread
 * that does the work, so an implementation must be fast and thread-safe. Exceptions that a method throws are ignored.
 *
 * <p>A store is named by a short name such as {@code postgresql}. No method receives a memory's id, so that an id can never
 * become a tag.
 */
public interface Metrics {

    /** A sink that ignores all events. */
    Metrics NONE = new Metrics() {};

    /**
     * Counts messages that were appended as one batch. Messages that were only linked or sent again are not counted.
     *
     * @param backend the name of the store that keeps them
     * @param messages the number of messages, 1 or more
     */
    default void appended(String backend, int messages) {}

    /**
     * Counts a read of the newest part of a memory, for a model, an application or a summary. Reading a page of history
     * is not counted.
     *
     * @param backend the name of the store that was read
     * @param messages the number of messages that were returned, 0 or more
     */
    default void read(String backend, int messages) {}

    /**
     * Counts a conflict: another writer moved the head first.
     *
     * @param backend the name of the store of the memory
     */
    default void conflict(String backend) {}

    /**
     * Counts an append that was sent again and had already been stored, for instance because its first answer was lost.
     *
     * @param backend the name of the store of the memory
     */
    default void retried(String backend) {}

    /**
     * Counts tokens of messages that a limit newly excluded from a model's view. The comparison is with the view that
     * this process returned last, so messages that this process never showed are not counted.
     *
     * @param backend the name of the store that keeps the messages
     * @param tokens the number of tokens of these messages, 1 or more
     */
    default void tokensDropped(String backend, long tokens) {}

    /**
     * Counts a summary that was made and stored.
     *
     * @param backend the name of the store that keeps it
     * @param tokensFolded the number of tokens of the messages that it newly covers, 0 or more
     * @param tokensSent the number of tokens that were sent to the model for it, or 0 if the summarizer is the user's
     *     own function
     */
    default void summaryMade(String backend, long tokensFolded, long tokensSent) {}

    /**
     * Counts a failed attempt to create a summary. The attempt changed nothing.
     *
     * @param backend the name of the store that would have kept it
     * @param kind the kind of failure: one of a few words in lower case
     */
    default void summaryFailed(String backend, String kind) {}

    /**
     * Counts a memory that a clean-up removed.
     *
     * @param backend the name of the store that kept it
     */
    default void memoryRemoved(String backend) {}

    /**
     * Counts messages of a conversation that are skipped because no long-term memory could be created of them.
     *
     * @param backend the name of the store of the long-term memories
     */
    default void passagePassedBy(String backend) {}

    /**
     * Counts turns that were read for the history of a workflow's node and that its limit of tokens left out.
     *
     * @param backend the name of the store of the memory
     * @param turns the number of turns, 1 or more
     */
    default void turnsDropped(String backend, int turns) {}

    /**
     * Counts a run of a workflow's node whose prompt and query left no tokens of the model's context for a history.
     *
     * @param backend the name of the store of the node's memory
     */
    default void historyOverflow(String backend) {}

    /**
     * Counts a question that was recalled by words alone, because the embedding model failed or did not answer in time.
     *
     * @param backend the name of the store of the index
     */
    default void recalledByWordsAlone(String backend) {}

    /**
     * Reports an event. An exception from the sink is logged and ignored, because a failure of metrics must not make a
     * chat, a summary or a clean-up fail.
     *
     * @param sink the sink
     * @param event calls one of the sink's methods
     */
    static void tell(Metrics sink, Consumer<Metrics> event) {
        try {
            event.accept(sink);
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(Metrics.class)
                    .debug("Metrics failed: {}", e.getClass().getName());
        }
    }
}
