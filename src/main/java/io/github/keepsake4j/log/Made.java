package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * What is kept beside an answer about how it was made.
 *
 * @param seen what the answer was made from, or null if that is not known
 * @param usage the tokens that were used for it, or null if they are not known
 * @param request the whole request that it answers, as the text that was appended, or null if that was not kept
 */
public record Made(@Nullable Seen seen, @Nullable Usage usage, @Nullable String request) {

    /**
     * Creates what is kept of an answer whose request was not kept.
     *
     * @param seen what the answer was made from, or null if that is not known
     * @param usage the tokens that were used for it, or null if they are not known
     */
    public Made(@Nullable Seen seen, @Nullable Usage usage) {
        this(seen, usage, null);
    }

    /**
     * Sets the request.
     *
     * @param made what else is kept, or null if nothing is
     * @param request the request as text, or null
     * @return what is kept, or null if nothing is
     */
    public static @Nullable Made with(@Nullable Made made, @Nullable String request) {
        return request == null
                ? made
                : new Made(made == null ? null : made.seen(), made == null ? null : made.usage(), request);
    }

    /** Leaves out the request, so that the result may be logged. */
    @Override
    public String toString() {
        return "Made[seen=" + seen + ", usage=" + usage + ", request=" + (request == null ? "none" : "kept") + "]";
    }
}
