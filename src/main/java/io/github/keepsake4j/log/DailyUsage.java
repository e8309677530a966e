package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens that one memory's answers used on one day.
 *
 * @param key the memory
 * @param day the day in UTC
 * @param usage the sum over the answers of that day
 */
public record DailyUsage(MemoryKey key, LocalDate day, Usage usage) {

    private static final Logger LOG = LoggerFactory.getLogger(DailyUsage.class);

    /** Checks the components. */
    public DailyUsage {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(day, "day");
        Objects.requireNonNull(usage, "usage");
    }

    /**
     * Reads how many tokens the answers of a tenant's memories used. A memory that cannot be read is left out.
     *
     * @param log the log
     * @param tenant the tenant's id
     * @param from the first day
     * @param toExclusive the day after the last day
     * @return one sum for each memory and day with usage, in order of days; in no particular order within a day
     * @throws InvalidInputException if the id breaks a rule, or the days are in the wrong order
     */
    public static List<DailyUsage> in(MessageLog log, String tenant, LocalDate from, LocalDate toExclusive) {
        List<DailyUsage> usage = new ArrayList<>();
        Optional<ListQuery> next =
                Optional.of(ListQuery.first(ListQuery.MAX_LIMIT).withUsage(from, toExclusive));
        while (next.isPresent()) {
            MemoryPage page = log.list(tenant, next.get());
            usage.addAll(page.usage());
            page.damaged()
                    .forEach(memory ->
                            LOG.warn("Memory {} cannot be read, so its tokens are not counted", memory.name()));
            next = page.next();
        }
        usage.sort(Comparator.comparing(DailyUsage::day));
        return List.copyOf(usage);
    }
}
