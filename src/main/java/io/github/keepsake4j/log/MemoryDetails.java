package io.github.keepsake4j.log;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a memory other than its messages, as far as they were requested. A part that was not requested is empty.
 *
 * @param info its entry in a list, or null if it was never written or was erased
 * @param branches the ids of the newest messages of its named branches, by name
 * @param views its views, in order of their anchors; on each branch, the newest of them is in force
 * @param summaries all its summaries, in the order in which they were stored
 */
public record MemoryDetails(
        @Nullable MemoryInfo info, Map<String, String> branches, List<View> views, List<Summary> summaries) {

    /** The parts of the details. */
    public enum Part {
        /** {@link #info()}. */
        INFO,
        /** {@link #branches()}. */
        BRANCHES,
        /** {@link #views()}. */
        VIEWS,
        /** {@link #summaries()}. */
        SUMMARIES
    }

    /** The details of a memory that was never written. */
    public static final MemoryDetails NONE = new MemoryDetails(null, Map.of(), List.of(), List.of());

    /** Copies the components. */
    public MemoryDetails {
        branches = Map.copyOf(branches);
        views = List.copyOf(views);
        summaries = List.copyOf(summaries);
    }
}
