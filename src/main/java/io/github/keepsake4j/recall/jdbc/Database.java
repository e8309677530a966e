package io.github.keepsake4j.recall.jdbc;

import java.sql.SQLException;

/** Provides sessions of a database. A thread never holds more than one at a time. */
interface Database extends AutoCloseable {

    /** Work on a session. It may be repeated from the start if the database requires that. */
    @FunctionalInterface
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    /** Runs work that writes, in one transaction that is committed when this method returns. */
    <T> T write(String what, Work<T> work);

    /** Runs work that erases as {@link #write} does, and has what the database keeps besides its tables removed soon. */
    default <T> T erase(String what, Work<T> work) {
        return write(what, work);
    }

    /** Runs work that removes everything, as {@link #erase} does, also where what is stored is damaged. */
    default <T> T clear(String what, Work<T> work) {
        return erase(what, work);
    }

    /** Runs work that only reads. */
    <T> T read(String what, Work<T> work);

    /** Runs work that only reads, in several statements that see one moment. */
    <T> T snapshot(String what, Work<T> work);

    /** Gives the space of removed rows back. */
    void compact();

    @Override
    void close();
}
