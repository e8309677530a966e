package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/**
 * The entry of a memory in a list of memories, if the memory cannot be read.
 *
 * @param name the name of the damaged data in its storage, such as the name of an object
 * @param key the memory, or null if only the damaged data contains it
 * @param problem the reason, without text of messages
 */
public record DamagedMemory(String name, @Nullable MemoryKey key, String problem) {}
