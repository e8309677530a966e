package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An estimator with a name, so that a stored count records the estimator that produced it. Thread-safe if the estimator
 * is.
 */
public final class TokenCounter {

    private static final Logger LOG = LoggerFactory.getLogger(TokenCounter.class);

    /** Counts the messages that another estimator refuses. */
    private static final JtokkitTokenCountEstimator FALLBACK = JtokkitTokenCountEstimator.forEncoding("o200k_base");

    private final String name;
    private final TokenCountEstimator estimator;

    private TokenCounter(String name, TokenCountEstimator estimator) {
        this.name = Objects.requireNonNull(name, "name");
        this.estimator = Objects.requireNonNull(estimator, "estimator");
    }

    /**
     * The number of tokens of a message, and the counter that counted them.
     *
     * @param tokens the number of tokens, 0 or more
     * @param counter the counter's name
     */
    public record Count(int tokens, String counter) {}

    /**
     * Creates a counter from an estimator. An estimator of this library provides its name; any other estimator gets the
     * name of its class.
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
     * Returns the default counter. It uses the encoding of OpenAI's models since GPT-4o.
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
     * Counts a message. A message must not be lost because it cannot be counted. If the estimator refuses it (because
     * of an image, for instance), this library's own estimator counts it, and the count carries the name of that
     * estimator.
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
     * Returns the number of tokens that the estimator adds to a list of messages.
     *
     * @return the number of tokens
     */
    public int tokensPerList() {
        return estimator.estimateTokenCountInMessages(List.of());
    }
}
