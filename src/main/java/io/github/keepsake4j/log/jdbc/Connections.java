package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import java.sql.SQLException;

/** Provides connections and runs work on them. A thread never holds more than one connection at a time. */
abstract class Connections implements AutoCloseable {

    /** Work on a connection. It may be repeated from the start if the database requires that. */
    @FunctionalInterface
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    /** What work does, for an error. The text is made only then: a key's text costs as much as some rows. */
    record Call(String what, MemoryKey key) {
        @Override
        public String toString() {
            return what + " " + key;
        }
    }

    /** Returns the differences of the database. */
    abstract Dialect dialect();

    /** Runs work that writes, in one transaction that is committed when this method returns. */
    abstract <T> T write(Object what, Work<T> work);

    /** Runs work that erases as {@link #write} does, and has what the database keeps besides its tables removed soon. */
    <T> T erase(Object what, Work<T> work) {
        return write(what, work);
    }

    /** Runs work whose statements are independent of each other. Each statement is committed when it returns. */
    abstract <T> T single(Object what, Work<T> work);

    @Override
    public abstract void close();
}
