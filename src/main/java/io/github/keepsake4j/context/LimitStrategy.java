package io.github.keepsake4j.context;

import java.util.List;

/** A strategy with a limit. All limits of a combination decide before any of them counts, by {@link SkippedTurns}. */
abstract class LimitStrategy implements ContextStrategy {

    /** Returns the limit that holds in a context. */
    abstract Limit limit(Context context);

    /** Converts the messages before the turns to the form that limits count. Default: unchanged. */
    Context place(Context context) {
        return context;
    }

    @Override
    public Context select(Context context) {
        // Results are shortened only here: the space that pins leave is known when all strategies have set their marks.
        Context marked = mark(context);
        return limit(marked).apply(marked);
    }

    @Override
    public Context mark(Context context) {
        return SkippedTurns.mark(context, List.of(this));
    }

    @Override
    public long shownFrom(Context context) {
        return limit(context).shownFrom(context);
    }
}
