package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of a search. Created by {@link #standard()} and changed by the other methods.
 *
 * @param pageSize the largest number of hits on a page, 1 to {@value #MAX_PAGE_SIZE}
 * @param offset the number of hits before the page
 * @param types the types of messages to search
 * @param from the time from which messages are found, or null for no limit
 * @param to the time before which messages are found, or null for no limit
 * @param currentBranch whether only messages of the current branch are found
 * @param visibleOnly whether messages that {@code clear} hid, that failed, or that were rejected are left out
 * @param neighbours the largest number of messages before and behind a hit that are returned with it, 0 to
 * {@value #MAX_NEIGHBOURS}
 */
public record SearchOptions(
        int pageSize,
        int offset,
        Set<ChatMessageType> types,
        @Nullable Instant from,
        @Nullable Instant to,
        boolean currentBranch,
        boolean visibleOnly,
        int neighbours) {

    /** The largest page. */
    public static final int MAX_PAGE_SIZE = 100;

    /** The largest number of neighbours on a side. */
    public static final int MAX_NEIGHBOURS = 4;

    /** The largest offset. A search that needs a larger one needs other words. */
    public static final int MAX_OFFSET = 1_000;

    /** Checks and copies the components. */
    public SearchOptions {
        InvalidInputException.checkRange("pageSize", 1, MAX_PAGE_SIZE, pageSize);
        InvalidInputException.checkRange("offset", 0, MAX_OFFSET, offset);
        InvalidInputException.checkRange("neighbours", 0, MAX_NEIGHBOURS, neighbours);
        types = Set.copyOf(types);
    }

    /**
     * Returns the options for a first page of 10 hits in all messages of users, models and tools, on all branches,
     * including hidden messages, with one neighbour on each side.
     *
     * @return the options
     */
    public static SearchOptions standard() {
        return new SearchOptions(
                10,
                0,
                Set.of(ChatMessageType.USER, ChatMessageType.AI, ChatMessageType.TOOL_EXECUTION_RESULT),
                null,
                null,
                false,
                false,
                1);
    }

    /**
     * Sets the size of a page.
     *
     * @param hits from 1 to {@value #MAX_PAGE_SIZE}
     * @return a copy
     */
    public SearchOptions withPageSize(int hits) {
        return new SearchOptions(hits, offset, types, from, to, currentBranch, visibleOnly, neighbours);
    }

    /**
     * Finds messages of some types only.
     *
     * @param first a type
     * @param more further types
     * @return a copy
     */
    public SearchOptions ofTypes(ChatMessageType first, ChatMessageType... more) {
        EnumSet<ChatMessageType> some = EnumSet.of(first, more);
        return new SearchOptions(pageSize, offset, some, from, to, currentBranch, visibleOnly, neighbours);
    }

    /**
     * Finds messages of a span of time only.
     *
     * @param first the first time, or null for no limit
     * @param behind the end of the time, exclusive, or null for no limit
     * @return a copy
     */
    public SearchOptions between(@Nullable Instant first, @Nullable Instant behind) {
        return new SearchOptions(pageSize, offset, types, first, behind, currentBranch, visibleOnly, neighbours);
    }

    /**
     * Finds messages of the current branch only.
     *
     * @return a copy
     */
    public SearchOptions onCurrentBranch() {
        return new SearchOptions(pageSize, offset, types, from, to, true, visibleOnly, neighbours);
    }

    /**
     * Leaves out messages that {@code clear} hid, failed questions and rejected answers.
     *
     * @return a copy
     */
    public SearchOptions onlyVisible() {
        return new SearchOptions(pageSize, offset, types, from, to, currentBranch, true, neighbours);
    }

    /**
     * Sets the number of messages around a hit that are returned with it.
     *
     * @param onEachSide from 0 to {@value #MAX_NEIGHBOURS}
     * @return a copy
     */
    public SearchOptions withNeighbours(int onEachSide) {
        return new SearchOptions(pageSize, offset, types, from, to, currentBranch, visibleOnly, onEachSide);
    }

    /** Returns the options of a page further back. */
    SearchOptions at(int hitsBefore) {
        return new SearchOptions(pageSize, hitsBefore, types, from, to, currentBranch, visibleOnly, neighbours);
    }
}
