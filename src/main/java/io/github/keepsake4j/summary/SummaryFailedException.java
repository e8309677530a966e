package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.KeepsakeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a summary could not be created. Nothing changed. Retryable: the messages are in the log, and the next
 * attempt may succeed.
 */
public class SummaryFailedException extends KeepsakeException {

    /** The kinds of failures. */
    public enum Kind {
        /** The summarizer threw an exception. */
        THROWN,
        /** The summarizer did not answer in time. */
        TIMEOUT,
        /** The answer has no text. */
        BLANK,
        /** The answer is longer than allowed, or not shorter than the text that it replaces. */
        TOO_LONG,
        /** The answer contains a mark that is reserved for this library, as if it repeated its instructions. */
        MARKED,
        /** The store could not be used. */
        STORAGE,
        /** The plan that decides when a summary is due threw an exception, or requested the same summary twice. */
        PLAN,
        /** Another thread or process is currently creating a summary of this memory. */
        BUSY,
        /** The thread was interrupted while it worked or waited. */
        INTERRUPTED;

        /**
         * Returns the kind's name in metrics.
         *
         * @return a word in lower case
         */
        public String tag() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    private final Kind kind;

    /**
     * Creates an exception without a cause.
     *
     * @param kind the kind of failure
     * @param problem what went wrong, and for which memory if that is known; never the text of a message
     */
    public SummaryFailedException(Kind kind, String problem) {
        this(kind, problem, null);
    }

    /**
     * Creates an exception.
     *
     * @param kind the kind of failure
     * @param problem what went wrong, and for which memory if that is known; never the text of a message
     * @param cause the cause, or null; it comes from the summarizer, so its message may contain text of a model
     */
    public SummaryFailedException(Kind kind, String problem, @Nullable Throwable cause) {
        super(problem, cause);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /**
     * Returns the kind of failure.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    @Override
    public boolean isRetryable() {
        return true;
    }
}
