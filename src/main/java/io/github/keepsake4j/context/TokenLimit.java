package io.github.keepsake4j.context;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Shows the messages that fit into a number of tokens, including the system message. An AI service adds the new user
 * message to them. Messages are counted when they are appended, not here. If another counter counted a message, its
 * count is multiplied by {@value #FOREIGN_FACTOR}, because tokenizers differ by up to about that factor. Immutable.
 */
public final class TokenLimit implements ContextStrategy {

    /** The factor for the count of another counter. */
    static final double FOREIGN_FACTOR = 1.5;

    private final Bound bound;
    private final TokenCounter counter;
    private final int tokensPerList;

    private TokenLimit(Bound bound, TokenCounter counter) {
        this.bound = bound;
        this.counter = counter;
        this.tokensPerList = counter.tokensPerList();
    }

    /**
     * Creates a limit of tokens.
     *
     * @param maxTokens the maximum number of tokens that are shown, 1 or more, as the estimator counts the whole list
     * @param estimator the estimator that counts the tokens
     * @return the strategy
     * @throws InvalidInputException if the limit is less than 1
     */
    public static TokenLimit withMaxTokens(int maxTokens, TokenCountEstimator estimator) {
        return of(Bound.of("maxTokens", maxTokens), estimator);
    }

    /**
     * Creates a limit of tokens that depends on the memory.
     *
     * @param maxTokens returns the limit, 1 or more, for a memory's id as LangChain4j passed it; it must be fast,
     *     because it is called whenever the memory is read
     * @param estimator the estimator that counts the tokens
     * @return the strategy; its use throws {@link InvalidInputException} if the function returns null or less than 1
     */
    public static TokenLimit withDynamicMaxTokens(Function<Object, Integer> maxTokens, TokenCountEstimator estimator) {
        return of(Bound.of("maxTokens", maxTokens), estimator);
    }

    /**
     * Creates a limit from a model's context size, less the tokens that are reserved for the answer.
     *
     * @param contextTokens the model's context size in tokens
     * @param answerTokens how many of them the answer may take, 0 or more and less than the context size
     * @param estimator the estimator that counts the tokens
     * @return the strategy
     * @throws InvalidInputException if nothing is left for the memory
     */
    public static TokenLimit withContextSize(int contextTokens, int answerTokens, TokenCountEstimator estimator) {
        if (answerTokens < 0 || answerTokens >= contextTokens) {
            throw new InvalidInputException(
                    "answerTokens",
                    "must be 0 or more and less than the context size of " + contextTokens + ", is " + answerTokens);
        }
        return of(Bound.of("contextTokens", contextTokens - answerTokens), estimator);
    }

    private static TokenLimit of(Bound bound, TokenCountEstimator estimator) {
        return new TokenLimit(bound, TokenCounter.of(Objects.requireNonNull(estimator, "estimator")));
    }

    /**
     * Lets the limit move in steps. When the limit is reached, up to this much more than necessary is removed at once.
     * Until the next step, the shown messages only grow at their end, so that a provider's prompt cache stays valid.
     * Default: no steps.
     *
     * @param step the number of tokens, 1 or more and at most half the limit
     * @return a copy
     * @throws InvalidInputException if the step is out of range
     */
    public TokenLimit step(int step) {
        return new TokenLimit(bound.stepping(step), counter);
    }

    @Override
    public Context select(Context context) {
        Object id = context.memoryId();
        long beside = context.beside().stream().mapToLong(this::tokens).sum();
        return new Limit((turn, message) -> tokens(message), bound.limit(id), bound.step(id), Reason.TOKEN_LIMIT)
                .apply(context, tokensPerList + context.reserved() + beside);
    }

    @Override
    public Reach reach(Object memoryId) {
        return Reach.ofTokens(bound.limit(memoryId));
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return Optional.of(counter);
    }

    private long tokens(LoggedMessage message) {
        return tokens(message, counter);
    }

    /** Returns how many tokens a message counts for a counter. */
    static long tokens(LoggedMessage message, TokenCounter counter) {
        return message.tokenCounter().equals(counter.name())
                ? message.tokens()
                : (long) Math.ceil(message.tokens() * FOREIGN_FACTOR);
    }
}
