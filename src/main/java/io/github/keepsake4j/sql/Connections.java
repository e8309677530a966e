package io.github.keepsake4j.sql;

import io.github.keepsake4j.jdbc.PostgresBuilder.Settings;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs work on the connections of a database. A thread never holds more than one connection at a time. */
public interface Connections extends AutoCloseable {

    /**
     * Work on a connection. It may be repeated from the start if the database requires that.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    interface Work<T> {

        /**
         * Does the work.
         *
         * @param session the connection in use
         * @return its result
         */
        T on(Session session) throws SQLException;
    }

    /**
     * A description of work for an error. The text is created only then: a key's text costs as much as some rows.
     *
     * @param what the action
     * @param key the memory
     */
    record Call(String what, MemoryKey key) {
        @Override
        public String toString() {
            return what + " " + key;
        }
    }

    /**
     * Opens a SQLite file on first use.
     *
     * @param file the file, whose directory must exist
     * @param mode how it is used
     * @param schema its tables, which are made
     * @return the connections
     */
    static Connections sqlite(Path file, SqliteMode mode, SqlSchema schema) {
        if (file.toString().startsWith("jdbc:")) {
            throw new InvalidInputException("file", "must be the path of a file, such as chat.db, and not a JDBC URL");
        }
        return new SqliteConnections(file, mode, schema, SqliteConnections.BUSY_TIMEOUT);
    }

    /** An additional check when the tables are checked. */
    @FunctionalInterface
    interface Look {

        /**
         * Looks.
         *
         * @param session the connection in use
         */
        void at(Session session) throws SQLException;
    }

    /**
     * Connects to PostgreSQL on first use.
     *
     * @param settings the server, and how it is used
     * @param schema its tables
     * @param preparation the statements that the driver prepares on the server, or null for none
     * @param look an additional check when the tables are checked
     * @return the connections
     */
    static Connections postgresql(Settings settings, SqlSchema schema, @Nullable Preparation preparation, Look look) {
        return new PostgresConnections(settings, new PostgresSchema(schema, settings, look), preparation);
    }

    /**
     * Runs work that writes, in one transaction that is committed when this method returns.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param work the work
     * @return its result
     */
    <T> T write(Object what, Work<T> work);

    /**
     * Runs work that erases, as {@link #write} does, and starts the removal of copies outside of the database's tables.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param work the work
     * @return its result
     */
    default <T> T erase(Object what, Work<T> work) {
        return write(what, work);
    }

    /**
     * Runs work that removes everything, as {@link #erase} does, even if the stored data is damaged.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param work the work
     * @return its result
     */
    default <T> T clear(Object what, Work<T> work) {
        return erase(what, work);
    }

    /**
     * Runs work whose statements are independent of each other. Each statement is committed when it returns. On SQLite they only
     * read.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param work the work
     * @return its result
     */
    <T> T single(Object what, Work<T> work);

    /**
     * Runs work that only reads, in several statements that see the same state.
     *
     * @param <T> the type of the result
     * @param what the action, for errors
     * @param work the work
     * @return its result
     */
    <T> T snapshot(Object what, Work<T> work);

    /**
     * Frees the space of removed rows, without a time limit.
     *
     * @param tables the tables whose rows are removed
     */
    void compact(List<String> tables);

    @Override
    void close();
}
