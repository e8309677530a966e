package io.github.keepsake4j.message;

import dev.langchain4j.data.message.CustomMessage;
import java.util.Map;

/**
 * A stored message of a type that this version does not know (a newer one wrote it). Its stored bytes are kept and it
 * shows in the history; a model never sees it.
 */
public final class UnknownMessage extends CustomMessage {

    /**
     * Makes the stand-in for a message of an unknown type.
     *
     * @param fields the stored fields as plain JSON values, the type's name among them
     */
    public UnknownMessage(Map<String, Object> fields) {
        super(fields);
    }
}
