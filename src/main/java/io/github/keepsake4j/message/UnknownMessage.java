package io.github.keepsake4j.message;

import dev.langchain4j.data.message.CustomMessage;
import java.util.Map;

/**
 * A stored message of a type that this version does not know because a newer version wrote it, or a message that a repair found
 * unreadable. Its stored bytes are kept. It appears in the history and is never sent to a model.
 */
public final class UnknownMessage extends CustomMessage {

    /**
     * Creates a placeholder for a message of an unknown type.
     *
     * @param fields the stored fields as plain JSON values, including the name of the type
     */
    public UnknownMessage(Map<String, Object> fields) {
        super(fields);
    }

    /**
     * Creates the marker for a message whose stored bytes cannot be read.
     *
     * @return a message with only a type, {@code UNREADABLE}
     */
    public static UnknownMessage unreadable() {
        return new UnknownMessage(Map.of("type", "UNREADABLE"));
    }
}
