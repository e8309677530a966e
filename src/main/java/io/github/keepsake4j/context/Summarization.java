package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Shows a summary in place of old turns. It places the summary and says when one is due; a {@code Summarizer} makes it in
 * the background, and until it is there the turns that it will cover stay in view, up to twice the trigger. Combined with
 * another limit, a summary is also due when that limit cuts off what no summary covers.
 *
 * <p>Trigger and keep are two numbers, so that a summary is not made for every turn: when what no summary covers has more
 * than the trigger, all but the newest turns within {@code keep} are folded into the summary. Immutable.
 */
public final class Summarization implements ContextStrategy {

    /** What a summary begins with, so that a model, and a reader of a prompt, knows what it is. */
    public static final String MARKER = "[Summary of the earlier conversation]\n";

    /** The attribute that marks a user message as a summary; its value is the id of the message that it covers up to. */
    public static final String ATTRIBUTE = "keepsake.summary";

    /** What the marker, and a message around it, take at most. */
    private static final int MARKER_TOKENS = 16;

    /** Who a summary seems to come from. */
    public enum Role {
        /** A user message, which every provider takes. */
        USER,
        /** A second system message. */
        SYSTEM
    }

    private final boolean byTokens;
    private final int trigger;
    private final int keep;
    private final TokenCounter counter;
    private final Role role;

    private Summarization(boolean byTokens, int trigger, int keep, TokenCounter counter, Role role) {
        this.byTokens = byTokens;
        this.trigger = trigger;
        this.keep = keep;
        this.counter = counter;
        this.role = role;
    }

    /**
     * Makes a summary due by tokens; a quarter of them is kept unless said otherwise.
     *
     * @param tokens a summary is due when what none covers has more tokens, 2 or more
     * @return the strategy
     * @throws InvalidInputException if the number is less than 2
     */
    public static Summarization triggerTokens(int tokens) {
        return new Summarization(
                true, checkTrigger(tokens), Math.max(1, tokens / 4), TokenCounter.standard(), Role.USER);
    }

    /**
     * Makes a summary due by messages; two fifths of them are kept unless said otherwise.
     *
     * @param messages a summary is due when there are more that none covers, 2 or more
     * @return the strategy
     * @throws InvalidInputException if the number is less than 2
     */
    public static Summarization triggerMessages(int messages) {
        return new Summarization(
                false, checkTrigger(messages), Math.max(1, messages * 2 / 5), TokenCounter.standard(), Role.USER);
    }

    /**
     * Sets what stays out of the summary.
     *
     * @param tokens the newest turns with so many tokens together stay, 1 or more and less than the trigger
     * @return a copy
     * @throws InvalidInputException if the trigger is in messages, or the number is out of its range
     */
    public Summarization keepTokens(int tokens) {
        return keeping("keepTokens", tokens, byTokens);
    }

    /**
     * Sets what stays out of the summary.
     *
     * @param messages the newest turns with so many messages together stay, 1 or more and less than the trigger
     * @return a copy
     * @throws InvalidInputException if the trigger is in tokens, or the number is out of its range
     */
    public Summarization keepMessages(int messages) {
        return keeping("keepMessages", messages, !byTokens);
    }

    /**
     * Sets what counts tokens; {@link TokenCounter#standard()} unless said otherwise.
     *
     * @param estimator the estimator
     * @return a copy
     */
    public Summarization countedBy(TokenCountEstimator estimator) {
        return new Summarization(byTokens, trigger, keep, TokenCounter.of(estimator), role);
    }

    /**
     * Sets who a summary seems to come from; a user unless said otherwise.
     *
     * @param summaryRole the role
     * @return a copy
     */
    public Summarization shownAs(Role summaryRole) {
        return new Summarization(byTokens, trigger, keep, counter, Objects.requireNonNull(summaryRole, "summaryRole"));
    }

    /**
     * Tells whether a message is a summary that was shown, so that it is not stored when a framework writes it back.
     *
     * @param message any message
     * @return whether it is marked as one
     */
    public static boolean isSummary(ChatMessage message) {
        return message instanceof UserMessage user
                ? user.attributes().containsKey(ATTRIBUTE)
                : message instanceof SystemMessage system && system.text().startsWith(MARKER);
    }

    @Override
    public Context mark(Context context) {
        LoggedMessage summary = context.summary();
        if (summary == null || isSummary(summary.message())) {
            return context;
        }
        String text = MARKER + ((UserMessage) summary.message()).singleText();
        ChatMessage shown = role == Role.SYSTEM
                ? SystemMessage.from(text)
                : UserMessage.builder()
                        .addContent(TextContent.from(text))
                        .attributes(Map.of(ATTRIBUTE, summary.id()))
                        .build();
        return context.summarizedBy(new LoggedMessage(
                summary.id(),
                null,
                0,
                shown,
                summary.tokens() + MARKER_TOKENS,
                summary.tokenCounter(),
                summary.createdAt()));
    }

    @Override
    public Context select(Context context) {
        Context marked = mark(context);
        long beside = marked.beside().stream().mapToLong(this::size).sum();
        return new Limit((turn, message) -> size(message), 2L * trigger, 0, reason())
                .apply(marked, byTokens ? counter.tokensPerList() + beside : beside);
    }

    @Override
    public Reach reach(Object memoryId) {
        long most = 2L * trigger;
        return byTokens
                ? new Reach(Integer.MAX_VALUE, Integer.MAX_VALUE, most, 0, true)
                : new Reach((int) Math.min(most, Integer.MAX_VALUE), Integer.MAX_VALUE, Long.MAX_VALUE, 0, true);
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return byTokens ? Optional.of(counter) : Optional.empty();
    }

    @Override
    public Optional<String> foldUpTo(Context selected) {
        return new Fold(this::size, trigger, keep).upTo(selected);
    }

    @Override
    public boolean summarizes() {
        return true;
    }

    private long size(LoggedMessage message) {
        return byTokens ? TokenLimit.tokens(message, counter) : 1;
    }

    private Reason reason() {
        return byTokens ? Reason.TOKEN_LIMIT : Reason.MESSAGE_LIMIT;
    }

    private Summarization keeping(String name, int number, boolean sameUnit) {
        if (!sameUnit || number < 1 || number >= trigger) {
            throw new InvalidInputException(
                    name,
                    sameUnit
                            ? "must be 1 or more and less than the trigger of " + trigger + ", is " + number
                            : "must be in the unit of the trigger");
        }
        return new Summarization(byTokens, trigger, number, counter, role);
    }

    private static int checkTrigger(int number) {
        if (number < 2) {
            throw new InvalidInputException("trigger", "must be 2 or more, is " + number);
        }
        return number;
    }
}
