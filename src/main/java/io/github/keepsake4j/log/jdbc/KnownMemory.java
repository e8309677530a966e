package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Parent;
import org.jspecify.annotations.Nullable;

/**
 * What was lately seen of a memory in PostgreSQL. It only tells which statement to send first: a memory may be another by
 * then. Thread-safe.
 */
final class KnownMemory {

    /** The number of memories that are known at most. */
    static final int MOST = 10_000;

    private final byte[] hash;
    private volatile boolean begun;
    private volatile PostgresRead.@Nullable Reach reach;

    KnownMemory(byte[] hash) {
        this.hash = hash;
    }

    /** Returns {@link Rows#hash}. */
    byte[] hash() {
        return hash;
    }

    /** Returns whether it has messages: most appends to it can then be made by the short statement. */
    boolean isBegun() {
        return begun;
    }

    /** Returns what was enough to read it from the head, or null. */
    PostgresRead.@Nullable Reach reach() {
        return reach;
    }

    /** Records what was enough for a read. */
    void learn(PostgresRead.Reach enough) {
        reach = enough;
    }

    /** Records a read or an append that found messages, or left some. */
    void begin() {
        begun = true;
    }

    /** Records an append, which may have led elsewhere. */
    void appended(Append append) {
        begun = true;
        PostgresRead.Reach known = reach;
        if (!(append.parent() instanceof Parent.Head)) {
            reach = null;
        } else if (append.view() != null && known != null) {
            reach = known.with(PostgresReadSql.Part.VIEW);
        }
    }
}
