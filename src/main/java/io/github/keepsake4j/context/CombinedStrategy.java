package io.github.keepsake4j.context;

import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Optional;

/** Two strategies, one after the other. */
record CombinedStrategy(ContextStrategy first, ContextStrategy second) implements ContextStrategy {

    @Override
    public Context select(Context context) {
        return second.select(first.select(context));
    }

    @Override
    public Reach reach() {
        return first.reach().and(second.reach());
    }

    @Override
    public Optional<TokenCounter> tokenCounter() {
        return first.tokenCounter().or(second::tokenCounter);
    }
}
