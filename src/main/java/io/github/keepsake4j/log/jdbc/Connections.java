package io.github.keepsake4j.log.jdbc;

import java.sql.SQLException;

/** Where connections come from, and how work runs on one. Nobody holds two at a time. */
interface Connections extends AutoCloseable {

    /** What is done on a connection. It may be done again from the start if the database asks for that. */
    @FunctionalInterface
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    /** Runs work that writes: all or nothing, and committed when this returns. */
    <T> T write(String what, Work<T> work);

    /** Runs work whose every statement stands for itself and is committed when it returns. */
    <T> T single(String what, Work<T> work);

    @Override
    void close();
}
