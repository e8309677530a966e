package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The other shape of version 1, {@code {"turns": {run id: {user_content, user_files, assistant_content,
 * assistant_files}}}}: each turn becomes two linked messages, one after the other. The assistant's has the run's id, the
 * user's is derived from it; the next change of the memory writes them as messages.
 */
final class Turns {

    private static final String USER_SUFFIX = "#user";
    private static final TypeReference<LinkedHashMap<String, JsonNode>> TURNS = new TypeReference<>() {};

    private Turns() {}

    static List<Element> read(String turns) throws IOException {
        List<Element> elements = new ArrayList<>();
        String parent = null;
        for (Map.Entry<String, JsonNode> turn :
                RawJson.MAPPER.readValue(turns, TURNS).entrySet()) {
            String run = turn.getKey();
            if (run.isEmpty() || !turn.getValue().isObject()) {
                throw wrong(run, "is no object");
            }
            for (String role : List.of("user", "assistant")) {
                String id = role.equals("user") ? run + USER_SUFFIX : run;
                elements.add(element(run, id, parent, role, turn.getValue()));
                parent = id;
            }
        }
        return elements;
    }

    private static Element element(String run, String id, @Nullable String parent, String role, JsonNode turn) {
        String content = text(run, turn.path(role + "_content"));
        PlainMessage plain = new PlainMessage(role, content, files(run, turn.path(role + "_files")));
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("message_id", RawJson.write(id));
        fields.put("parent_message_id", parent == null ? "null" : RawJson.write(parent));
        fields.putAll(Element.plainFields(plain));
        int estimate = Element.estimate(content);
        fields.put("token_count", Integer.toString(estimate));
        fields.put("created_at", RawJson.write(Instant.EPOCH));
        return new Element(id, parent, role, null, estimate, Instant.EPOCH, RawJson.object(fields));
    }

    private static String text(String run, JsonNode content) {
        if (content.isMissingNode() || content.isNull()) {
            return "";
        }
        if (!content.isTextual()) {
            throw wrong(run, "has a content that is no string");
        }
        return content.textValue();
    }

    private static String files(String run, JsonNode files) {
        if (files.isMissingNode() || files.isNull()) {
            return PlainMessage.NO_FILES;
        }
        if (!files.isArray()) {
            throw wrong(run, "has files that are no array");
        }
        for (JsonNode file : files) {
            if (!file.isObject()) {
                throw wrong(run, "has files that are no objects");
            }
        }
        return RawJson.write(files);
    }

    private static UnreadableDataException wrong(String run, String problem) {
        return new UnreadableDataException("turn " + run + " cannot be read: it " + problem, null);
    }
}
