package io.github.keepsake4j.memories;

import dev.langchain4j.model.chat.ChatModel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The prompts with which one call of a model creates memories if no workflow is named.
 *
 * @param placeholders the names of the inputs in the prompts, in order
 */
record DirectPrompts(
        String workflowField,
        String systemField,
        String promptField,
        String standardSystem,
        String standardPrompt,
        List<String> placeholders) {

    static final DirectPrompts CHUNKS = new DirectPrompts(
            "fileMemoryWorkflowName",
            "systemPrompt",
            "prompt",
            """
            You keep the memory of a conversation. Write what is worth remembering of the given part: facts, decisions, names, \
            numbers, dates, open tasks and what the user prefers; leave out small talk. Write one short plain text in the \
            language of the conversation.""",
            "The part of the conversation: [TextChunk]\nWrite the memory.",
            List.of("[TextChunk]", "[Memory_file]", "[Full_Memory_file]", "[Chat_Summary]"));

    static final DirectPrompts FACTS = new DirectPrompts(
            "vectorMemoryWorkflowName",
            "vectorMemorySystemPrompt",
            "vectorMemoryPrompt",
            """
            You keep the memory of a conversation. Write the facts of the given part that are worth remembering, each as a JSON \
            object with the texts "title" and "summary" and the lists of texts "entities" and "key_phrases". Answer with a JSON \
            array of these objects only, in the language of the conversation. If there is nothing to remember, answer []. Do not \
            repeat known facts; if a fact contradicts a known one, add the text "replaces" with the known one's title.""",
            "Known facts: [Known_Facts]\nThe part of the conversation: [TextChunk]\nWrite the JSON array.",
            List.of("[TextChunk]", "[Known_Facts]"));

    static final DirectPrompts SUMMARIES = new DirectPrompts(
            "chatSummaryWorkflowName",
            "chatSummarySystemPrompt",
            "chatSummaryPrompt",
            """
            You keep the summary of a conversation. Write the new summary from the current one and the newest memories: keep what \
            still holds, correct what has changed. Write plain text in the language of the conversation.""",
            "The current summary: [CHAT_SUMMARY]\nThe newest memories: [LATEST_MEMORIES]\nWrite the new summary.",
            List.of("[LATEST_MEMORIES]", "[CHAT_SUMMARY]"));

    /** Checks a configuration. */
    static void check(NodeConfig config) {
        for (DirectPrompts prompts : List.of(CHUNKS, FACTS, SUMMARIES)) {
            config.text(prompts.workflowField);
            config.text(prompts.systemField);
            config.text(prompts.promptField);
        }
    }

    /**
     * Returns the name of the workflow that is used instead. A blank name means no workflow, as in WilmerAI's own
     * files.
     */
    @Nullable
    String workflowName(NodeConfig config) {
        String name = config.text(workflowField);
        return name == null || name.isBlank() ? null : name;
    }

    /** Returns the workflow that a configuration names, or one call of the model. */
    NamedWorkflow workflow(NodeConfig config, Workflows named) {
        String name = workflowName(config);
        if (name != null) {
            return named.find(workflowField, name);
        }
        ChatModel model = named.model();
        return model == null ? MISSING : new NamedWorkflow("the model", prompt(model, config));
    }

    /** Memories can be read without a model. */
    static final NamedWorkflow MISSING = new NamedWorkflow("a missing model", DirectPrompts::missing);

    private static String missing(List<String> inputs) {
        throw new LongTermMemoryFailedException(
                "neither a chatModel nor a workflow is set to process " + inputs.size() + " inputs; set one", null);
    }

    /** A prompt without a placeholder for its first input gets it at the end. */
    private PromptWorkflow prompt(ChatModel model, NodeConfig config) {
        String system = config.text(systemField);
        String instructions = system == null ? standardSystem : system;
        String question = config.text(promptField, system == null ? standardPrompt : "");
        boolean isNamed = (instructions + question).contains(placeholders.get(0));
        String whole = isNamed ? question : question + "\n" + placeholders.get(0);
        return new PromptWorkflow(
                model,
                List.of(new PromptWorkflow.Node(instructions, whole, true)),
                placeholders,
                "prompt@" + MessageHashes.shortHash(instructions + "\n" + whole));
    }
}
