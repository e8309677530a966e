package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which memory a language model node reads. */
public enum MemoryMode {
    /** The conversation's: what the user sees. */
    CONVERSATION,
    /** The node's own, within the conversation. */
    NODE;

    /**
     * Reads the JSON name.
     *
     * @param name {@code conversation} or {@code node}; null for the default
     * @return the mode
     * @throws InvalidInputException if it is another name
     */
    public static MemoryMode of(@Nullable String name) {
        if (name == null) {
            return CONVERSATION;
        }
        for (MemoryMode mode : values()) {
            if (mode.jsonName().equals(name)) {
                return mode;
            }
        }
        throw new InvalidInputException("mode", "must be conversation or node");
    }

    /**
     * Returns the JSON name.
     *
     * @return the name in lower case
     */
    public String jsonName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
