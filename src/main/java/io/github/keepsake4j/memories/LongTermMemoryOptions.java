package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.ZoneId;
import java.util.Objects;

/**
 * Which long-term memories a model is given.
 *
 * @param limit the largest number of memories, 1 to {@value #MAX_LIMIT}
 * @param minTrust the least trust that a memory must have
 * @param zone the time zone of dates
 */
public record LongTermMemoryOptions(int limit, Trust minTrust, ZoneId zone) {

    /** The largest number of memories. */
    public static final int MAX_LIMIT = 100;

    /**
     * Checks the components.
     *
     * @throws InvalidInputException if the limit is out of range
     */
    public LongTermMemoryOptions {
        InvalidInputException.checkRange("limit", 1, MAX_LIMIT, limit);
        Objects.requireNonNull(minTrust, "minTrust");
        Objects.requireNonNull(zone, "zone");
    }

    /**
     * Returns the standard options: 5 memories of texts of users and models, with dates in UTC. Memories of tool
     * results and retrieved texts are left out.
     *
     * @return the options
     */
    public static LongTermMemoryOptions standard() {
        return new LongTermMemoryOptions(FactQuery.DEFAULT_LIMIT, Trust.ASSISTANT, ZoneId.of("UTC"));
    }

    /**
     * Sets the largest number of memories.
     *
     * @param most from 1 to {@value #MAX_LIMIT}
     * @return a copy
     */
    public LongTermMemoryOptions withLimit(int most) {
        return new LongTermMemoryOptions(most, minTrust, zone);
    }

    /**
     * Sets the least trust.
     *
     * @param least the least trust that a memory must have; {@link Trust#RETRIEVED} for any
     * @return a copy
     */
    public LongTermMemoryOptions withMinTrust(Trust least) {
        return new LongTermMemoryOptions(limit, least, zone);
    }

    /**
     * Sets the time zone.
     *
     * @param other the time zone of dates
     * @return a copy
     */
    public LongTermMemoryOptions withZone(ZoneId other) {
        return new LongTermMemoryOptions(limit, minTrust, other);
    }
}
