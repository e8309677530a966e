package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The other shape of a document of version 1, {@code {"turns": {run id: {user_content, user_files, assistant_content,
 * assistant_files}}}}. Each turn is read as two linked messages. The assistant message has the run's id, and the user
 * message's id is derived from it. The next change of the memory writes them as messages.
 */
final class TurnsShape {

    private static final String USER_SUFFIX = "#user";
    private static final TypeReference<LinkedHashMap<String, JsonNode>> TURNS = new TypeReference<>() {};

    private TurnsShape() {}

    static List<Element> read(String turns) throws IOException {
        if (!turns.startsWith("{")) {
            throw new UnreadableDataException("its turns are not an object", null);
        }
        List<Element> elements = new ArrayList<>();
        String parent = null;
        for (Map.Entry<String, JsonNode> turn :
                RawJson.MAPPER.readValue(turns, TURNS).entrySet()) {
            String run = turn.getKey();
            for (String role : List.of("user", "assistant")) {
                String id = role.equals("user") && !run.isEmpty() ? run + USER_SUFFIX : run;
                elements.add(element(id, parent, role, turn.getValue()));
                parent = id;
            }
        }
        return elements;
    }

    private static Element element(String id, @Nullable String parent, String role, JsonNode turn) {
        if (!turn.isObject()) {
            throw new UnreadableDataException("turn " + id + " is not an object", null);
        }
        ObjectNode json = RawJson.MAPPER.createObjectNode();
        json.put("message_id", id).put("parent_message_id", parent).put("role", role);
        json.set("content", turn.hasNonNull(role + "_content") ? turn.get(role + "_content") : json.textNode(""));
        json.set("files", turn.hasNonNull(role + "_files") ? turn.get(role + "_files") : json.arrayNode());
        Element element = Element.of("turn " + id, json, "");
        json.put("token_count", element.tokens())
                .put("created_at", element.createdAt().toString());
        return element.withRaw(RawJson.write(json));
    }
}
