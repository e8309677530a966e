package io.github.keepsake4j.log.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Where connections come from, and how a transaction runs on one. */
interface Connections extends AutoCloseable {

    /** What is done in a transaction. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Runs work that writes: it sees and changes the newest state, all or nothing. */
    <T> T write(String what, Work<T> work);

    /** Runs work that reads: all of it sees one state. */
    <T> T read(String what, Work<T> work);

    @Override
    void close();
}
