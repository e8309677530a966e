package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The heads of the memories that one search uses, and where a running turn of one goes on. Used by one thread. */
final class Heads {

    private final Function<MemoryKey, MessageLog> logs;
    private final Map<MemoryKey, Tail> read = new HashMap<>();
    private final Map<MemoryKey, Parent> ends = new HashMap<>();

    Heads(Function<MemoryKey, MessageLog> logs) {
        this.logs = logs;
    }

    /** Records a read of a memory, and the message behind which its turn goes on. */
    void put(MemoryKey key, Tail tail, Parent end) {
        read.put(key, tail);
        ends.put(key, end);
    }

    /** Returns the message behind which a memory goes on: usually its head. */
    Parent end(MemoryKey key) {
        return ends.getOrDefault(key, Parent.head());
    }

    /** Returns the head of a memory. It may have messages. */
    Tail of(MemoryKey key) {
        return read.computeIfAbsent(key, unread -> logs.apply(unread).read(unread, ReadQuery.newest(0)));
    }
}
