package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/** Thrown when a memory has more messages than the heap of this process has room for. Nothing of the memory is lost. */
public class MemoryTooLargeException extends KeepsakeException {

    /**
     * Creates an exception.
     *
     * @param key the memory
     * @param messages how many messages it has at least
     * @param room for how many messages there is room
     */
    public MemoryTooLargeException(MemoryKey key, long messages, long room) {
        super("Memory " + key + " has " + messages + " messages or more, and this process has room for about " + room
                + ": give it a larger heap (-Xmx), or copy the memory to a database such as SQLite");
    }
}
