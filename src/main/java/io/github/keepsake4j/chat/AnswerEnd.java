package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What a model's response says about its end.
 *
 * @param usage the tokens that it used, or null if they are not known
 * @param outcome how it ended if it broke off, else null
 */
record AnswerEnd(@Nullable Usage usage, @Nullable Outcome outcome) {

    static final String CANCELLED = "cancelled";
    static final String CUT = "cut";
    private static final String LIMIT = "limit";

    /**
     * Reads a response.
     *
     * @param response the response
     * @param afterError whether an error of the same turn came before it
     */
    static AnswerEnd of(ChatResponse response, boolean afterError) {
        return new AnswerEnd(usage(response), outcome(response, afterError));
    }

    private static @Nullable Outcome outcome(ChatResponse response, boolean afterError) {
        if (response.finishReason() == FinishReason.LENGTH) {
            return Outcome.incomplete(LIMIT);
        }
        // A model that tells its name or an id tells the reason too, unless its connection was cut.
        boolean tells = afterError || response.id() != null || response.modelName() != null;
        return response.finishReason() == null && tells ? Outcome.incomplete(CUT) : null;
    }

    /** Returns the tokens that a response used, or null if they are not known. */
    static @Nullable Usage usage(ChatResponse response) {
        TokenUsage used = response.tokenUsage();
        if (used == null || (used.inputTokenCount() == null && used.outputTokenCount() == null)) {
            return null;
        }
        return new Usage(
                atLeastZero(used.inputTokenCount()), atLeastZero(used.outputTokenCount()), CachedTokens.of(used));
    }

    static long atLeastZero(@Nullable Integer count) {
        return count == null ? 0 : Math.max(0, count);
    }
}
