package io.github.keepsake4j.log;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a caller set, when that is not simply the branch: runs of messages, and then everything that is appended after
 * the anchor. A view holds on every branch through its anchor; the newest such one is in force.
 *
 * @param anchor the id of the message that was the head when the view was set; null when setting one, for the head at
 *     the end of the same step
 * @param anchorSequence the anchor's sequence as the store knows it; ignored when setting
 * @param runs the messages that the view shows, in its order, before what follows the anchor
 * @param cleared what the memory showed before it was cleared and has not been added again: an add that repeats the
 *     first of it links to the old message
 * @param summary the id of the message that the summary covers up to which stands before the runs, or null for none; a
 *     newer summary, of what follows the anchor, takes its place and that of the runs
 */
public record View(
        @Nullable String anchor, long anchorSequence, List<Run> runs, List<Run> cleared, @Nullable String summary) {

    /** Copies the parts. */
    public View {
        runs = List.copyOf(runs);
        cleared = List.copyOf(cleared);
    }

    /**
     * A view to set.
     *
     * @param anchor the message behind which everything is shown, or null for the head at the end of the same step
     * @param runs what is shown before that
     * @param cleared what an add may link to
     * @return the view
     */
    public static View of(@Nullable String anchor, List<Run> runs, List<Run> cleared) {
        return new View(anchor, 0, runs, cleared, null);
    }

    /**
     * Puts a summary before the runs.
     *
     * @param coversUpTo the id of the message that it covers up to, or null for none
     * @return a copy
     */
    public View behindSummary(@Nullable String coversUpTo) {
        return new View(anchor, anchorSequence, runs, cleared, coversUpTo);
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
