package io.github.keepsake4j.memories;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.ZoneId;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Shows long-term memories of a conversation in one message behind the system message and the summary. The message is
 * in a fence that no memory can close. It has the summary of {@code FullChatSummary}, then pinned memories, then the
 * newest memories. A memory that does not fit is left out as a whole; of the newest ones, the oldest are left out
 * first. The message depends only on the memories and not on the question. So it stays the same, byte by byte, until a
 * memory is created or changed, and a provider's prompt cache keeps working.
 *
 * <p>The message contains only memories whose messages are on the branch that is shown. After {@code clear()}, and
 * while a list that was set is shown, it has no memories of hidden messages, and no summary. The message is left out if
 * the newest turn fits a limit only without it.
 *
 * <p>The memories are loaded while the messages are read, by one statement. If this fails or takes more than a second,
 * they are left out with a log entry, and the turn continues. Conversations have long-term memories; nodes do not.
 * Immutable.
 *
 * <pre>{@code
 * Keepsake.builder()
 *         .strategy(SlidingWindow.withMaxMessages(50).and(LongTermMemoryBlock.withMaxTokens(800)))
 *         .longTermMemories(discussions, Duration.ofMinutes(5))
 * }</pre>
 *
 * @param maxTokens the largest number of tokens of the message
 * @param minTrust the least trust that a memory, and the summary, must have
 * @param maxRecent the number of the newest chunks, and of the newest facts, that are considered, 0 to 200
 * @param zone the time zone of dates
 */
public record LongTermMemoryBlock(int maxTokens, Trust minTrust, int maxRecent, ZoneId zone)
        implements ContextStrategy {

    private static final int STANDARD_RECENT = 20;
    private static final int MOST_RECENT = 200;

    /**
     * Checks the components.
     *
     * @throws InvalidInputException if a number is out of range
     */
    public LongTermMemoryBlock {
        InvalidInputException.checkAtLeast("maxTokens", 1, maxTokens);
        InvalidInputException.checkRange("maxRecent", 0, MOST_RECENT, maxRecent);
        InvalidInputException.given("minTrust", minTrust);
        InvalidInputException.given("zone", zone);
    }

    /**
     * Shows the summary of the conversation, its pinned memories and its newest memories in one message before the
     * turns.
     *
     * @param maxTokens the largest number of tokens of that message, 1 or more; much less than the limit of all messages
     * @return the strategy, which limits nothing itself
     * @throws InvalidInputException if the number is less than 1
     */
    public static LongTermMemoryBlock withMaxTokens(int maxTokens) {
        return new LongTermMemoryBlock(maxTokens, Trust.ASSISTANT, STANDARD_RECENT, ZoneId.of("UTC"));
    }

    /**
     * Sets the least trust. Default: {@link Trust#ASSISTANT}, so that memories of tools and documents are left out.
     *
     * @param trust the least trust that a memory, and the summary, must have; {@link Trust#RETRIEVED} for any
     * @return a copy
     */
    public LongTermMemoryBlock withMinTrust(Trust trust) {
        return new LongTermMemoryBlock(maxTokens, trust, maxRecent, zone);
    }

    /**
     * Sets the number of the newest chunks, and of the newest facts, that are considered. Default: 20 of each.
     *
     * @param most from 0, for only the summary and pinned memories, to 200
     * @return a copy
     * @throws InvalidInputException if the number is out of range
     */
    public LongTermMemoryBlock withMaxRecent(int most) {
        return new LongTermMemoryBlock(maxTokens, minTrust, most, zone);
    }

    /**
     * Sets the time zone of dates. Default: UTC.
     *
     * @param other the time zone
     * @return a copy
     */
    public LongTermMemoryBlock withZone(ZoneId other) {
        return new LongTermMemoryBlock(maxTokens, minTrust, maxRecent, other);
    }

    /**
     * Returns the source of the message. Begins to load a conversation's memories, and then returns a function that
     * waits for them and returns the message for the branch that was read.
     *
     * @param reader reads the memories
     * @param logs returns the log of a conversation
     * @param counter counts the tokens of the message; a fast, local one
     * @param executor runs the reads; it must not make them wait for other work
     * @return the source
     */
    public Function<MemoryKey, Function<Tail, Optional<Remembered>>> source(
            LongTermMemoryReader reader,
            Function<MemoryKey, MessageLog> logs,
            TokenCounter counter,
            Executor executor) {
        return new MemoryBlocks(this, reader, logs, counter, executor, MemoryBlocks.LONGEST_WAIT)::begin;
    }

    /** Selects all messages: the memories are in the context already, and every limit counts them. */
    @Override
    public Context select(Context context) {
        return context;
    }
}
