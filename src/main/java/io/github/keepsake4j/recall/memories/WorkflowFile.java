package io.github.keepsake4j.recall.memories;

import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.memories.FencedPrompt.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A workflow file of WilmerAI with {@code Standard} nodes: prompts that are sent to a model one after the other. Unknown fields are
 * ignored.
 *
 * @param version tells the file and its content apart from others
 */
record WorkflowFile(ChatModel chatModel, List<Node> nodes, String version) implements MemoryWorkflow {

    private static final String STANDARD = "Standard";
    private static final int MAX_INPUTS = 4;

    /** A node. */
    private record Node(String system, String prompt, boolean isReturned) {}

    /**
     * Reads a file.
     *
     * @param name the workflow's name, for errors
     */
    static WorkflowFile read(String name, String json, ChatModel model) {
        String place = "workflow " + name;
        Object read = PlainJson.read(place, json);
        // WilmerAI has both forms.
        Object list = read instanceof Map<?, ?> object ? object.get("nodes") : read;
        if (!(list instanceof List<?> objects) || objects.isEmpty()) {
            throw new InvalidInputException(place, "must be a JSON array of nodes");
        }
        List<Node> nodes = new ArrayList<>();
        for (Object object : objects) {
            String at = place + "[" + nodes.size() + "]";
            NodeConfig node = new NodeConfig(JsonFields.of(at, object));
            String type = node.text("type", STANDARD);
            if (!type.equals(STANDARD)) {
                throw new InvalidInputException(
                        at + ".type", "is " + type + "; only nodes of the type " + STANDARD + " can be run");
            }
            String prompt = node.text("prompt");
            if (prompt == null || prompt.isBlank()) {
                throw new InvalidInputException(at + ".prompt", "is required");
            }
            nodes.add(new Node(node.text("systemPrompt", ""), prompt, node.flag("returnToUser", false)));
        }
        return new WorkflowFile(model, List.copyOf(nodes), "workflow:" + name + "@" + MessageHashes.shortHash(json));
    }

    @Override
    public String run(List<String> inputs) {
        Map<String, Value> known = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            known.put("{agent" + (i + 1) + "Input}", new Value("input-" + (i + 1), inputs.get(i)));
        }
        List<String> outputs = new ArrayList<>();
        for (Node node : nodes) {
            Map<String, Value> used = new LinkedHashMap<>();
            known.forEach((placeholder, value) -> {
                if ((node.system() + node.prompt()).contains(placeholder)) {
                    used.put(placeholder, value);
                }
            });
            String output = FencedPrompt.ask(chatModel, node.system(), node.prompt(), used);
            outputs.add(output);
            int number = outputs.size();
            known.put("{agent" + number + "Output}", new Value("output-" + number, output));
        }
        return outputs.get(returned());
    }

    /** The last node that is marked, or the last one. */
    private int returned() {
        for (int i = nodes.size() - 1; i >= 0; i--) {
            if (nodes.get(i).isReturned()) {
                return i;
            }
        }
        return nodes.size() - 1;
    }

    @Override
    public @Nullable String model() {
        return chatModel.defaultRequestParameters().modelName();
    }

    @Override
    public boolean readsMemories() {
        for (int input = 2; input <= MAX_INPUTS; input++) {
            String placeholder = "{agent" + input + "Input}";
            if (nodes.stream().anyMatch(node -> (node.system() + node.prompt()).contains(placeholder))) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String version() {
        return Objects.requireNonNull(version);
    }
}
