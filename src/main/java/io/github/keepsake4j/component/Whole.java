package io.github.keepsake4j.component;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Reach;
import java.util.List;
import java.util.Optional;

/**
 * Shows the messages that no summary covers, and requests a summary as soon as a turn is complete. Used only if a
 * caller requests a summary.
 *
 * @param messages the number of newest messages that are read
 */
record Whole(int messages) implements ContextStrategy {

    /** Reads only as much as is needed to find the summary in force. */
    static final Whole ONLY_SUMMARY = new Whole(1);

    /** Older messages that no summary covers are read in pieces, as they are summarized. */
    static final Whole TO_SUMMARIZE = new Whole(200);

    @Override
    public Context select(Context context) {
        return context;
    }

    @Override
    public Optional<String> foldUpTo(Context selected) {
        List<String> ends = selected.ends();
        return ends.isEmpty() ? Optional.empty() : Optional.of(ends.get(ends.size() - 1));
    }

    @Override
    public boolean summarizes() {
        return true;
    }

    @Override
    public Reach reach(Object memoryId) {
        return new Reach(messages, Integer.MAX_VALUE, Long.MAX_VALUE, 0, true);
    }
}
