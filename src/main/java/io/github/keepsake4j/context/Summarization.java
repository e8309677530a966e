package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Map;
import java.util.Optional;

/**
 * Shows a summary in place of old turns. This strategy places the summary and decides when one is due. A
 * {@code Summarizer} writes it in the background. Until the summary is available, the turns that it will cover stay in
 * view, up to twice the trigger. In combination with another limit, a summary is also due when that limit removes
 * messages that no summary covers.
 *
 * <p>Trigger and keep are two numbers, so that a summary is not created in every turn. When the messages that no
 * summary covers exceed the trigger, all but the newest turns within {@code keep} are folded into the summary.
 *
 * <p>A finished turn that alone exceeds twice the trigger is skipped, so that the turns before it stay in view. Its
 * user message and last answer are shown if together they fit half the trigger. Its summary is due at once.
 * Immutable.
 */
public final class Summarization extends LimitStrategy {

    /** The text at the start of every summary, which identifies it for a model and for a reader of a prompt. */
    public static final String MARKER = "[Summary of the earlier conversation]\n";

    /**
     * The attribute that marks a user message as a summary. Its value is the id of the last message that the summary
     * covers.
     */
    public static final String ATTRIBUTE = "keepsake.summary";

    /** The maximum number of tokens of the marker and of the message around it. */
    private static final int MARKER_TOKENS = 16;

    /** The message types in which a summary can be shown. */
    public enum Role {
        /**
         * A user message. Large providers accept it before a question; some models' chat templates refuse two user messages
         * in a row ({@code AlternatingRoles} joins them).
         */
        USER,
        /** A second system message. */
        SYSTEM
    }

    private final boolean byTokens;
    private final int trigger;
    private final int keep;
    private final TokenCounter counter;
    private final Role role;
    private final ToolResultShares shares;

    private Summarization(
            boolean byTokens, int trigger, int keep, TokenCounter counter, Role role, ToolResultShares shares) {
        this.byTokens = byTokens;
        this.trigger = trigger;
        this.keep = keep;
        this.counter = counter;
        this.role = role;
        this.shares = shares;
    }

    /**
     * Makes a summary due by tokens. By default, a quarter of these tokens is kept.
     *
     * @param tokens the trigger: a summary is due when the messages that no summary covers have more tokens than this,
     *     2 or more
     * @return the strategy
     * @throws InvalidInputException if the number is less than 2
     */
    public static Summarization triggerTokens(int tokens) {
        return of(true, tokens, tokens / 4);
    }

    /**
     * Makes a summary due by messages. By default, two fifths of these messages are kept.
     *
     * @param messages the trigger: a summary is due when more messages than this are not covered by a summary, 2 or
     *     more
     * @return the strategy
     * @throws InvalidInputException if the number is less than 2
     */
    public static Summarization triggerMessages(int messages) {
        return of(false, messages, messages * 2 / 5);
    }

    private static Summarization of(boolean byTokens, int trigger, int keep) {
        InvalidInputException.checkAtLeast("trigger", 2, trigger);
        return new Summarization(
                byTokens, trigger, Math.max(1, keep), TokenCounter.standard(), Role.USER, ToolResultShares.STANDARD);
    }

    /**
     * Sets the number of tokens that stay out of the summary. Default: a quarter of the trigger.
     *
     * @param tokens the size of the newest turns that stay, 1 or more and less than the trigger
     * @return a copy
     * @throws InvalidInputException if the trigger is in messages, or the number is out of range
     */
    public Summarization keepTokens(int tokens) {
        return keeping("keepTokens", tokens, byTokens);
    }

    /**
     * Sets the number of messages that stay out of the summary. Default: two fifths of the trigger.
     *
     * @param messages the number of messages of the newest turns that stay, 1 or more and less than the trigger
     * @return a copy
     * @throws InvalidInputException if the trigger is in tokens, or the number is out of range
     */
    public Summarization keepMessages(int messages) {
        return keeping("keepMessages", messages, !byTokens);
    }

