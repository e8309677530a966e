package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.InvalidInputException;

/**
 * The configuration of the creation of memories, with the names of WilmerAI's JSON. An absent number or text has its
 * default.
 *
 * <ul>
 *   <li>{@code useVectorForQualityMemory}: whether facts are created instead of chunks
 *   <li>{@code fileMemoryWorkflowName}: the workflow that makes a chunk, or null for one call of the model
 *   <li>{@code vectorMemoryWorkflowName}: the workflow that makes facts, or null for one call of the model
 *   <li>{@code chatSummaryWorkflowName}: the workflow that makes the summary from the new chunks and the current summary, or null for one
 *       call of the model
 *   <li>{@code systemPrompt}: the instructions for a chunk, or null for the library's. Instructions and prompts of a chunk may have
 *       {@code [TextChunk]}, {@code [Memory_file]}, {@code [Full_Memory_file]} and {@code [Chat_Summary]}.
 *   <li>{@code prompt}: the prompt for a chunk, or null for the library's
 *   <li>{@code vectorMemorySystemPrompt}: the instructions for facts, or null for the library's; with {@code [TextChunk]} and
 *       {@code [Known_Facts]}
 *   <li>{@code vectorMemoryPrompt}: the prompt for facts, or null for the library's; with {@code [TextChunk]} and
 *       {@code [Known_Facts]}
 *   <li>{@code chatSummarySystemPrompt}: the instructions for the summary, or null for the library's; with
 * {@code [CHAT_SUMMARY]} and {@code [LATEST_MEMORIES]}
 *   <li>{@code chatSummaryPrompt}: the prompt for the summary, or null for the library's; with the same placeholders
 *   <li>{@code chunkEstimatedTokenSize}: the size in tokens from which a chunk is made; it is filled to 80 %. Default: 1000
 *   <li>{@code maxMessagesBetweenChunks}: the number of new messages from which a chunk is made. Default: 5
 *   <li>{@code vectorMemoryChunkEstimatedTokenSize}: the size in tokens from which facts are made. Default: 1000
 *   <li>{@code vectorMemoryMaxMessagesBetweenChunks}: the number of new messages from which facts are made. Default: 5
 *   <li>{@code lookbackStartTurn}: the number of the newest messages that are not processed yet. Default: 3
 *   <li>{@code vectorMemoryLookBackTurns}: the same for facts. Default: {@code lookbackStartTurn}
 *   <li>{@code loopIfMemoriesExceed}: the number of chunks that are folded into the summary at a time. Default: 3
 *   <li>{@code minMemoriesPerSummary}: the number of new chunks from which the summary is updated. Default: 3
 * </ul>
 */
public final class DiscussionConfig {

    private static final int SMALLEST_CHUNK = 50;

    /** The defaults. */
    public static final DiscussionConfig DEFAULT = of(NodeConfig.EMPTY);

    private final NodeConfig json;
    private final boolean facts;
    final Passages passages;
    final int loopIfMemoriesExceed;
    final int minMemoriesPerSummary;

    private DiscussionConfig(NodeConfig json) {
        this.json = json;
        facts = json.flag("useVectorForQualityMemory", false);
        Passages ofChunks = new Passages(
                json.number("chunkEstimatedTokenSize", 1000, SMALLEST_CHUNK),
                json.number("maxMessagesBetweenChunks", 5, 1),
                json.number("lookbackStartTurn", 3, 0));
        Passages ofFacts = new Passages(
                json.number("vectorMemoryChunkEstimatedTokenSize", 1000, SMALLEST_CHUNK),
                json.number("vectorMemoryMaxMessagesBetweenChunks", 5, 1),
                json.number("vectorMemoryLookBackTurns", ofChunks.lookback(), 0));
        passages = facts ? ofFacts : ofChunks;
        loopIfMemoriesExceed = json.number("loopIfMemoriesExceed", 3, 1);
        minMemoriesPerSummary = json.number("minMemoriesPerSummary", 3, 1);
        DirectPrompts.check(json);
    }

    /**
     * How messages become a passage.
     *
     * @param size the tokens from which it is one
     * @param maxMessages the number of messages that make a chunk
     * @param lookback the number of the newest messages that are not processed yet
     */
    record Passages(int size, int maxMessages, int lookback) {}

    /**
     * Reads a discussion's configuration.
     *
     * @param json a JSON object; fields that are not named here are ignored
     * @return the configuration
     * @throws InvalidInputException if the text is not a JSON object, or a field has a wrong type or value
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
        return new DiscussionConfig(json);
    }

    /**
     * Returns whether a model is needed to create memories because a workflow is not named.
     *
     * @return whether a model is called directly
     */
    public boolean callsTheModel() {
        return prompts().workflowName(json) == null || DirectPrompts.SUMMARIES.workflowName(json) == null;
    }

    private DirectPrompts prompts() {
        return facts ? DirectPrompts.FACTS : DirectPrompts.CHUNKS;
    }

    NamedWorkflow memories(Workflows named) {
        return prompts().workflow(json, named);
    }

    NamedWorkflow summaries(Workflows named) {
        return DirectPrompts.SUMMARIES.workflow(json, named);
    }

    /** Returns the kind of memories that are created. */
    MadeMemory.Kind kind() {
        return facts ? MadeMemory.Kind.FACT : MadeMemory.Kind.CHUNK;
    }
}
