package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Parent;
import org.jspecify.annotations.Nullable;

/**
 * The recently seen state of a memory in PostgreSQL. It only decides which statement is sent first, because the memory
 * may have changed since. Thread-safe.
 */
final class KnownMemory {

    /** The number of memories that are known at most. */
    static final int MOST = 10_000;

    /** {@link Rows#hash}. */
    final byte[] hash;

    /** Whether it has messages: most appends to it can then be made by the short statement. */
    volatile boolean begun;

    /** The parts that were sufficient to read it from the head, or null. */
    volatile PostgresRead.@Nullable Reach reach;

    KnownMemory(byte[] hash) {
        this.hash = hash;
    }

    /** Records an append, which may have changed the branch. */
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
