package io.github.keepsake4j.context;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

/**
 * Strategies that are combined, and the properties that they promise, stated independently of their code.
 *
 * @param parts the strategies
 * @param bounds the limits
 * @param pinnedFirst how many of the first messages are pinned
 * @param pinned which messages' turns are pinned
 * @param keptResults how many of the newest tool results are not cleared; {@link Integer#MAX_VALUE} if nothing is
 *     cleared
 * @param clearedTogether how many tokens results must have together to be cleared; 0 for no minimum
 * @param wanted which user messages' turns the custom strategy includes
 */
record Promise(
        List<ContextStrategy> parts,
        List<Most> bounds,
        int pinnedFirst,
        Predicate<LoggedMessage> pinned,
        int keptResults,
        int clearedTogether,
        Predicate<LoggedMessage> wanted) {

    /** The unit of a limit. */
    enum Unit {
        MESSAGES,
        TURNS,
        TOKENS
    }

    /** A limit, and the step in which it moves, or 0. */
    record Most(Unit unit, int limit, int step) {}

    static Promise window(Unit unit, int limit, int step) {
        SlidingWindow window =
                unit == Unit.TURNS ? SlidingWindow.withMaxTurns(limit) : SlidingWindow.withMaxMessages(limit);
        return limited(step == 0 ? window : window.step(step), new Most(unit, limit, step));
    }

    static Promise tokens(int limit, int step, TokenCountEstimator estimator) {
        TokenLimit tokens = TokenLimit.withMaxTokens(limit, estimator);
        return limited(step == 0 ? tokens : tokens.step(step), new Most(Unit.TOKENS, limit, step));
    }

    /** Summarization of a branch that has no summary yet: a limit of twice its trigger. */
    static Promise summarized(Unit unit, int trigger, TokenCountEstimator estimator) {
        Summarization summaries =
                unit == Unit.TOKENS ? Summarization.triggerTokens(trigger) : Summarization.triggerMessages(trigger);
        return limited(summaries.countedBy(estimator), new Most(unit, 2 * trigger, 0));
    }

    static Promise pinnedFirst(int messages) {
        return new Promise(
                List.of(Pinned.firstMessages(messages)),
                List.of(),
                messages,
                m -> false,
                Integer.MAX_VALUE,
                0,
                m -> true);
    }

    static Promise pinned(Predicate<LoggedMessage> pinned) {
        return new Promise(List.of(Pinned.messages(pinned)), List.of(), 0, pinned, Integer.MAX_VALUE, 0, m -> true);
    }

    static Promise cleared(int keepNewest, int atLeast) {
        ClearToolResults clear = ClearToolResults.keepNewest(keepNewest);
        return new Promise(
                List.of(atLeast == 0 ? clear : clear.atLeast(atLeast)),
                List.of(),
                0,
                m -> false,
                keepNewest,
                atLeast,
                m -> true);
    }

    static Promise wanted(Predicate<LoggedMessage> users) {
        ContextStrategy own = context -> context.keepTurns(turn -> users.test(turn.user()));
        return new Promise(List.of(own), List.of(), 0, m -> false, Integer.MAX_VALUE, 0, users);
    }

    private static Promise limited(ContextStrategy part, Most most) {
        return new Promise(List.of(part), List.of(most), 0, m -> false, Integer.MAX_VALUE, 0, m -> true);
    }

    /** Combines two promises. At most one of them may clear tool results. */
    Promise and(Promise other) {
        return new Promise(
                both(parts, other.parts),
                both(bounds, other.bounds),
                Math.max(pinnedFirst, other.pinnedFirst),
                pinned.or(other.pinned),
                Math.min(keptResults, other.keptResults),
                Math.max(clearedTogether, other.clearedTogether),
                wanted.and(other.wanted));
    }

    ContextStrategy strategy() {
        return parts.stream().reduce(ContextStrategy::and).orElseThrow();
    }

    /** Returns the same strategies, combined in another order. */
    ContextStrategy otherwise(Random random) {
        List<ContextStrategy> left = new ArrayList<>(parts);
        Collections.shuffle(left, random);
        while (left.size() > 1) {
            int at = random.nextInt(left.size() - 1);
            left.set(at, left.get(at).and(left.remove(at + 1)));
        }
        return left.get(0);
    }

    boolean clears() {
        return keptResults < Integer.MAX_VALUE;
    }

    private static <T> List<T> both(List<T> some, List<T> others) {
        List<T> both = new ArrayList<>(some);
        both.addAll(others);
        return List.copyOf(both);
    }

    @Override
    public String toString() {
        return bounds + (pinnedFirst > 0 ? " first " + pinnedFirst + " pinned" : "")
                + (clears() ? " cleared but " + keptResults + " at least " + clearedTogether : "")
                + ", " + parts.size() + " parts";
    }
}
