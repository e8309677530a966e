package io.github.keepsake4j.context;

import java.util.List;

/** A strategy with a limit. All limits of a combination decide before any of them counts, by {@link Passing}. */
abstract class Limiting implements ContextStrategy {

    /** Returns the limit that holds in a context. */
    abstract Limit limit(Context context);

    /** Brings what is shown before the turns into the form that limits count. Default: the form that it has. */
    Context place(Context context) {
        return context;
    }

    @Override
    public Context mark(Context context) {
        return Passing.mark(context, List.of(this));
    }

    @Override
    public long shownFrom(Context context) {
        return limit(context).shownFrom(context);
    }
}
