package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.InvalidInputException;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of a search. Created by {@link #standard()} and changed by the other methods.
 */
public final class SearchOptions {

    /** The largest page. */
    public static final int MAX_PAGE_SIZE = 100;

    /** The largest number of neighbours on a side. */
    public static final int MAX_NEIGHBOURS = 4;

    /** The largest offset. A search that needs a larger one needs other words. */
    public static final int MAX_OFFSET = 1_000;

    private final int pageSize;
    private final int offset;
    private final Set<ChatMessageType> types;
    private final @Nullable Instant from;
    private final @Nullable Instant to;
    private final boolean currentBranch;
    private final boolean visibleOnly;
    private final int neighbours;

    private SearchOptions(
            int pageSize,
            int offset,
            Set<ChatMessageType> types,
            @Nullable Instant from,
            @Nullable Instant to,
            boolean currentBranch,
            boolean visibleOnly,
            int neighbours) {
        InvalidInputException.checkRange("pageSize", 1, MAX_PAGE_SIZE, pageSize);
        InvalidInputException.checkRange("offset", 0, MAX_OFFSET, offset);
        InvalidInputException.checkRange("neighbours", 0, MAX_NEIGHBOURS, neighbours);
        this.pageSize = pageSize;
        this.offset = offset;
        this.types = Set.copyOf(types);
        this.from = from;
        this.to = to;
        this.currentBranch = currentBranch;
        this.visibleOnly = visibleOnly;
        this.neighbours = neighbours;
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

    /**
     * Returns the largest number of hits on a page, 1 to {@value #MAX_PAGE_SIZE}.
     *
     * @return the largest number of hits on a page
     */
    public int pageSize() {
        return pageSize;
    }

    /**
     * Returns the number of hits before the page.
     *
     * @return the number of hits before the page
     */
    public int offset() {
        return offset;
    }

    /**
     * Returns the types of messages to search.
     *
     * @return the types of messages to search
     */
    public Set<ChatMessageType> types() {
        return types;
    }

    /**
     * Returns the time from which messages are found, or null for no limit.
     *
     * @return the time from which messages are found
     */
    public @Nullable Instant from() {
        return from;
    }

    /**
     * Returns the time before which messages are found, or null for no limit.
     *
     * @return the time before which messages are found
     */
    public @Nullable Instant to() {
        return to;
    }

    /**
     * Returns whether only messages of the current branch are found.
     *
     * @return whether only messages of the current branch are found
     */
    public boolean currentBranch() {
        return currentBranch;
    }

    /**
     * Returns whether messages that {@code clear} hid, that failed, or that were rejected are left out.
     *
     * @return whether messages that {@code clear} hid
     */
    public boolean visibleOnly() {
        return visibleOnly;
    }

    /**
     * Returns the largest number of messages before and behind a hit that are returned with it, 0 to {@value
     * #MAX_NEIGHBOURS}.
     *
     * @return the largest number of messages before and behind a hit that are returned with it
     */
    public int neighbours() {
        return neighbours;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SearchOptions same && parts().equals(same.parts());
    }

    @Override
    public int hashCode() {
        return parts().hashCode();
    }

    @Override
    public String toString() {
        return "SearchOptions" + parts();
    }

    private List<@Nullable Object> parts() {
        return Arrays.asList(pageSize, offset, types, from, to, currentBranch, visibleOnly, neighbours);
    }
}
