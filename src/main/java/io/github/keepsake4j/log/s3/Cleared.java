package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.log.View;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much of a memory a plain reader must not see any more: everything up to where the memory was cleared, unless
 * something of it is shown again (by a view, or because the head went back).
 */
final class Cleared {

    private final State state;
    private final Map<String, Entry> byId = new HashMap<>();

    private Cleared(State state) {
        this.state = state;
    }

    /** How many of the first messages that are. */
    static int messages(State state) {
        long cleared = state.views().stream()
                .filter(view -> view.runs().isEmpty() && view.summary() == null)
                .mapToLong(View::anchorSequence)
                .max()
                .orElse(0);
        return cleared == 0 ? 0 : (int) Math.min(cleared, new Cleared(state).oldestShown() - 1);
    }

    private long oldestShown() {
        state.entries().forEach(entry -> byId.put(entry.id(), entry));
        Map<String, View> views = new HashMap<>();
        state.views().forEach(view -> views.put(view.anchor(), view));
        long oldest = Long.MAX_VALUE;
        for (Entry at = entry(state.head()); at != null; at = parent(at)) {
            View inForce = views.get(at.id());
            if (inForce != null) {
                return Math.min(oldest, oldestOf(inForce.runs()));
            }
            oldest = at.sequence();
        }
        return oldest;
    }

    private long oldestOf(List<View.Run> runs) {
        long oldest = Long.MAX_VALUE;
        for (View.Run run : runs) {
            for (Entry at = entry(run.last()); at != null && !at.id().equals(run.after()); at = parent(at)) {
                oldest = Math.min(oldest, at.sequence());
            }
        }
        return oldest;
    }

    /** A parent that comes later in a document is none: nothing may lead round in a circle. */
    private @Nullable Entry parent(Entry entry) {
        Entry parent = entry(entry.parentId());
        return parent != null && parent.sequence() < entry.sequence() ? parent : null;
    }

    private @Nullable Entry entry(@Nullable String id) {
        return id == null ? null : byId.get(id);
    }
}
