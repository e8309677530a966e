package io.github.keepsake4j.context;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Objects;
import java.util.Optional;

/**
 * Shows what fits a number of tokens, the system message included; an AI service adds the new user message on top. Messages are counted when they are appended; nothing
 * is counted here. A message that another counter has counted weighs {@value #FOREIGN_FACTOR} times its count, since
 * tokenizers disagree by up to about that much. Immutable.
 */
public final class TokenLimit implements ContextStrategy {

    /** The weight of a token of another counter. */
    static final double FOREIGN_FACTOR = 1.5;

    private final int maxTokens;
    private final TokenCounter counter;
    private final int tokensPerList;

    private TokenLimit(int maxTokens, TokenCounter counter) {
        this.maxTokens = maxTokens;
        this.counter = counter;
        this.tokensPerList = counter.tokensPerList();
    }

    /**
     * A limit of tokens.
     *
     * @param maxTokens how many tokens are shown at most, 1 or more, by the estimator's count of the whole list
     * @param estimator what counts
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static TokenLimit withMaxTokens(int maxTokens, TokenCountEstimator estimator) {
        if (maxTokens < 1) {
            throw new InvalidInputException("maxTokens", "must be 1 or more, is " + maxTokens);
        }
        return new TokenLimit(maxTokens, TokenCounter.of(Objects.requireNonNull(estimator, "estimator")));
    }

    @Override
    public Context select(Context context) {
        return new Trimmer(this::tokens, maxTokens, Reason.TOKEN_LIMIT).trim(context, tokensPerList);
    }

    @Override
    public Reach reach() {
        return new Reach(Integer.MAX_VALUE, Integer.MAX_VALUE, maxTokens);
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return Optional.of(counter);
    }

    private long tokens(LoggedMessage message) {
        return message.tokenCounter().equals(counter.name())
                ? message.tokens()
                : (long) Math.ceil(message.tokens() * FOREIGN_FACTOR);
    }
}
