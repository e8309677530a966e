package io.github.keepsake4j.log;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is kept beside an answer about how it was made. Every part may be unknown.
 *
 * @param seen what the answer was made from, or null
 * @param usage the tokens that were used for it, or null
 * @param modelName the name of the model, as its provider gave it with the answer, or null
 * @param finishReason why the model ended the answer, a name of LangChain4j's {@code FinishReason}, or null
 * @param request the whole request that it answers, as the text that was appended, or null if that was not kept
 */
public record Made(
        @Nullable Seen seen,
        @Nullable Usage usage,
        @Nullable String modelName,
        @Nullable String finishReason,
        @Nullable String request) {

    /** Of an answer about which nothing is known. */
    public static final Made NOTHING = new Made(null, null);

    /**
     * Creates what is kept of an answer whose model and request are not known.
     *
     * @param seen what the answer was made from, or null
     * @param usage the tokens that were used for it, or null
     */
    public Made(@Nullable Seen seen, @Nullable Usage usage) {
        this(seen, usage, null, null, null);
    }

    /**
     * Sets what the answer was made from.
     *
     * @param other what it was made from, or null
     * @return a copy
     */
    public Made withSeen(@Nullable Seen other) {
        return new Made(other, usage, modelName, finishReason, request);
    }

    /**
     * Sets the tokens that were used.
     *
     * @param other the tokens, or null
     * @return a copy
     */
    public Made withUsage(@Nullable Usage other) {
        return new Made(seen, other, modelName, finishReason, request);
    }

    /**
     * Sets the request.
     *
     * @param other the whole request as text, or null
     * @return a copy
     */
    public Made withRequest(@Nullable String other) {
        return new Made(seen, usage, modelName, finishReason, other);
    }

    /**
     * Returns this if anything is known.
     *
     * @return this, or empty if nothing is known
     */
    public Optional<Made> ifKnown() {
        return equals(NOTHING) ? Optional.empty() : Optional.of(this);
    }

    /** Leaves out the request, so that the result may be logged. */
    @Override
    public String toString() {
        return "Made[seen=" + seen + ", usage=" + usage + ", modelName=" + modelName + ", finishReason=" + finishReason
                + ", request=" + (request == null ? "none" : "kept") + "]";
    }
}
