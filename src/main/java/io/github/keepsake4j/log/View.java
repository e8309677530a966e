package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a caller chose to show, if they are not simply the branch. A view shows runs of messages, and then
 * every message that is appended after the anchor. It applies to every branch with its anchor. The newest view on a
 * branch is in force.
 *
 * @param anchor the id of the message that was the head when the view was set. In a new view, null means the head after
 * the append that sets it
 * @param anchorSequence the anchor's sequence in the store; ignored in a view to set
 * @param runs the messages that the view shows, in its order, before those that follow the anchor
 * @param summary the id of the last message covered by the summary before the runs, or null for no summary. A newer
 *     summary of messages that follow the anchor replaces this summary and the runs
 */
public record View(@Nullable String anchor, long anchorSequence, List<Run> runs, @Nullable String summary) {

    /**
     * Means, in a run of a new view, the head before the append that sets it. With it, a view can be set without
     * knowing which messages other writers append in the meantime. The store replaces it with the head's id.
     */
    public static final String HEAD = Ids.BEFORE_IN_TIME;

    /** Copies the runs. */
    public View {
        runs = List.copyOf(runs);
    }

    /**
     * Creates a view to set.
     *
     * @param anchor the id of the message after which all messages are shown, or null for the head after the append
     * @param runs the messages that are shown before those
     * @return the view
     */
    public static View of(@Nullable String anchor, List<Run> runs) {
        return new View(anchor, 0, runs, null);
    }

    /**
     * Puts a summary before the runs.
     *
     * @param coversUpTo the id of the message that the summary covers up to, or null for none
     * @return a copy
     */
    public View behindSummary(@Nullable String coversUpTo) {
        return new View(anchor, anchorSequence, runs, coversUpTo);
    }

    /**
     * Returns whether only the messages that follow the anchor are shown, as after a memory was cleared.
     *
     * @return whether there are neither runs nor a summary
     */
    public boolean showsNothing() {
        return runs.isEmpty() && summary == null;
    }

    /**
     * Replaces {@link #HEAD} with the id of a head.
     *
     * @param head the head's id when the step began, or null if there was none
     * @return a view whose runs name messages only. Empty runs are left out, and a run that directly follows another is
     *     joined with it
     */
    public View resolved(@Nullable String head) {
        List<Run> named = new ArrayList<>(runs.size());
        for (Run run : runs) {
            String after = HEAD.equals(run.after()) ? head : run.after();
            String last = HEAD.equals(run.last()) ? head : run.last();
            if (last == null || last.equals(after)) {
                continue;
            }
            int newest = named.size() - 1;
            if (newest >= 0 && named.get(newest).last().equals(after)) {
                named.set(newest, new Run(named.get(newest).after(), last));
            } else {
                named.add(new Run(after, last));
            }
        }
        return new View(anchor, anchorSequence, named, summary);
    }

    /**
     * Returns the messages that must be in the memory when the view is set.
     *
     * @return the ids that the runs and the summary name, without {@link #HEAD}
     */
    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Run run : runs) {
            if (run.after() != null) {
                names.add(run.after());
            }
            names.add(run.last());
        }
        if (summary != null) {
            names.add(summary);
        }
        names.remove(HEAD);
        return names;
    }

    /**
     * A part of a branch.
     *
     * @param after the id of the message behind which the run starts, or null if it starts at the root
     * @param last the id of the run's newest message
     */
    public record Run(@Nullable String after, String last) {
        /** Checks the components. */
        public Run {
            Objects.requireNonNull(last, "last");
        }
    }
}
