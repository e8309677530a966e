package io.github.keepsake4j.recall;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolMemoryId;
import java.util.List;
import java.util.Objects;

/**
 * A tool with which a model looks up what was said before. A {@code Keepsake} makes it. The memory is that with which the AI
 * service was called; the model cannot choose it. Thread-safe.
 */
public final class RecallTool {

    private final BoundRecall recall;

    /**
     * Creates a tool.
     *
     * @param recall what recalls
     */
    public RecallTool(BoundRecall recall) {
        this.recall = Objects.requireNonNull(recall, "recall");
    }

    /**
     * Looks up what was said before.
     *
     * @param question what to look for
     * @param memoryId the memory id of the call, which LangChain4j passes
     * @return passages with times and speakers, best first, or a sentence that says that nothing was found
     */
    @Tool(
            name = "recall",
            value = "Looks up what the user and you said earlier in this conversation, also long ago."
                    + " Returns passages with their dates. Use it when something that was said before is missing here.")
    public String recall(
            @P("What to look for: a question or some words, with names and dates if they are known") String question,
            @ToolMemoryId Object memoryId) {
        List<String> texts = recall.texts(memoryId, question);
        return texts.isEmpty() ? "Nothing was said about it." : String.join("\n", texts);
    }
}
