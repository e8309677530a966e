package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a caller set, when that is not simply the branch: runs of messages, and then everything that is appended after
 * the anchor. A view holds on every branch through its anchor. The newest view on a branch is in force.
 *
 * @param anchor the id of the message that was the head when the view was set; null when setting one, for the head at
 *     the end of the same step
 * @param anchorSequence the anchor's sequence as the store knows it; ignored when setting
 * @param runs the messages that the view shows, in its order, before what follows the anchor
 * @param summary the id of the message that the summary before the runs covers up to, or null for no summary; a newer
 *     summary, of what follows the anchor, takes its place and that of the runs
 */
public record View(@Nullable String anchor, long anchorSequence, List<Run> runs, @Nullable String summary) {

    /**
     * In a run of a view that is set: the message that is the head when the step begins. So a view can be set without
     * knowing what others append meanwhile. The store puts the head's id in its place.
     */
    public static final String HEAD = Ids.BEFORE_IN_TIME;

    /** Copies the runs. */
    public View {
        runs = List.copyOf(runs);
    }

    /**
     * Makes a view to set.
     *
     * @param anchor the message behind which everything is shown, or null for the head at the end of the same step
     * @param runs what is shown before that
     * @return the view
     */
    public static View of(@Nullable String anchor, List<Run> runs) {
        return new View(anchor, 0, runs, null);
    }

    /**
     * Puts a summary before the runs.
     *
     * @param coversUpTo the id of the message that it covers up to, or null for none
     * @return a copy
     */
    public View behindSummary(@Nullable String coversUpTo) {
        return new View(anchor, anchorSequence, runs, coversUpTo);
    }

    /**
     * Returns whether nothing is shown but what follows the anchor, as after a memory was cleared.
     *
     * @return whether there are neither runs nor a summary
     */
    public boolean isEmpty() {
        return runs.isEmpty() && summary == null;
    }

    /**
     * Puts a head in the place of {@link #HEAD}.
     *
     * @param head the head's id when the step began, or null if there was none
     * @return a view whose runs name messages only; empty runs are left out, and one that follows another prolongs it
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
     * Returns the messages that must be there when the view is set.
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
        /** Checks the parts. */
        public Run {
            Objects.requireNonNull(last, "last");
        }
    }
}
