package io.github.keepsake4j.context;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Optional;
import java.util.function.Function;

/**
 * Shows the messages that fit into a number of tokens, including the system message. An AI service adds the new user
 * message to them. Messages are counted when they are appended. A message that another counter counted is counted
 * once more, by this limit's own counter, when it is read, and the count is kept in this process.
 *
 * <p>A tool result that exceeds its share of the limit is shown shortened: its beginning, a mark that says how many
 * characters are cut, and its end. It is shortened in the same way every time. The log keeps it whole. The results of
 * several calls in one message together take at most half of the limit or one share, whichever is more. A result
 * gets less than its share if its turn's user message and calls leave less.
 *
 * <p>A finished turn that alone exceeds the limit is skipped, so that the turns before it stay. Its user message and
 * last answer stay if together they fit a quarter of the limit. A view skips at most 1,000 messages. Immutable.
 */
public final class TokenLimit extends LimitStrategy {

    private final Bound bound;
    private final TokenCounter counter;
    private final ToolResultShares shares;

    private TokenLimit(Bound bound, TokenCounter counter, ToolResultShares shares) {
        this.bound = bound;
        this.counter = counter;
        this.shares = shares;
    }

    /**
     * Creates a limit of tokens.
     *
     * @param maxTokens the maximum number of tokens that are shown, 1 or more, as the estimator counts the whole list
     * @param estimator the estimator that counts the tokens, such as {@link TokenCounter#named} or
     *     {@link TokenCounter#remote}
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
     * @param estimator the estimator that counts the tokens, such as {@link TokenCounter#named} or
     *     {@link TokenCounter#remote}
     * @return the strategy; its use throws {@link InvalidInputException} if the function returns null or less than 1
     */
    public static TokenLimit withDynamicMaxTokens(Function<Object, Integer> maxTokens, TokenCountEstimator estimator) {
        return of(Bound.of("maxTokens", maxTokens), estimator);
    }

    /**
     * Creates a limit from a model's context size, less the tokens that are reserved for the answer.
     *
     * @param contextTokens the model's context size in tokens
     * @param answerTokens the number of tokens that the answer may take, 0 or more and less than the context size
     * @param estimator the estimator that counts the tokens, such as {@link TokenCounter#named} or
     *     {@link TokenCounter#remote}
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
        TokenCounter counter = TokenCounter.of(InvalidInputException.given("estimator", estimator));
        if (!counter.isRemote()) {
            // Counted once, here. A remote estimator is not called before the first read.
            counter.tokensPerList();
        }
        return new TokenLimit(bound, counter, ToolResultShares.STANDARD);
    }

    /**
     * Lets the limit move in steps. When the limit is reached, up to this many tokens more than necessary are removed
     * at once. Until the next step, the shown messages only grow at their end, so that a provider's prompt
     * cache stays valid. Default: no steps.
     *
     * @param step the number of tokens, 1 or more and at most half the limit
     * @return a copy
     * @throws InvalidInputException if the step is out of range
     */
    public TokenLimit step(int step) {
        return new TokenLimit(bound.stepping(step), counter, shares);
    }

    @Override
    public TokenLimit steps(double share) {
        Bound stepping = bound.steps(share);
        return bound.isExact() ? new TokenLimit(stepping, counter, shares) : this;
    }

    /**
     * Sets the share of a tool result. Default: a quarter of the limit.
     *
     * @param tokens the maximum number of tokens of one result, 1 or more
     * @return a copy
     * @throws InvalidInputException if the number is less than 1
     */
    public TokenLimit maxToolResultTokens(int tokens) {
        return new TokenLimit(bound, counter, shares.with(tokens));
    }

    /**
     * Sets the share of the results of one tool. Default: the same as for all tools.
     *
     * @param toolName the tool's name
     * @param tokens the maximum number of tokens of one result, 1 or more
     * @return a copy
     * @throws InvalidInputException if the number is less than 1
     */
    public TokenLimit maxToolResultTokens(String toolName, int tokens) {
        return new TokenLimit(bound, counter, shares.with(toolName, tokens));
    }

    @Override
    Limit limit(Context context) {
        Object id = context.memoryId();
        return new TokenWeights(context, counter, bound.limit(id), shares).limit(bound.step(id));
    }

    @Override
    public ReadBounds bounds(Object memoryId) {
        return ReadBounds.ofTokens(bound.limit(memoryId));
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return Optional.of(counter);
    }

    /** Returns the limit and its step, for a log. */
    @Override
    public String toString() {
        return bound.toString();
    }
}
