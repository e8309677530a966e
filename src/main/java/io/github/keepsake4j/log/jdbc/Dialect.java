package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** The differences between databases. Statements that all of them take are in {@link Sql}. */
interface Dialect {

    /** The backend's name in metrics. */
    String name();

    /** A memory's row. Parameter: key. */
    String memory();

    /** A memory's row, which no other writer changes before the transaction ends. Parameter: key. */
    String lockMemory();

    /** Makes a message the head. Changes nothing if the old head is not there. Parameters: its sequence, key, epoch. */
    String moveHead();

    /**
     * Sets a memory's numbers, and its head, or none if the head's sequence is null. Parameters: the head's sequence, key,
     * epoch, revision, newest sequence, sum of tokens.
     */
    String mend();

    /** The messages without children, newest first. Parameters: key, five times. */
    String leaves();

    /** Erases a memory within the transaction that is open, and returns the epoch that follows. */
    long erase(Session session, byte[] hash) throws SQLException;

    /**
     * Appends, as {@link io.github.keepsake4j.log.MessageLog#append} says.
     *
     * @param texts the batch's messages as JSON
     * @param now the store's time in microseconds
     */
    AppendResult append(Connections connections, MemoryKey key, Append append, List<String> texts, long now);

    /** Finds, as {@link io.github.keepsake4j.log.MessageLog#find} says. */
    List<LoggedMessage> find(Connections connections, MemoryKey key, Set<String> ids);

    /** Reads, as {@link io.github.keepsake4j.log.MessageLog#read} says. */
    Tail read(Connections connections, MemoryKey key, ReadQuery query);
}
