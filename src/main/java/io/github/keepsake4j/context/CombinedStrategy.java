package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A combination of two strategies. Both set their marks before either of them limits the context. */
record CombinedStrategy(ContextStrategy first, ContextStrategy second) implements ContextStrategy {

    @Override
    public Context select(Context context) {
        Context selected = mark(context);
        List<ContextStrategy> all = flat(this).toList();
        Map<ContextStrategy, Long> from = new HashMap<>();
        if (bounds(context.memoryId()).oldest() != Integer.MAX_VALUE) {
            for (ContextStrategy strategy : all) {
                from.put(strategy, strategy.shownFrom(selected));
            }
            // Nothing before this place is shown, so nothing may depend on it, unless it is always read.
            selected = selected.unreadBefore(Collections.max(from.values()));
        }
        for (ContextStrategy strategy : limitsLast(all, from)) {
            selected = InvalidInputException.given("result of the strategy", strategy.select(selected));
        }
        return selected;
    }

    /**
     * Sorts the strategies. The limits come last, because they count what other strategies show in place of messages.
     * The strictest limit comes first, so that it is the reason for what it removes. The selection is the same.
     */
    private static List<ContextStrategy> limitsLast(List<ContextStrategy> all, Map<ContextStrategy, Long> from) {
        return all.stream()
                .sorted(Comparator.comparing(strategy ->
                        strategy instanceof LimitStrategy ? -from.getOrDefault(strategy, -1L) : Long.MIN_VALUE))
                .toList();
    }

    /** Sets the marks that a limit must know before it skips turns, and then marks with all limits together. */
    @Override
    public Context mark(Context context) {
        List<ContextStrategy> all = flat(this).toList();
        Context marked = context;
        for (ContextStrategy strategy : all) {
            marked = strategy instanceof LimitStrategy ? marked : strategy.mark(marked);
        }
        Stream<ContextStrategy> limits = all.stream().filter(LimitStrategy.class::isInstance);
        return SkippedTurns.mark(marked, limits.map(LimitStrategy.class::cast).toList());
    }

    private static Stream<ContextStrategy> flat(ContextStrategy strategy) {
        return strategy instanceof CombinedStrategy both
                ? Stream.concat(flat(both.first), flat(both.second))
                : Stream.of(strategy);
    }

    @Override
    public Optional<String> foldUpTo(Context selected) {
        return first.foldUpTo(selected).or(() -> second.foldUpTo(selected));
    }

    @Override
    public boolean summarizes() {
        return first.summarizes() || second.summarizes();
    }

    @Override
    public ReadBounds bounds(Object memoryId) {
        return first.bounds(memoryId).and(second.bounds(memoryId));
    }

    @Override
    public long shownFrom(Context context) {
        return Math.max(first.shownFrom(context), second.shownFrom(context));
    }

    @Override
    public ContextStrategy steps(double share) {
        ContextStrategy one = first.steps(share);
        ContextStrategy other = second.steps(share);
        return one == first && other == second ? this : new CombinedStrategy(one, other);
    }

    @Override
    public List<ContextStrategy> parts() {
        return Stream.of(first, second).flatMap(part -> part.parts().stream()).toList();
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return first.tokenCounter().or(second::tokenCounter);
    }
}
