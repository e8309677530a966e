package io.github.keepsake4j.chat;

import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Optional;
import java.util.function.Function;

/** Loads the long-term memories that are shown in addition to the messages. Must be thread-safe. */
@FunctionalInterface
public interface RememberedSource {

    /** The source for a strategy without long-term memories. */
    RememberedSource NONE = key -> tail -> Optional.empty();

    /**
     * Begins to load the memories, while the caller reads the messages.
     *
     * @param key the memory
     * @return a function that waits for them for a bounded time, and returns those of the branch that was read; it does
     * not throw if they cannot be loaded, and returns none
     */
    Function<Tail, Optional<Remembered>> begin(MemoryKey key);
}
