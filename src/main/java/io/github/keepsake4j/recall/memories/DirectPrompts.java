package io.github.keepsake4j.recall.memories;

import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.recall.memories.FencedPrompt.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes memories with one call of a model.
 *
 * @param placeholders what the inputs are called in the prompts, in order
 */
record DirectPrompts(ChatModel chatModel, String system, String prompt, List<String> placeholders)
        implements MemoryWorkflow {

    private static final String CHUNK_SYSTEM =
            """
            You keep the memory of a conversation. Write what is worth remembering of the given part: facts, decisions, names, \
            numbers, dates, open tasks and what the user prefers; leave out small talk. Write one short plain text in the \
            language of the conversation.""";

    private static final String CHUNK_PROMPT = "The part of the conversation: [TextChunk]\nWrite the memory.";

    private static final String FACT_SYSTEM =
            """
            You keep the memory of a conversation. Write the facts of the given part that are worth remembering, each as a JSON \
            object with the texts "title" and "summary" and the lists of texts "entities" and "key_phrases". Answer with a JSON \
            array of these objects only, in the language of the conversation. If there is nothing to remember, answer [].""";

    private static final String FACT_PROMPT = "The part of the conversation: [TextChunk]\nWrite the JSON array.";

    private static final String SUMMARY_SYSTEM =
            """
            You keep the summary of a conversation. Write the new summary from the current one and the newest memories: keep what \
            still holds, correct what has changed. Write plain text in the language of the conversation.""";

    private static final String SUMMARY_PROMPT =
            "The current summary: [CHAT_SUMMARY]\nThe newest memories: [LATEST_MEMORIES]\nWrite the new summary.";

    private static final List<String> CHUNK_PLACEHOLDERS =
            List.of("[TextChunk]", "[Memory_file]", "[Full_Memory_file]", "[Chat_Summary]");

    private static final List<String> SUMMARY_PLACEHOLDERS = List.of("[LATEST_MEMORIES]", "[CHAT_SUMMARY]");

    static DirectPrompts chunks(ChatModel model, DiscussionConfig config) {
        return of(model, config.systemPrompt(), CHUNK_SYSTEM, config.prompt(), CHUNK_PROMPT, CHUNK_PLACEHOLDERS);
    }

    static DirectPrompts facts(ChatModel model, DiscussionConfig config) {
        return of(
                model,
                config.vectorMemorySystemPrompt(),
                FACT_SYSTEM,
                config.vectorMemoryPrompt(),
                FACT_PROMPT,
                CHUNK_PLACEHOLDERS.subList(0, 1));
    }

    static DirectPrompts summaries(ChatModel model, DiscussionConfig config) {
        return of(
                model,
                config.chatSummarySystemPrompt(),
                SUMMARY_SYSTEM,
                config.chatSummaryPrompt(),
                SUMMARY_PROMPT,
                SUMMARY_PLACEHOLDERS);
    }

    /** A prompt that does not say where its first input is gets it at the end. */
    private static DirectPrompts of(
            ChatModel model,
            @Nullable String system,
            String standardSystem,
            @Nullable String prompt,
            String standardPrompt,
            List<String> placeholders) {
        String instructions = system == null ? standardSystem : system;
        String question = prompt == null ? (system == null ? standardPrompt : "") : prompt;
        boolean isNamed = (instructions + question).contains(placeholders.get(0));
        return new DirectPrompts(
                model, instructions, isNamed ? question : question + "\n" + placeholders.get(0), placeholders);
    }

    @Override
    public String run(List<String> inputs) {
        Map<String, Value> values = new LinkedHashMap<>();
        for (int i = 0; i < placeholders.size(); i++) {
            String placeholder = placeholders.get(i);
            if ((system + prompt).contains(placeholder)) {
                String name = placeholder.substring(1, placeholder.length() - 1).toLowerCase(Locale.ROOT);
                values.put(placeholder, new Value(name.replace('_', '-'), i < inputs.size() ? inputs.get(i) : ""));
            }
        }
        return FencedPrompt.ask(chatModel, system, prompt, values);
    }

    @Override
    public @Nullable String model() {
        return chatModel.defaultRequestParameters().modelName();
    }

    @Override
    public boolean readsMemories() {
        return placeholders.stream().skip(1).anyMatch((system + prompt)::contains);
    }

    @Override
    public String version() {
        return "prompt@" + MessageHashes.shortHash(system + "\n" + prompt);
    }
}
