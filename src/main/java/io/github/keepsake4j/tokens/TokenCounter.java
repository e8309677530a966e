package io.github.keepsake4j.tokens;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An estimator with a name, so that a stored count records its counter. Counters with the same name return the same
 * counts. A counter is itself an estimator, so it can be passed wherever an estimator is accepted. Thread-safe if the
 * estimator is.
 */
public final class TokenCounter implements TokenCountEstimator {

    /**
     * The factor for the count of this library's own estimator if it replaces another estimator that failed. Tokenizers
     * of current models differ by less than this on the same text, except for scripts that an old tokenizer does not
     * know.
     */
    public static final int STAND_IN_FACTOR = 2;

    private static final Logger LOG = LoggerFactory.getLogger(TokenCounter.class);

    private static final String UNCOUNTED = "The counter {} cannot count {} ({}); {} counts it";

    /** Counts the messages that another estimator refuses. */
    private static final JtokkitTokenCountEstimator FALLBACK = JtokkitTokenCountEstimator.forEncoding("o200k_base");

    /** The names of estimators that have none. Equal estimators share a name. */
    private static final Map<TokenCountEstimator, String> UNNAMED = Collections.synchronizedMap(new WeakHashMap<>());

    private final String name;
    private final TokenCountEstimator estimator;
    private final boolean remote;

    /** The time during which a remote estimator is not called, because it did not answer in time. */
    final RemoteTime.Pause pause = new RemoteTime.Pause();

    /** Whether the estimator has refused something. */
    private final AtomicBoolean failed = new AtomicBoolean();

    /** The tokens that the estimator adds to a list, or a negative number if it was not called yet. */
    private volatile int perList = -1;

    private TokenCounter(String name, TokenCountEstimator estimator, boolean remote) {
        this.name = Ids.check("name of the counter", name);
        this.estimator = InvalidInputException.given("estimator", estimator);
        this.remote = remote;
    }

    /**
     * The number of tokens of a message, and the counter that counted them.
     *
     * @param tokens the number of tokens, 0 or more
     * @param counter the counter's name
     */
    public record Count(int tokens, String counter) {}

    /**
     * Creates a counter from an estimator. A counter is returned unchanged, and an estimator of this library provides
     * its name. Any other estimator has no name for its way of counting. It gets a name that is valid only in this
     * process, so that no other estimator's count is taken for its own. A process that starts later counts the stored
     * messages again. {@link #named} avoids that.
     *
     * @param estimator the estimator
     * @return the counter
     */
    public static TokenCounter of(TokenCountEstimator estimator) {
        if (estimator instanceof TokenCounter counter) {
            return counter;
        }
        return estimator instanceof JtokkitTokenCountEstimator ours
                ? new TokenCounter(ours.name(), ours, false)
                : new TokenCounter(unnamed(InvalidInputException.given("estimator", estimator)), estimator, false);
    }

    /**
     * Creates the counter of a model, as {@link JtokkitTokenCountEstimator#forModel} does. It counts locally.
     *
     * @param modelName a name such as {@code gpt-4o-mini}
     * @return the counter
     * @throws InvalidInputException if the model's encoding is not known
     */
    public static TokenCounter forModel(String modelName) {
        return of(JtokkitTokenCountEstimator.forModel(modelName));
    }

    /**
     * Creates a counter from a local estimator and the name of its way of counting, such as the model or the encoding.
     *
     * @param name the name under which counts are stored; estimators that count differently need different names
     * @param estimator a fast, local estimator
     * @return the counter
     * @throws InvalidInputException if the name is empty or longer than 512 bytes
     */
    public static TokenCounter named(String name, TokenCountEstimator estimator) {
        return new TokenCounter(name, estimator, false);
    }

