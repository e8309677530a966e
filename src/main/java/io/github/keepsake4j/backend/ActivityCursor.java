package io.github.keepsake4j.backend;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;

/**
 * The place of a memory in a list by activity, for stores that number their memories. Places are ordered from the least
 * to the most recent activity. The number orders memories of the same time.
 *
 * @param activeAt the time of the memory's last activity, in microseconds of UTC
 * @param number the memory's number, unique within the log
 */
public record ActivityCursor(Instant activeAt, long number) implements Comparable<ActivityCursor> {

    private static final ActivityCursor TOP = new ActivityCursor(InputRules.LATEST, Long.MAX_VALUE);

    private static final Comparator<ActivityCursor> ORDER =
            Comparator.comparing(ActivityCursor::activeAt).thenComparingLong(ActivityCursor::number);

    /**
     * Reads the cursor of a query.
     *
     * @param query a query by activity
     * @return the place before which its page starts, or the highest place for the first page
     * @throws InvalidInputException if the cursor was not returned by a page of this list
     */
    public static ActivityCursor of(ListQuery query) {
        String cursor = query.cursor();
        if (cursor == null) {
            return TOP;
        }
        String[] parts = cursor.split("/", -1);
        try {
            if (parts.length == 2) {
                return new ActivityCursor(InputRules.time("cursor", Instant.parse(parts[0])), Long.parseLong(parts[1]));
            }
        } catch (DateTimeException | NumberFormatException e) {
            // Refused below.
        }
        throw new InvalidInputException(
                "cursor", "was not returned by a page of this log's list by activity; start with the first page");
    }

    /**
     * Returns the cursor of the page that continues behind this place.
     *
     * @return the text that {@link #of} reads
     */
    public String cursor() {
        return activeAt + "/" + number;
    }

    @Override
    public int compareTo(ActivityCursor other) {
        return ORDER.compare(this, other);
    }
}
