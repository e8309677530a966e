package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A key as fields of JSON. */
final class KeyFields {

    private KeyFields() {}

    static Map<String, @Nullable Object> of(MemoryKey key) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("memory", key.canonical());
        if (key instanceof ConversationKey conversation) {
            fields.put("session_id", conversation.conversationId());
        } else if (key instanceof NodeKey node) {
            fields.put("session_id", node.conversationId());
            fields.put("app_id", node.appId());
            fields.put("node_id", node.nodeId());
        }
        return fields;
    }
}
