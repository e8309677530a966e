package io.github.keepsake4j.memories;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.ZoneId;
import java.util.Objects;

/**
 * Shows memories of a conversation in one message behind the system message and the summary, in a fence that no memory can close:
 * the summary of {@code FullChatSummary}, then pinned memories, then the newest ones. What does not fit is left out as a whole, the
 * oldest of the newest ones first. The message depends on the memories alone, and not on the question. So it stays as it is, byte by byte,
 * until a memory is made or changed, and a provider's prompt cache holds.
 *
 * <p>Only memories whose messages are on the branch that is shown are in it. After {@code clear()}, or while a list that was set is
 * shown, it has no memories of messages that are hidden, and no summary. Where the newest turn fits a limit only without the message, it is left out.
 *
 * <p>The memories are loaded while the messages are read, by one statement. If that fails or takes more than a second, they are
 * left out, which is logged, and the turn goes on. Only conversations have memories, and not nodes. Immutable.
 *
 * @param maxTokens the largest number of tokens of the message
 * @param minTrust the least trust that a memory, and the summary, must have
 * @param maxRecent how many of the newest chunks, and of the newest facts, are looked at, 0 to 200
 * @param zone the time zone in which dates are told
 */
public record MemoryBlock(int maxTokens, Trust minTrust, int maxRecent, ZoneId zone) implements ContextStrategy {

    private static final int STANDARD_RECENT = 20;
    private static final int MOST_RECENT = 200;

    /**
     * Checks the components.
     *
     * @throws InvalidInputException if a number is out of range
     */
    public MemoryBlock {
        InvalidInputException.checkAtLeast("maxTokens", 1, maxTokens);
        InvalidInputException.checkRange("maxRecent", 0, MOST_RECENT, maxRecent);
        Objects.requireNonNull(minTrust, "minTrust");
        Objects.requireNonNull(zone, "zone");
    }

    static MemoryBlock of(int maxTokens) {
        return new MemoryBlock(maxTokens, Trust.ASSISTANT, STANDARD_RECENT, ZoneId.of("UTC"));
    }

    /**
     * Sets the least trust. Default: {@link Trust#ASSISTANT}, so that what tools and documents said is left out.
     *
     * @param trust the least trust that a memory, and the summary, must have; {@link Trust#RETRIEVED} for any
     * @return a copy
     */
    public MemoryBlock withMinTrust(Trust trust) {
        return new MemoryBlock(maxTokens, trust, maxRecent, zone);
    }

    /**
     * Sets how many of the newest chunks, and of the newest facts, are looked at. Default: 20 of each.
     *
     * @param most from 0, for the summary and pinned memories alone, to 200
     * @return a copy
     * @throws InvalidInputException if the number is out of range
     */
    public MemoryBlock withMaxRecent(int most) {
        return new MemoryBlock(maxTokens, minTrust, most, zone);
    }

    /**
     * Sets the time zone in which dates are told. Default: UTC.
     *
     * @param other the time zone
     * @return a copy
     */
    public MemoryBlock withZone(ZoneId other) {
        return new MemoryBlock(maxTokens, minTrust, maxRecent, other);
    }

    /** Selects all: the memories are in the context already, and every limit counts them. */
    @Override
    public Context select(Context context) {
        return context;
    }
}
