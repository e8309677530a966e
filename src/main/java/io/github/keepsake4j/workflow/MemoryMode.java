package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The memory that a language model node uses. */
public enum MemoryMode {
    /** The conversation's memory, which contains the messages that the user sees. */
    CONVERSATION,
    /** The node's own memory within the conversation. */
    NODE;

    /**
     * Returns the mode with the given JSON name.
     *
     * @param name {@code conversation} or {@code node}; null for {@link #CONVERSATION}
     * @return the mode
     * @throws InvalidInputException if the name is a different one
     */
    public static MemoryMode of(@Nullable String name) {
        if (name == null) {
            return CONVERSATION;
        }
        return Stream.of(values())
                .filter(mode -> mode.jsonName().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidInputException("mode", "must be conversation or node"));
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
