package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.LocalDate;
import java.util.Objects;

/**
 * The tokens that one memory's answers used on one day.
 *
 * @param key the memory
 * @param day the day in UTC
 * @param usage the sum over the answers of that day
 */
public record DailyUsage(MemoryKey key, LocalDate day, Usage usage) {

    /** Checks the components. */
    public DailyUsage {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(day, "day");
        Objects.requireNonNull(usage, "usage");
    }
}
