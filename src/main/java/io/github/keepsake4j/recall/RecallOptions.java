package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a recall for a model. Created by {@link #standard()} and changed by the other methods.
 */
public final class RecallOptions {

    /** The largest number of passages. */
    public static final int MAX_PASSAGES = 100;

    /** The largest number of neighbours on a side. */
    public static final int MAX_NEIGHBOURS = 4;

    private final int maxTokens;
    private final int maxPassages;
    private final int neighbours;
    private final Duration sessionGap;
    private final ZoneId zone;
    private final boolean hidden;
    private final @Nullable MemoryKey shownTo;

    private RecallOptions(
            int maxTokens,
            int maxPassages,
            int neighbours,
            Duration sessionGap,
            ZoneId zone,
            boolean hidden,
            @Nullable MemoryKey shownTo) {
        InvalidInputException.checkAtLeast("maxTokens", 1, maxTokens);
        InvalidInputException.checkRange("maxPassages", 1, MAX_PASSAGES, maxPassages);
        InvalidInputException.checkRange("neighbours", 0, MAX_NEIGHBOURS, neighbours);
        InvalidInputException.checkPositive("sessionGap", sessionGap);
        InvalidInputException.given("zone", zone);
        this.maxTokens = maxTokens;
        this.maxPassages = maxPassages;
        this.neighbours = neighbours;
        this.sessionGap = sessionGap;
        this.zone = zone;
        this.hidden = hidden;
        this.shownTo = shownTo;
    }

    /**
     * Returns the options for up to 10 passages of 2,000 tokens in all, with one neighbour on each side. A pause of
     * more than 4 hours ends a session. Dates are in UTC.
     *
     * @return the options
     */
    public static RecallOptions standard() {
        return new RecallOptions(2_000, 10, 1, Duration.ofHours(4), ZoneOffset.UTC, false, null);
    }

    /**
     * Sets the token budget.
     *
     * @param tokens the largest number of tokens of all passages together, 1 or more
     * @return a copy
     */
    public RecallOptions withMaxTokens(int tokens) {
        return new RecallOptions(tokens, maxPassages, neighbours, sessionGap, zone, hidden, shownTo);
    }

    /**
     * Sets the largest number of passages.
     *
     * @param passages from 1 to {@value #MAX_PASSAGES}
     * @return a copy
     */
    public RecallOptions withMaxPassages(int passages) {
        return new RecallOptions(maxTokens, passages, neighbours, sessionGap, zone, hidden, shownTo);
    }

    /**
     * Sets the largest number of messages on each side of a message that are returned with it.
     *
     * @param onEachSide from 0 to {@value #MAX_NEIGHBOURS}
     * @return a copy
     */
    public RecallOptions withNeighbours(int onEachSide) {
        return new RecallOptions(maxTokens, maxPassages, onEachSide, sessionGap, zone, hidden, shownTo);
    }

    /**
     * Sets the longest pause within a session.
     *
     * @param pause more than zero
     * @return a copy
     */
    public RecallOptions withSessionGap(Duration pause) {
        return new RecallOptions(maxTokens, maxPassages, neighbours, pause, zone, hidden, shownTo);
    }

    /**
     * Sets the time zone of the dates in questions and passages.
     *
     * @param user the user's zone
     * @return a copy
     */
    public RecallOptions in(ZoneId user) {
        return new RecallOptions(maxTokens, maxPassages, neighbours, sessionGap, user, hidden, shownTo);
    }

    /**
     * Also recalls messages that {@code clear} hid.
     *
     * @return a copy
     */
    public RecallOptions alsoHidden() {
        return new RecallOptions(maxTokens, maxPassages, neighbours, sessionGap, zone, true, shownTo);
    }

    /**
     * Sets the memory that the model sees. Its shown messages are not recalled.
     *
     * @param memory the memory
     * @return a copy
     */
    public RecallOptions shownTo(MemoryKey memory) {
        return new RecallOptions(maxTokens, maxPassages, neighbours, sessionGap, zone, hidden, memory);
    }

    /**
     * Returns the largest number of tokens of all passages together, with their dates, speakers and marks, 1 or more;
     * a message that does not fit is shown as an {@linkplain Recalled.Excerpt excerpt}.
     *
     * @return the largest number of tokens of all passages together
     */
    public int maxTokens() {
        return maxTokens;
    }

    /**
     * Returns the largest number of passages, 1 to {@value #MAX_PASSAGES}.
     *
     * @return the largest number of passages
     */
    public int maxPassages() {
        return maxPassages;
    }

    /**
     * Returns the largest number of messages on each side of a message that are returned with it, 0 to {@value
     * #MAX_NEIGHBOURS}.
     *
     * @return the largest number of messages on each side of a message that are returned with it
     */
    public int neighbours() {
        return neighbours;
    }

    /**
     * Returns the longest pause within a session, more than zero.
     *
     * @return the longest pause within a session
     */
    public Duration sessionGap() {
        return sessionGap;
    }

    /**
     * Returns the time zone of the dates in questions and passages.
     *
     * @return the time zone of the dates in questions and passages
     */
    public ZoneId zone() {
        return zone;
    }

    /**
     * Returns whether messages that {@code clear} hid are recalled too.
     *
     * @return whether messages that {@code clear} hid are recalled too
     */
    public boolean hidden() {
        return hidden;
    }

    /**
     * Returns the memory that the model sees; its shown messages are not recalled. Null means the scope's only memory,
     * or none if the scope has several.
     *
     * @return the memory that the model sees
     */
    public @Nullable MemoryKey shownTo() {
        return shownTo;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RecallOptions same && parts().equals(same.parts());
    }

    @Override
    public int hashCode() {
        return parts().hashCode();
    }

    @Override
    public String toString() {
        return "RecallOptions" + parts();
    }

    private List<@Nullable Object> parts() {
        return Arrays.asList(maxTokens, maxPassages, neighbours, sessionGap, zone, hidden, shownTo);
    }
}
