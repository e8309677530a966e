package io.github.keepsake4j.metrics;

/**
 * Hears what happens, to count it. Every method does nothing unless it is overridden. It is called on the thread that does
 * the work, so an implementation must be fast and thread-safe; what it throws is ignored.
 *
 * <p>A backend is a short name such as {@code postgresql}. No method is told a memory's id, so that none can become a tag.
 */
public interface Metrics {

    /** Counts nothing. */
    Metrics NONE = new Metrics() {};

    /**
     * Messages were appended as one batch. What is only linked to or sent again is not counted.
     *
     * @param backend where
     * @param messages how many, 1 or more
     */
    default void appended(String backend, int messages) {}

    /**
     * The newest part of a memory was read, for a model, an application or a summary. A page of history is not counted.
     *
     * @param backend where
     * @param messages how many messages came back, 0 or more
     */
    default void read(String backend, int messages) {}

    /**
     * Somebody else had moved the head first.
     *
     * @param backend where
     */
    default void conflict(String backend) {}

    /**
     * An append was sent again and had been stored before, such as when its first answer was lost.
     *
     * @param backend where
     */
    default void retried(String backend) {}

    /**
     * A limit newly put messages out of what a model sees. Compared with
     * what this process showed last, so messages that nobody here had shown are not counted.
     *
     * @param backend where they are kept
     * @param tokens how many tokens they have, 1 or more
     */
    default void tokensDropped(String backend, long tokens) {}

    /**
     * A summary was made and kept.
     *
     * @param backend where
     * @param tokensFolded how many tokens the messages have that it newly covers, 0 or more
     * @param tokensSent how many tokens the model was sent for it, or 0 if the summarizer is a function of the user's
     */
    default void summaryMade(String backend, long tokensFolded, long tokensSent) {}

    /**
     * An attempt to make a summary failed; nothing changed.
     *
     * @param backend where it would have been kept
     * @param kind what failed: one of few words in lower case
     */
    default void summaryFailed(String backend, String kind) {}

    /**
     * A clean-up removed a memory.
     *
     * @param backend where it was kept
     */
    default void memoryRemoved(String backend) {}
}
