package io.github.keepsake4j.log;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How an answer was made. Stored with the answer. Every part may be unknown.
 *
 * @param seen the sources of the answer, or null
 * @param usage the tokens that were used for it, or null
 * @param modelName the name of the model, as its provider gave it with the answer, or null
 * @param finishReason why the model ended the answer, a name of LangChain4j's {@code FinishReason}, or null
 * @param request the whole request that it answers, as the text that was appended, or null if it was not kept
 */
public record Made(
        @Nullable Seen seen,
        @Nullable Usage usage,
        @Nullable String modelName,
        @Nullable String finishReason,
        @Nullable String request) {

    /** Of an answer about which nothing is known. */
    public static final Made NOTHING = new Made(null, null);

    /** The longest name of a model that is kept, in UTF-16 code units. Providers' names have up to about 100. */
    private static final int MAX_NAME = 1_000;

    /**
     * Creates the notes of an answer whose model and request are not known.
     *
     * @param seen the sources of the answer, or null
     * @param usage the tokens that were used for it, or null
     */
    public Made(@Nullable Seen seen, @Nullable Usage usage) {
        this(seen, usage, null, null, null);
    }

    /**
     * Returns the notes that a model's response contains.
     *
     * @param response the response
     * @return its model, tokens and reason to end, as far as they are known; a name that stores refuse is left out,
     * because the answer must not be lost for it
     */
    public static Made of(ChatResponse response) {
        FinishReason reason = response.finishReason();
        String name = response.modelName();
        return new Made(
                null,
                usage(response),
                name == null || !canBeKept(name) ? null : name,
                reason == null ? null : reason.name(),
                null);
    }

    private static boolean canBeKept(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_NAME
                && name.indexOf('\0') < 0
                && StandardCharsets.UTF_8.newEncoder().canEncode(name);
    }

    private static @Nullable Usage usage(ChatResponse response) {
        TokenUsage used = response.tokenUsage();
        if (used == null || (used.inputTokenCount() == null && used.outputTokenCount() == null)) {
            return null;
        }
        return new Usage(
                atLeastZero(used.inputTokenCount()), atLeastZero(used.outputTokenCount()), CachedTokens.of(used));
    }

    private static long atLeastZero(@Nullable Integer count) {
        return count == null ? 0 : Math.max(0, count);
    }

    /**
     * Sets the sources of the answer.
     *
     * @param other the sources, or null
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
