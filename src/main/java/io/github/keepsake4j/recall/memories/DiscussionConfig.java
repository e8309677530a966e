package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * How memories of a discussion are made, with the names of WilmerAI's JSON. A number or a text that is absent has its default.
 *
 * @param useVectorForQualityMemory whether facts are made rather than chunks
 * @param fileMemoryWorkflowName the workflow that makes a chunk, or null for one call of the model
 * @param vectorMemoryWorkflowName the workflow that makes facts, or null for one call of the model
 * @param chatSummaryWorkflowName the workflow that makes the summary from the new chunks and the current summary, or null for one
 *     call of the model
 * @param systemPrompt the instructions for a chunk, or null for the library's. Instructions and prompts of a chunk may have
 *     {@code [TextChunk]}, {@code [Memory_file]}, {@code [Full_Memory_file]} and {@code [Chat_Summary]}.
 * @param prompt the prompt for a chunk, or null for the library's
 * @param vectorMemorySystemPrompt the instructions for facts, or null for the library's; with {@code [TextChunk]} and
 *     {@code [Known_Facts]}
 * @param vectorMemoryPrompt the prompt for facts, or null for the library's; with {@code [TextChunk]} and
 *     {@code [Known_Facts]}
 * @param chatSummarySystemPrompt the instructions for the summary, or null for the library's; with {@code [CHAT_SUMMARY]} and
 *     {@code [LATEST_MEMORIES]}
 * @param chatSummaryPrompt the prompt for the summary, or null for the library's; with the same
 * @param chunkEstimatedTokenSize the size in tokens from which a chunk is made; it is filled to 80 %. Default: 1000
 * @param maxMessagesBetweenChunks the number of new messages from which a chunk is made. Default: 5
 * @param vectorMemoryChunkEstimatedTokenSize the size in tokens from which facts are made. Default: 1000
 * @param vectorMemoryMaxMessagesBetweenChunks the number of new messages from which facts are made. Default: 5
 * @param lookbackStartTurn how many of the newest messages are left alone. Default: 3
 * @param vectorMemoryLookBackTurns the same for facts. Default: {@code lookbackStartTurn}
 * @param loopIfMemoriesExceed how many chunks are folded into the summary at a time. Default: 3
 * @param minMemoriesPerSummary the number of new chunks from which the summary is updated. Default: 3
 */
public record DiscussionConfig(
        boolean useVectorForQualityMemory,
        @Nullable String fileMemoryWorkflowName,
        @Nullable String vectorMemoryWorkflowName,
        @Nullable String chatSummaryWorkflowName,
        @Nullable String systemPrompt,
        @Nullable String prompt,
        @Nullable String vectorMemorySystemPrompt,
        @Nullable String vectorMemoryPrompt,
        @Nullable String chatSummarySystemPrompt,
        @Nullable String chatSummaryPrompt,
        int chunkEstimatedTokenSize,
        int maxMessagesBetweenChunks,
        int vectorMemoryChunkEstimatedTokenSize,
        int vectorMemoryMaxMessagesBetweenChunks,
        int lookbackStartTurn,
        int vectorMemoryLookBackTurns,
        int loopIfMemoriesExceed,
        int minMemoriesPerSummary) {

    private static final int SMALLEST_CHUNK = 50;

    /** The defaults. */
    public static final DiscussionConfig DEFAULT = of(NodeConfig.EMPTY);

    /**
     * Checks the numbers.
     *
     * @throws InvalidInputException if one is out of range
     */
    public DiscussionConfig {
        InvalidInputException.checkAtLeast("chunkEstimatedTokenSize", SMALLEST_CHUNK, chunkEstimatedTokenSize);
        InvalidInputException.checkAtLeast("maxMessagesBetweenChunks", 1, maxMessagesBetweenChunks);
        InvalidInputException.checkAtLeast(
                "vectorMemoryChunkEstimatedTokenSize", SMALLEST_CHUNK, vectorMemoryChunkEstimatedTokenSize);
        InvalidInputException.checkAtLeast(
                "vectorMemoryMaxMessagesBetweenChunks", 1, vectorMemoryMaxMessagesBetweenChunks);
        InvalidInputException.checkAtLeast("lookbackStartTurn", 0, lookbackStartTurn);
        InvalidInputException.checkAtLeast("vectorMemoryLookBackTurns", 0, vectorMemoryLookBackTurns);
        InvalidInputException.checkAtLeast("loopIfMemoriesExceed", 1, loopIfMemoriesExceed);
        InvalidInputException.checkAtLeast("minMemoriesPerSummary", 1, minMemoriesPerSummary);
    }

    /**
     * Reads a discussion's configuration.
     *
     * @param json a JSON object; fields that are not named here are ignored
     * @return the configuration
     * @throws InvalidInputException if the text is no JSON object, or a field has a wrong type or value
     */
    public static DiscussionConfig ofJson(String json) {
        return of(NodeConfig.ofJson(json));
    }

    /**
     * Reads a discussion's configuration.
     *
     * @param json the fields; those that are not named here are ignored
     * @return the configuration
     * @throws InvalidInputException if a field has a wrong type or value
     */
    public static DiscussionConfig of(NodeConfig json) {
        int lookback = json.number("lookbackStartTurn", 3, 0);
        return new DiscussionConfig(
                json.flag("useVectorForQualityMemory", false),
                name(json, "fileMemoryWorkflowName"),
                name(json, "vectorMemoryWorkflowName"),
                name(json, "chatSummaryWorkflowName"),
                json.text("systemPrompt"),
                json.text("prompt"),
                json.text("vectorMemorySystemPrompt"),
                json.text("vectorMemoryPrompt"),
                json.text("chatSummarySystemPrompt"),
                json.text("chatSummaryPrompt"),
                json.number("chunkEstimatedTokenSize", 1000, SMALLEST_CHUNK),
                json.number("maxMessagesBetweenChunks", 5, 1),
                json.number("vectorMemoryChunkEstimatedTokenSize", 1000, SMALLEST_CHUNK),
                json.number("vectorMemoryMaxMessagesBetweenChunks", 5, 1),
                lookback,
                json.number("vectorMemoryLookBackTurns", lookback, 0),
                json.number("loopIfMemoriesExceed", 3, 1),
                json.number("minMemoriesPerSummary", 3, 1));
    }

    /** A blank name is none, as in WilmerAI's own files. */
    private static @Nullable String name(NodeConfig json, String field) {
        String name = json.text(field);
        return name == null || name.isBlank() ? null : name;
    }

    /** Returns the kind of memories that are made. */
    MemoryKind kind() {
        return useVectorForQualityMemory ? MemoryKind.FACT : MemoryKind.CHUNK;
    }

    int chunkSize() {
        return useVectorForQualityMemory ? vectorMemoryChunkEstimatedTokenSize : chunkEstimatedTokenSize;
    }

    int maxMessages() {
        return useVectorForQualityMemory ? vectorMemoryMaxMessagesBetweenChunks : maxMessagesBetweenChunks;
    }

    int lookback() {
        return useVectorForQualityMemory ? vectorMemoryLookBackTurns : lookbackStartTurn;
    }
}
