package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The heads of the memories that one search uses. Each is read once. Used by one thread. */
final class Heads {

    private final Function<MemoryKey, MessageLog> logs;
    private final Map<MemoryKey, Tail> read = new HashMap<>();

    Heads(Function<MemoryKey, MessageLog> logs) {
        this.logs = logs;
    }

    /** Records a read of a memory. */
    void put(MemoryKey key, Tail tail) {
        read.put(key, tail);
    }

    /** Returns the head of a memory. It may have messages. */
    Tail of(MemoryKey key) {
        return read.computeIfAbsent(key, unread -> logs.apply(unread).read(unread, ReadQuery.newest(0)));
    }
}
