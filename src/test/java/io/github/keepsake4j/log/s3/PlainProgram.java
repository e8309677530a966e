package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A program that knows only the public fields of the document. */
final class PlainProgram {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** A message as such a program sees it. */
    record Message(String id, String parent, String role, String content, JsonNode files, int tokens, String time) {

        ObjectNode json() {
            ObjectNode json = JSON.createObjectNode();
            json.put("message_id", id)
                    .put("parent_message_id", parent)
                    .put("role", role)
                    .put("content", content);
            json.set("files", files);
            return json.put("token_count", tokens).put("created_at", time);
        }
    }

    private PlainProgram() {}

    static Message message(String id, String parent, String role, String content) {
        return new Message(id, parent, role, content, JSON.createArrayNode(), 3, "2026-02-03T04:05:06Z");
    }

    static JsonNode tree(String document) throws Exception {
        return JSON.readTree(document);
    }

    /** Reads strictly: each public field must be present with its type. */
    static List<Message> read(String document) throws Exception {
        JsonNode json = JSON.readTree(document);
        if (json.get("version").intValue() != 1) {
            throw new IllegalStateException("another version");
        }
        List<Message> messages = new ArrayList<>();
        for (JsonNode node : json.get("messages")) {
            messages.add(new Message(
                    text(node.get("message_id")),
                    node.get("parent_message_id").isNull() ? null : text(node.get("parent_message_id")),
                    text(node.get("role")),
                    text(node.get("content")),
                    array(node.get("files")),
                    number(node.get("token_count")),
                    text(node.get("created_at"))));
        }
        return messages;
    }

    /** Returns the thread that ends in the last message, which such a program finds by the parents. */
    static List<String> thread(String document) throws Exception {
        Map<String, Message> byId = new HashMap<>();
        List<Message> messages = read(document);
        messages.forEach(message -> byId.put(message.id(), message));
        List<String> thread = new ArrayList<>();
        Message at = messages.isEmpty() ? null : messages.get(messages.size() - 1);
        while (at != null) {
            thread.add(at.id());
            at = byId.get(at.parent());
        }
        Collections.reverse(thread);
        return thread;
    }

    /** Appends and writes only the known fields, so all other fields are lost. */
    static String appendForgetting(String document, Message... added) throws Exception {
        List<Message> messages = read(document);
        messages.addAll(List.of(added));
        ArrayNode array = JSON.createArrayNode();
        messages.forEach(message -> array.add(message.json()));
        ObjectNode json = JSON.createObjectNode().put("version", 1);
        json.set("messages", array);
        return json.toPrettyString();
    }

    /** Appends and keeps the unknown fields. */
    static String appendKeeping(String document, Message... added) throws Exception {
        ObjectNode json = (ObjectNode) JSON.readTree(document);
        for (Message message : added) {
            ((ArrayNode) json.get("messages")).add(message.json());
        }
        return json.toPrettyString();
    }

    private static String text(JsonNode node) {
        if (!node.isTextual()) {
            throw new IllegalStateException("no text: " + node.getNodeType());
        }
        return node.textValue();
    }

    private static JsonNode array(JsonNode node) {
        if (!node.isArray()) {
            throw new IllegalStateException("no array: " + node.getNodeType());
        }
        return node;
    }

    private static int number(JsonNode node) {
        if (!node.isInt()) {
            throw new IllegalStateException("no number: " + node.getNodeType());
        }
        return node.intValue();
    }
}
