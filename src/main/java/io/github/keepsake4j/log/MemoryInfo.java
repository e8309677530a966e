package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The entry of a memory in a list of memories.
 *
 * @param key the memory
 * @param title its title, or null
 * @param metadata short texts by name
 * @param messages the number of its messages on all branches
 * @param tokens the sum of their stored token counts
 * @param createdAt when it was created, in microseconds of UTC; if its first message was imported, the time of that
 *     message
 * @param lastMessageAt the latest time of its messages, in microseconds of UTC, or null if it has none
 * @param storedAt when this log first stored it, in microseconds of UTC; later than {@code createdAt} if it was imported
 */
public record MemoryInfo(
        MemoryKey key,
        @Nullable String title,
        Map<String, String> metadata,
        long messages,
        long tokens,
        Instant createdAt,
        @Nullable Instant lastMessageAt,
        Instant storedAt) {

    /** The name of the metadata with the time at which the memory expires, as {@link Instant#toString} writes it. */
    public static final String EXPIRE_AT = "keepsake.expire.at";

    /**
     * The name of the metadata with the period after the last use at which the memory expires, as {@link
     * Duration#toString} writes it. Longer than zero, at most 1,000 years.
     */
    public static final String EXPIRE_AFTER_USE = "keepsake.expire.after-use";

    /** Copies the components. */
    public MemoryInfo {
        metadata = Map.copyOf(metadata);
    }

    /** Returns the time by which lists by activity are ordered. */
    Instant activity() {
        return lastMessageAt == null ? createdAt : lastMessageAt;
    }

    /**
     * Returns when the memory was last used, according to its messages.
     *
     * @return the later of {@code lastMessageAt} and {@code storedAt}
     */
    public Instant lastUse() {
        return lastMessageAt != null && lastMessageAt.isAfter(storedAt) ? lastMessageAt : storedAt;
    }

    /**
     * Returns when the memory expires. It can be used until a {@code CleanUp} removes it.
     *
     * @return the earlier one of the times that its metadata {@link #EXPIRE_AT} and {@link #EXPIRE_AFTER_USE} name, or
     * null if it does not expire
     * @throws InvalidInputException if the metadata were stored without a check and break a rule of {@link Expiry}
     */
    public @Nullable Instant expiresAt() {
        Expiry expiry = Expiry.of(metadata);
        Instant unused = expiry.afterUse() == null ? null : lastUse().plus(expiry.afterUse());
        Instant at = expiry.at();
        return at == null || (unused != null && unused.isBefore(at)) ? unused : at;
    }

    /**
     * The conditions under which a memory expires.
     *
     * @param at the time, or null for none
     * @param afterUse the period after the last use, or null for none
     */
    public record Expiry(@Nullable Instant at, @Nullable Duration afterUse) {

        private static final Duration LONGEST = Duration.ofDays(365_000);

        /**
         * Reads the conditions from a memory's metadata.
         *
         * @param metadata short texts by name
         * @return the conditions
         * @throws InvalidInputException if a text is not a time or period, or the period is out of range
         */
        public static Expiry of(Map<String, ? extends @Nullable String> metadata) {
            String at = metadata.get(EXPIRE_AT);
            String afterUse = metadata.get(EXPIRE_AFTER_USE);
            return new Expiry(at == null ? null : time(at), afterUse == null ? null : period(afterUse));
        }

        private static Instant time(String text) {
            try {
                return Instant.parse(text);
            } catch (DateTimeException e) {
                throw new InvalidInputException(
                        "metadata " + EXPIRE_AT, "must be a time in UTC such as 2030-01-01T00:00:00Z");
            }
        }

        private static Duration period(String text) {
            try {
                Duration period = Duration.parse(text);
                if (period.compareTo(Duration.ZERO) > 0 && period.compareTo(LONGEST) <= 0) {
                    return period;
                }
            } catch (DateTimeException e) {
                // It is refused below.
            }
            throw new InvalidInputException(
                    "metadata " + EXPIRE_AFTER_USE,
                    "must be a period such as P30D, longer than zero and at most 1,000 years");
        }
    }

    /** Leaves out the title and the metadata, so that the result may be logged. */
    @Override
    public String toString() {
        return "MemoryInfo[key=" + key + ", messages=" + messages + ", tokens=" + tokens + ", createdAt=" + createdAt
                + ", lastMessageAt=" + lastMessageAt + "]";
    }
}
