package io.github.keepsake4j.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of {@link MessageLog#repair}.
 *
 * @param damage the damage before the repair, as {@link MessageLog#check} returns it; empty if nothing was changed
 * @param previousHead the id that was stored as the head, or null if there was none
 * @param head the head's id now, or null if the memory has no message whose place is sound down to its root
 * @param droppedViews how many views were dropped because they cannot be read or name something that is missing
 * @param droppedSummaries how many summaries were dropped for the same reasons
 * @param droppedReferences how many named branches were dropped because their newest message is missing, or is not
 * sound down to its root; a new branch of that name begins at the head
 */
public record Repair(
        List<Damage> damage,
        @Nullable String previousHead,
        @Nullable String head,
        int droppedViews,
        int droppedSummaries,
        int droppedReferences) {

    /** Copies the list. */
    public Repair {
        damage = List.copyOf(damage);
    }
}