    /**
     * Creates a counter from an estimator that calls a server. It is never called when a message is appended:
     * {@link #standard()} counts then. It is called when a message is read that it has not counted, and the count is
     * kept in this process. If it fails, the count of {@link #standard()} times {@value #STAND_IN_FACTOR} is used.
     *
     * <p>It is called on threads of the executor of {@code Keepsake.Builder}, or on a new thread if there is none. A
     * read waits for it for at most one second, in all its calls. A call that has not ended then is interrupted, and
     * for 30 seconds it is not called again: it counts as failed.
     *
     * @param name the name of its way of counting, such as the model
     * @param estimator an estimator of any kind
     * @return the counter
     * @throws InvalidInputException if the name is empty or longer than 512 bytes
     */
    public static TokenCounter remote(String name, TokenCountEstimator estimator) {
        return new TokenCounter(name, estimator, true);
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
     * Returns whether the estimator calls a server.
     *
     * @return true for a {@linkplain #remote remote} counter
     */
    public boolean isRemote() {
        return remote;
    }

    /**
     * Returns the counter for messages that are appended.
     *
     * @return this counter, or {@link #standard()} if this one is remote
     */
    public TokenCounter forAppends() {
        return remote ? standard() : this;
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
        return count(message, RemoteTime.alone());
    }

    Count count(ChatMessage message, RemoteTime time) {
        return count(message.type(), one -> one.estimateTokenCountInMessage(message), time);
    }

    private Count count(Object what, ToIntFunction<TokenCountEstimator> counting, RemoteTime time) {
        try {
            return new Count(ask(time, () -> counting.applyAsInt(estimator)), name);
        } catch (RuntimeException e) {
            String why = e instanceof InvalidInputException
                    ? e.getMessage()
                    : e.getClass().getName();
            Object[] problem = {name, what, why, FALLBACK.name()};
            if (failed.getAndSet(true)) {
                LOG.debug(UNCOUNTED, problem);
            } else {
                LOG.warn(UNCOUNTED + ". This is logged once", problem);
            }
            return new Count(counting.applyAsInt(FALLBACK), FALLBACK.name());
        }
    }

    /**
     * Counts a text. If the estimator fails, this library's own estimator counts it, and the count carries the name of
     * that estimator.
     *
     * @param text the text
     * @return the count
     */
    public Count count(String text) {
        return count(text, RemoteTime.alone());
    }

    Count count(String text, RemoteTime time) {
        return count("TEXT", one -> one.estimateTokenCountInText(text), time);
    }

    /**
     * Returns the number of tokens that the estimator adds to a list of messages. The estimator is called once, or
     * until it answers in time. If it refuses an empty list, this library's own estimator replaces it.
     *
     * @return the number of tokens
     */
    public int tokensPerList() {
        return tokensPerList(RemoteTime.alone());
    }

    int tokensPerList(RemoteTime time) {
        if (perList < 0) {
            int standIn = STAND_IN_FACTOR * FALLBACK.estimateTokenCountInMessages(List.of());
            try {
                perList = ask(time, () -> estimator.estimateTokenCountInMessages(List.of()));
            } catch (RemoteTime.NoAnswerException e) {
                return standIn;
            } catch (RuntimeException e) {
                LOG.debug(
                        "{} cannot count an empty list ({})", name, e.getClass().getName());
                perList = standIn;
            }
        }
        return perList;
    }

    private int ask(RemoteTime time, IntSupplier call) {
        int tokens = remote ? time.ask(this, call) : call.getAsInt();
        if (tokens < 0) {
            throw new InvalidInputException("tokens", "must be 0 or more, are " + tokens);
        }
        return tokens;
    }

    @Override
    public int estimateTokenCountInText(String text) {
        return estimator.estimateTokenCountInText(text);
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        return estimator.estimateTokenCountInMessage(message);
    }

    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        return estimator.estimateTokenCountInMessages(messages);
    }

    /** Returns {@link #name()}. */
    @Override
    public String toString() {
        return name;
    }

    private static String unnamed(TokenCountEstimator estimator) {
        return UNNAMED.computeIfAbsent(estimator, added -> added.getClass().getName() + "@" + Ids.next());
    }
}
