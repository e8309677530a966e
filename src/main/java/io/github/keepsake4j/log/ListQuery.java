package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A query for one page of a tenant's memories. Created by {@link #first(int)}.
 *
 * @param limit the maximum number of memories, 1 to 1,000
 * @param cursor where the page starts, as returned by {@link MemoryPage#next()}, or null for the first page
 * @param activeFirst whether the memories are listed by their last activity; see {@link #byActivity()}
 * @param usage the days of which the usage is read, or null; see {@link #withUsage}
 * @param metadata the metadata that the memories have, or null; see {@link #withMetadata}
 */
public record ListQuery(
        int limit, @Nullable String cursor, boolean activeFirst, @Nullable Days usage, @Nullable Metadata metadata) {

    /**
     * An entry of metadata.
     *
     * @param name the name
     * @param value the text
     */
    public record Metadata(String name, String value) {

        /** Checks that both are given. */
        public Metadata {
            InvalidInputException.given("name", name);
            InvalidInputException.given("value", value);
        }
    }

    /**
     * Some days in UTC.
     *
     * @param from the first day
     * @param toExclusive the day after the last day
     */
    public record Days(LocalDate from, LocalDate toExclusive) {

        /**
         * Checks the order.
         *
         * @throws InvalidInputException if the days are in the wrong order
         */
        public Days {
            if (toExclusive.isBefore(from)) {
                throw new InvalidInputException("toExclusive", "must not be before " + from + ", is " + toExclusive);
            }
        }
    }

    static final int MAX_LIMIT = 1_000;

    /** Checks the components. */
    public ListQuery {
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
    }

    /**
     * Creates a query for a page in order of creation.
     *
     * @param limit the maximum number of memories, 1 to 1,000
     * @param cursor where the page starts, or null for the first page
     * @throws InvalidInputException if the limit is out of range
     */
    public ListQuery(int limit, @Nullable String cursor) {
        this(limit, cursor, false, null, null);
    }

    /**
     * Creates a query for the first page, in order of creation.
     *
     * @param limit the maximum number of memories, 1 to 1,000
     * @return the query
     * @throws InvalidInputException if the limit is out of range
     */
    public static ListQuery first(int limit) {
        return new ListQuery(limit, null);
    }

    /**
     * Lists the memories by their last activity, the most recent first. The activity of a memory is the time of its
     * newest message, or its creation if it has none. An append moves its memory to the front. A database moves a memory
     * at most once in each minute. Within each minute, a page is ordered by the newest messages, so only a page that
     * ends within a minute may leave a memory of this minute to the next page. {@link MessageLog#list} describes the
     * effect of concurrent writes.
     *
     * @return a copy
     */
    public ListQuery byActivity() {
        return new ListQuery(limit, cursor, true, usage, metadata);
    }

    /**
     * Lists only the memories whose answers used tokens in some days, with {@linkplain MemoryPage#usage() their sums}.
     *
     * @param from the first day, in UTC
     * @param toExclusive the day after the last day
     * @return a copy
     * @throws InvalidInputException if the days are in the wrong order
     */
    public ListQuery withUsage(LocalDate from, LocalDate toExclusive) {
        return new ListQuery(limit, cursor, activeFirst, new Days(from, toExclusive), metadata);
    }

    /**
     * Lists only the memories whose metadata have a text by a name. The name must be declared to the log
     * ({@code listedMetadata}, at most three names). In PostgreSQL, SQLite and Redis, such a page costs as much as one
     * of all memories. In files and buckets, it reads the list until it is full.
     *
     * @param name the name, such as {@code user}
     * @param value the text
     * @return a copy
     */
    public ListQuery withMetadata(String name, String value) {
        return new ListQuery(limit, cursor, activeFirst, usage, new Metadata(name, value));
    }

    /**
     * Continues with another page of the same list.
     *
     * @param next where that page starts
     * @return a copy
     */
    public ListQuery startingAt(String next) {
        return new ListQuery(limit, next, activeFirst, usage, metadata);
    }

    /**
     * Returns whether a memory has the metadata that the query names.
     *
     * @param info the memory
     * @return true also if the query names none
     */
    public boolean matches(MemoryInfo info) {
        return metadata == null || metadata.value().equals(info.metadata().get(metadata.name()));
    }

    /**
     * Returns the memories of a page in the order that the query asks for. By activity, the stored order is changed
     * within each calendar minute.
     *
     * @param stored the memories in the order of the store, whose cursors stay valid
     * @return the memories, those of one minute by their activity, the most recent first
     */
    public List<MemoryInfo> ordered(List<MemoryInfo> stored) {
        if (!activeFirst) {
            return stored;
        }
        List<MemoryInfo> ordered = new ArrayList<>(stored);
        int begin = 0;
        for (int end = 1; end <= ordered.size(); end++) {
            if (end == ordered.size() || !minute(ordered.get(end)).equals(minute(ordered.get(begin)))) {
                ordered.subList(begin, end).sort(Comparator.comparing(MemoryInfo::activity, Comparator.reverseOrder()));
                begin = end;
            }
        }
        return ordered;
    }

    private static Instant minute(MemoryInfo info) {
        return info.activity().truncatedTo(ChronoUnit.MINUTES);
    }

    /**
     * Returns the cursor of a store whose cursors are numbers.
     *
     * @return the number, or the highest one for the first page
     * @throws InvalidInputException if the cursor is not a number
     */
    public long cursorAsNumber() {
        if (cursor == null) {
            return Long.MAX_VALUE;
        }
        try {
            return Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw new InvalidInputException(
                    "cursor", "was not returned by a page of this log; start with the first page");
        }
    }
}
