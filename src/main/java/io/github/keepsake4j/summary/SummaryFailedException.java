package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.KeepsakeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** No summary was made; nothing changed. Retryable: the messages are in the log, and the next attempt may succeed. */
public class SummaryFailedException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /** What failed. */
    public enum Kind {
        /** The summarizer threw something. */
        THROWN,
        /** The summarizer did not answer in time. */
        TIMEOUT,
        /** The answer has no text. */
        BLANK,
        /** The answer is longer than allowed, or not shorter than what it replaces. */
        TOO_LONG,
        /** The answer holds a mark that is reserved for us, as if it repeated its instructions. */
        MARKED,
        /** The storage could not be used. */
        STORAGE,
        /** What says when a summary is due threw something, or asked for the same one twice. */
        PLAN,
        /** Somebody else is making one at the moment. */
        BUSY,
        /** The thread was interrupted while it worked or waited. */
        INTERRUPTED;

        /**
         * Returns the kind as metrics name it.
         *
         * @return a word in lower case
         */
        public String tag() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** What failed. */
    private final Kind kind;

    /**
     * Makes the error.
     *
     * @param kind what failed
     * @param problem what went wrong, and for which memory if that is known; never message text
     * @param cause what caused it, or null; it comes from the summarizer, so its text may hold what a model said
     */
    public SummaryFailedException(Kind kind, String problem, @Nullable Throwable cause) {
        super(problem, cause);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /**
     * Says what failed.
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
