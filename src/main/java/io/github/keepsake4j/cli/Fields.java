package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Data as fields of JSON. Pure functions. */
final class Fields {

    private Fields() {}

    /** Returns the fields of a key, none for null. */
    static JsonObject of(@Nullable MemoryKey key) {
        JsonObject fields = new JsonObject();
        if (key instanceof ConversationKey conversation) {
            return fields.with("memory", key.canonical()).with("session_id", conversation.conversationId());
        }
        return key instanceof NodeKey node
                ? fields.with("memory", key.canonical())
                        .with("session_id", node.conversationId())
                        .with("app_id", node.appId())
                        .with("node_id", node.nodeId())
                : fields;
    }

    static List<JsonObject> of(List<Damage> damage) {
        return damage.stream()
                .map(each -> new JsonObject()
                        .with("kind", Printable.name(each.kind()))
                        .with("sequence", each.sequence())
                        .with("message_id", each.messageId())
                        .with("problem", each.problem()))
                .toList();
    }
}
