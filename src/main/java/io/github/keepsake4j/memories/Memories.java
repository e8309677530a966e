package io.github.keepsake4j.memories;

/**
 * Shows long-term memories to a model.
 *
 * <pre>{@code
 * Keepsake.builder()
 *         .strategy(SlidingWindow.withMaxMessages(50).and(Memories.block(800)))
 *         .memories(discussions, Duration.ofMinutes(5))
 * }</pre>
 */
public final class Memories {

    private Memories() {}

    /**
     * Shows the summary of the conversation, its pinned memories and its newest memories in one message before the
     * turns.
     *
     * @param maxTokens the largest number of tokens of that message, 1 or more; much less than the limit of all messages
     * @return the strategy, which limits nothing itself
     */
    public static MemoryBlock block(int maxTokens) {
        return MemoryBlock.of(maxTokens);
    }
}
