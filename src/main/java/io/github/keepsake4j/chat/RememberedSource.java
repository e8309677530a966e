package io.github.keepsake4j.chat;

import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Optional;
import java.util.function.Function;

/** Loads the memories that are shown beside a memory's messages. Must be thread-safe. */
@FunctionalInterface
public interface RememberedSource {

    /** Where a strategy shows no memories. */
    RememberedSource NONE = key -> tail -> Optional.empty();

    /**
     * Begins to load the memories, while the caller reads the messages.
     *
     * @param key the memory
     * @return what waits for them, for a bounded time, and returns those that are of the branch that was read. It throws nothing
     *     because of them: if they cannot be loaded, none are shown
     */
    Function<Tail, Optional<Remembered>> begin(MemoryKey key);
}