    /**
     * Sets the estimator that counts tokens. Default: {@link TokenCounter#standard()}.
     *
     * @param estimator the estimator
     * @return a copy
     */
    public Summarization countedBy(TokenCountEstimator estimator) {
        return new Summarization(byTokens, trigger, keep, TokenCounter.of(estimator), role, shares);
    }

    /**
     * Sets the message type in which a summary is shown. Default: {@link Role#USER}.
     *
     * @param summaryRole the role
     * @return a copy
     */
    public Summarization shownAs(Role summaryRole) {
        return new Summarization(
                byTokens, trigger, keep, counter, InvalidInputException.given("summaryRole", summaryRole), shares);
    }

    /**
     * Sets the share of a tool result, if the trigger is in tokens. A result that exceeds it is shown shortened, as
     * {@link TokenLimit} does. Default: half the trigger, which is a quarter of the most that is shown.
     *
     * @param tokens the maximum number of tokens of one result, 1 or more
     * @return a copy
     * @throws InvalidInputException if the trigger is in messages, or the number is less than 1
     */
    public Summarization maxToolResultTokens(int tokens) {
        checkUnit("maxToolResultTokens", byTokens);
        return new Summarization(byTokens, trigger, keep, counter, role, shares.with(tokens));
    }

    /**
     * Returns whether a message is a summary that was shown. Such a message is not stored when a framework writes it
     * back.
     *
     * @param message any message
     * @return whether the message is marked as a summary
     */
    public static boolean isSummary(ChatMessage message) {
        return message instanceof UserMessage user
                ? user.attributes().containsKey(ATTRIBUTE)
                : message instanceof SystemMessage system && system.text().startsWith(MARKER);
    }

    /** Places the summary, in the role in which it is shown. */
    @Override
    Context place(Context context) {
        LoggedMessage summary = context.summary();
        return summary == null ? context : context.summarizedBy(asShown(summary, role));
    }

    @Override
    Limit limit(Context context) {
        if (byTokens) {
            return weights(context).limit(0);
        }
        int fixed = context.opening().messages().size();
        return new Limit((turn, message) -> 1, 2L * trigger, fixed, 0, Omission.Reason.MESSAGE_LIMIT, Map.of());
    }

    @Override
    public ReadBounds bounds(Object memoryId) {
        long most = 2L * trigger;
        return byTokens
                ? new ReadBounds(Integer.MAX_VALUE, Integer.MAX_VALUE, most, 0, true)
                : new ReadBounds((int) Math.min(most, Integer.MAX_VALUE), Integer.MAX_VALUE, Long.MAX_VALUE, 0, true);
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return byTokens ? Optional.of(counter) : Optional.empty();
    }

    @Override
    public Optional<String> foldUpTo(Context selected) {
        return new Fold(byTokens ? weights(selected)::of : message -> 1, trigger, keep).upTo(selected);
    }

    @Override
    public boolean summarizes() {
        return true;
    }

    /** Returns a summary in the form in which it is shown. The role makes no difference to its size. */
    private static LoggedMessage asShown(LoggedMessage summary, Role role) {
        if (isSummary(summary.message())) {
            return summary;
        }
        String text = MARKER + ((UserMessage) summary.message()).singleText();
        ChatMessage shown =
                role == Role.SYSTEM ? SystemMessage.from(text) : Remembered.marked(text, ATTRIBUTE, summary.id());
        return new LoggedMessage(
                summary.id(),
                null,
                0,
                shown,
                summary.tokens() + MARKER_TOKENS,
                summary.tokenCounter(),
                summary.createdAt());
    }

    private TokenWeights weights(Context context) {
        return new TokenWeights(context, counter, 2L * trigger, shares);
    }

    private Summarization keeping(String name, int number, boolean sameUnit) {
        checkUnit(name, sameUnit);
        if (number < 1 || number >= trigger) {
            throw new InvalidInputException(
                    name, "must be 1 or more and less than the trigger of " + trigger + ", is " + number);
        }
        return new Summarization(byTokens, trigger, number, counter, role, shares);
    }

    private static void checkUnit(String name, boolean sameUnit) {
        if (!sameUnit) {
            throw new InvalidInputException(name, "needs a trigger in the same unit");
        }
    }
}
