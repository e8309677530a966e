package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses a document of version 1. Any irregularity causes an error before a part is used, so that a document is never
 * overwritten after it was understood only in part.
 */
final class DocumentParser {

    /**
     * The parts of a document.
     *
     * @param elements the messages in the order in which they are written
     * @param keepsake the {@code keepsake} object, or null if there is none
     * @param othersInKeepsake other fields of that object, unchanged
     * @param others other fields of the document, unchanged
     */
    record Parts(
            List<Element> elements,
            @Nullable KeepsakeField keepsake,
            Map<String, String> othersInKeepsake,
            Map<String, String> others) {

        /** Returns the stored id of the last message, or null if there is none. */
        @Nullable
        String last() {
            return elements.isEmpty() ? null : elements.get(elements.size() - 1).id();
        }

        /**
         * Refuses a document that names another tenant. A document without a tenant, such as one of another program,
         * belongs to the tenant of its name.
         *
         * @param what the requested data, for errors
         * @param tenant the caller's tenant, or null if it is not known
         * @throws io.github.keepsake4j.log.TenantMismatchException if it belongs to another tenant
         */
        Parts of(String what, @Nullable String tenant) {
            String owner = keepsake == null ? null : keepsake.owner();
            if (tenant != null && owner != null && !owner.equals(tenant)) {
                throw ObjectNames.mismatch(what);
            }
            return this;
        }

        /**
         * Returns whether the memory was erased and the object will be deleted next. Returns false if another program
         * added to it since.
         */
        boolean isErasing() {
            return keepsake != null && keepsake.erasing() && elements.isEmpty();
        }
    }

    private static final String MESSAGES = "messages";
    private static final String REPAIR =
            ". Its bytes are kept and nothing is written over them: S3MessageLog.quarantine moves them aside, erase removes them";

    private static final TypeReference<LinkedHashMap<String, JsonNode>> TURNS = new TypeReference<>() {};

    private DocumentParser() {}

    /**
     * Parses a document.
     *
     * @param what the document's name in errors
     * @param content its bytes
     * @throws UnreadableDataException if it is not a document, or of another version
     */
    static Parts parse(String what, Bucket.Content content) {
        try {
            if (content.problem() != null) {
                throw new UnreadableDataException(content.problem(), null);
            }
            return parse(text(content.bytes()));
        } catch (UnreadableDataException e) {
            throw new UnreadableDataException(what + " cannot be read: " + e.getMessage() + REPAIR, null);
        } catch (JsonProcessingException e) {
            // Jackson's own text may quote the document.
            throw new UnreadableDataException(
                    what + " cannot be read: it is not JSON, or ends too early" + RawJson.place(e) + REPAIR, null);
        } catch (IOException | RuntimeException e) {
            throw new UnreadableDataException(what + " cannot be read: it is not JSON in UTF-8" + REPAIR, null);
        }
    }

    private static String text(byte[] bytes) throws CharacterCodingException {
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }

    private static Parts parse(String source) throws IOException {
        List<Element> elements = new ArrayList<>();
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser in = RawJson.MAPPER.createParser(source)) {
            check(in.nextToken() == JsonToken.START_OBJECT, "it is not a JSON object");
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                String raw = name.equals(MESSAGES) ? readElements(in, source, elements) : RawJson.raw(in, source);
                check(fields.put(name, raw) == null, "one of its fields occurs twice");
            }
            check(in.nextToken() == null, "something follows the JSON object");
        }
        fields.remove(MESSAGES);
        check(
                "1".equals(fields.remove("version")),
                "its version is missing, or is not 1, the only one that this release knows");
        String turns = fields.remove("turns");
        if (turns != null) {
            elements.addAll(turns(turns));
        }
        nameApart(elements);
        String keepsake = fields.remove(Element.EXTRA);
        if (keepsake == null) {
            return new Parts(elements, null, Map.of(), fields);
        }
        try {
            KeepsakeField read = RawJson.MAPPER.readValue(keepsake, KeepsakeField.class);
            return new Parts(elements, read, KeepsakeField.removeOwn(RawJson.fields(keepsake)), fields);
        } catch (JsonProcessingException | RuntimeException e) {
            throw new UnreadableDataException("its keepsake object is damaged", null);
        }
    }

    /** Reads the messages; the parser is at the array's beginning, and afterwards at its end. */
    private static String readElements(JsonParser in, String source, List<Element> elements) throws IOException {
        check(in.currentToken() == JsonToken.START_ARRAY, "its messages are not an array");
        while (in.nextToken() != JsonToken.END_ARRAY) {
            int start = (int) in.currentTokenLocation().getCharOffset();
            JsonNode element = RawJson.MAPPER.readTree(in);
            int end = (int) in.currentLocation().getCharOffset();
            String previous = elements.isEmpty()
                    ? null
                    : elements.get(elements.size() - 1).id();
            elements.add(Element.of(elements.size() + 1, element, source.substring(start, end), previous));
        }
        return "";
    }

    /**
     * Reads the other shape of a document of version 1, {@code {"turns": {run id: {user_content, user_files,
     * assistant_content, assistant_files}}}}. Each turn is read as two linked messages. The assistant message has the run's
     * id, and the user message's id is derived from it. The next change of the memory writes them as messages.
     */
    private static List<Element> turns(String turns) throws IOException {
        if (!turns.startsWith("{")) {
            throw new UnreadableDataException("its turns are not an object", null);
        }
        List<Element> elements = new ArrayList<>();
        String parent = null;
        for (Map.Entry<String, JsonNode> turn :
                RawJson.MAPPER.readValue(turns, TURNS).entrySet()) {
            String run = turn.getKey();
            for (String role : List.of("user", "assistant")) {
                String id = role.equals("user") && !run.isEmpty() ? run + Ids.QUESTION : run;
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

    /**
     * Gives each message that repeats an id another id in the view, {@code id#2} and so on. Iterations of a node cause
     * such repetitions. The message follows the one before it, and a parent means the newest message of its id so far.
     */
    private static void nameApart(List<Element> elements) {
        Set<String> ids = new HashSet<>();
        elements.forEach(element -> ids.add(element.id()));
        if (ids.size() == elements.size()) {
            return;
        }
        Map<String, String> newest = new HashMap<>();
        for (int i = 0; i < elements.size(); i++) {
            Element element = elements.get(i);
            String parent =
                    element.parentId() == null ? null : newest.getOrDefault(element.parentId(), element.parentId());
            String id = element.id();
            if (newest.containsKey(id)) {
                for (int number = 2; !ids.add(id); number++) {
                    id = element.id() + "#" + number;
                }
                parent = elements.get(i - 1).id();
            }
            newest.put(element.id(), id);
            elements.set(i, element.at(id, parent));
        }
    }

    private static void check(boolean holds, String problem) {
        if (!holds) {
            throw new UnreadableDataException(problem, null);
        }
    }
}
