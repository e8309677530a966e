package io.github.keepsake4j.base;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks of inputs other than messages. Every store makes them before it touches stored data. Pure functions. */
public final class InputRules {

    /** The longest title, in UTF-16 units as {@link String#length()} counts them. */
    static final int MAX_TITLE_LENGTH = 1_000;

    private static final Instant EARLIEST = Instant.EPOCH.plus(Long.MIN_VALUE, ChronoUnit.MICROS);

    /** The latest time whose microseconds since 1970 fit in 64 bits. */
    public static final Instant LATEST = Instant.EPOCH.plus(Long.MAX_VALUE, ChronoUnit.MICROS);

    private InputRules() {}

    /**
     * Checks the values of {@link io.github.keepsake4j.log.Change.Describe}. A title may be stored plainly so that it
     * can be searched. Some stores would silently change some texts, so every store refuses these texts. Metadata
     * is stored encoded and may hold anything but nulls.
     *
     * @param title the title, or null for none
     * @param metadata texts by name, or null
     * @throws InvalidInputException if the title is too long or cannot be stored as it is, or the metadata contains
     * null
     */
    public static void checkDescription(@Nullable String title, @Nullable Map<String, @Nullable String> metadata) {
        if (title != null) {
            if (title.length() > MAX_TITLE_LENGTH) {
                throw new InvalidInputException(
                        "title", "is " + title.length() + " characters long; the limit is " + MAX_TITLE_LENGTH);
            }
            InvalidInputException.checkText("title", title);
        }
        // Callers without null checks may break the rule for names that the type declares.
        if (metadata != null && (metadata.containsKey(null) || metadata.containsValue(null))) {
            throw new InvalidInputException("metadata", "must not contain a null value or name");
        }
    }

    /**
     * Checks the arguments of {@link io.github.keepsake4j.log.Leases#acquireLease}.
     *
     * @param name the kind of work, an id as in {@link Ids#check}
     * @param owner the owner that requests the lease, an id as in {@link Ids#check}
     * @param duration how long; more than zero
     * @throws InvalidInputException if a rule is broken
     */
    public static void checkLease(String name, String owner, Duration duration) {
        Ids.check("lease name", name);
        Ids.check("lease owner", owner);
        InvalidInputException.checkPositive("lease duration", duration);
    }

    /**
     * Truncates a time to microseconds, as every store keeps it.
     *
     * @param field the caller's name for the time
     * @param time the time
     * @return the time without nanoseconds
     * @throws InvalidInputException if its microseconds since 1970 do not fit in 64 bits (about 292,000 years)
     */
    public static Instant time(String field, Instant time) {
        Instant truncated = time.truncatedTo(ChronoUnit.MICROS);
        if (truncated.isBefore(EARLIEST) || truncated.isAfter(LATEST)) {
            throw new InvalidInputException(
                    field, "must be within 292,000 years of 1970, so that microseconds fit in 64 bits; is " + time);
        }
        return truncated;
    }

    /**
     * Returns when a lease ends.
     *
     * @param now the store's time
     * @param duration how long the lease lasts
     * @return the end, in microseconds
     * @throws InvalidInputException if the end is later than {@link #time} accepts
     */
    public static Instant leaseEnd(Instant now, Duration duration) {
        Instant start = time("clock", now);
        if (duration.compareTo(Duration.between(start, LATEST)) > 0) {
            throw new InvalidInputException("lease duration", "must end within 292,000 years of 1970, is " + duration);
        }
        return start.plus(duration).truncatedTo(ChronoUnit.MICROS);
    }
}
