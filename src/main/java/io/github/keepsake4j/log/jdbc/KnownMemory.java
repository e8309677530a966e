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

    /** {@link Rows#hash}. */
    final byte[] hash;

    /** Whether it has messages: most appends to it can then be made by the short statement. */
    volatile boolean begun;

    /** What was enough to read it from the head, or null. */
    volatile PostgresRead.@Nullable Reach reach;

    KnownMemory(byte[] hash) {
        this.hash = hash;
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
