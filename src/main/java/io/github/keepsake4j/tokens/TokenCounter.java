package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An estimator with a name, so that a stored count remembers who counted. Thread-safe if the estimator is.
 */
public final class TokenCounter {

    private static final Logger LOG = LoggerFactory.getLogger(TokenCounter.class);

    /** Counts what another estimator refuses. */
    private static final JtokkitTokenCountEstimator FALLBACK = JtokkitTokenCountEstimator.forEncoding("o200k_base");

    private final String name;
    private final TokenCountEstimator estimator;

    private TokenCounter(String name, TokenCountEstimator estimator) {
        this.name = Objects.requireNonNull(name, "name");
        this.estimator = Objects.requireNonNull(estimator, "estimator");
    }

    /**
     * A message's count, and who counted.
     *
     * @param tokens tokens, 0 or more
     * @param counter the counter's name
     */
    public record Count(int tokens, String counter) {}

    /**
     * Counts with an estimator under a name of its own: ours know theirs, others get the name of their class.
     *
     * @param estimator the estimator
     * @return the counter
     */
    public static TokenCounter of(TokenCountEstimator estimator) {
        String name = estimator instanceof JtokkitTokenCountEstimator ours
                ? ours.name()
                : estimator.getClass().getName();
        return new TokenCounter(name, estimator);
    }

    /**
     * The counter that is used when nobody names one: the encoding of OpenAI's models since GPT-4o.
     *
     * @return the counter
     */
    public static TokenCounter standard() {
        return of(FALLBACK);
    }

    /**
     * Returns the name under which counts are stored.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Counts a message. A message must not be lost because it cannot be counted, so what the estimator refuses (images,
     * for instance) is counted by our own, and the count says so.
     *
     * @param message the message
     * @return the count
     */
    public Count count(ChatMessage message) {
        try {
            return new Count(estimator.estimateTokenCountInMessage(message), name);
        } catch (RuntimeException e) {
            LOG.debug(
                    "{} cannot count a message of type {} ({}); {} counts it",
                    name,
                    message.type(),
                    e.getClass().getName(),
                    FALLBACK.name());
            return new Count(FALLBACK.estimateTokenCountInMessage(message), FALLBACK.name());
        }
    }

    /**
     * Returns what the estimator adds to a list beside its messages.
     *
     * @return tokens
     */
    public int tokensPerList() {
        return estimator.estimateTokenCountInMessages(List.of());
    }
}
