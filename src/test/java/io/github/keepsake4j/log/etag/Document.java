package io.github.keepsake4j.log.etag;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.io.IOException;
import java.time.Instant;
import java.util.List;

/**
 * One memory as the content of an object.
 *
 * @param ids the key's ids
 * @param number its number among the tenant's memories, 0 while it is not listed
 * @param state the memory's state
 */
record Document(List<String> ids, long number, State state) {

    private static final ObjectMapper JSON = JsonMapper.builder()
            // Half a surrogate pair has no bytes of its own in UTF-8.
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .addModule(new SimpleModule()
                    .addAbstractTypeMapping(Entry.Body.class, Entry.Text.class)
                    .addSerializer(Instant.class, ToStringSerializer.instance)
                    .addDeserializer(Instant.class, new JsonDeserializer<>() {
                        @Override
                        public Instant deserialize(JsonParser parser, DeserializationContext context)
                                throws IOException {
                            return Instant.parse(parser.getText());
                        }
                    }))
            .build();

    static Document of(MemoryKey key, long number, State state) {
        List<String> ids = key instanceof NodeKey node
                ? List.of(node.tenant(), node.appId(), node.conversationId(), node.nodeId())
                : List.of(key.tenant(), ((ConversationKey) key).conversationId());
        return new Document(ids, number, state);
    }

    static Document parse(byte[] bytes) throws IOException {
        return JSON.readValue(bytes, Document.class);
    }

    byte[] bytes() throws IOException {
        return JSON.writeValueAsBytes(this);
    }

    MemoryKey key() {
        return ids.size() == 2
                ? ConversationKey.of(ids.get(0), ids.get(1))
                : NodeKey.of(ids.get(0), ids.get(1), ids.get(2), ids.get(3));
    }
}
