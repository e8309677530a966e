package io.github.keepsake4j.context;

import io.github.keepsake4j.tokens.TokenCounter;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** A combination of two strategies. Both set their marks before either of them limits the context. */
record CombinedStrategy(ContextStrategy first, ContextStrategy second) implements ContextStrategy {

    CombinedStrategy {
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(second, "second");
    }

    @Override
    public Context select(Context context) {
        return second.select(first.select(mark(context)));
    }

    @Override
    public Context mark(Context context) {
        return second.mark(first.mark(context));
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
    public Reach reach(Object memoryId) {
        return first.reach(memoryId).and(second.reach(memoryId));
    }

    @Override
    public long shownFrom(Context context) {
        return Math.max(first.shownFrom(context), second.shownFrom(context));
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
