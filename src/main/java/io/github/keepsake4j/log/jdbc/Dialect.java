package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/** The differences between databases. The statements that are the same for all are in {@link Sql}. */
interface Dialect {

    /** The statements in this database's own SQL. */
    OwnSql sql();

    /** The store's name in metrics. */
    String name();

    /** Returns numbers as this database takes them in one parameter. */
    Object array(List<Long> numbers);

    /** Removes a memory from its lists within the open transaction, and locks its row. */
    default void takeOffLists(Session session, byte[] hash) throws SQLException {
        Long epoch = session.first(sql().lockMemory(), row -> row.getLong("epoch"), hash);
        if (epoch != null) {
            session.update(sql().takeOffLists(), epoch, hash);
        }
    }

    /** The memory's row, locked and sound, or {@link Memory#NONE} if there was none to lock. */
    default Memory locked(Session session, byte[] hash) throws SQLException {
        return Memory.lock(session, this, hash);
    }

    /** The runs below a message, or null if it does not start one, or nothing is repeated. */
    default Long @Nullable [] runsBelow(Session session, byte[] hash, Node node) throws SQLException {
        return null;
    }

    /**
     * Computes the columns of the memory's row that repeat data of the head's branch again. Each transaction that moves
     * the head, adds a summary or repairs a memory ends with this. By default, the rows repeat nothing.
     */
    default void recount(Session session, byte[] hash) throws SQLException {}

    /** Returns whether the repeated columns of the memory's row are correct. */
    default boolean hasRepeatedWell(Session session, byte[] hash) throws SQLException {
        return true;
    }

    /** Erases a memory within the open transaction, and returns the next epoch. */
    long erase(Session session, byte[] hash) throws SQLException;

    /** Sets an outcome, as in {@link io.github.keepsake4j.log.Change.SetOutcome}. */
    default void setOutcome(
            Connections connections, MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch) {
        byte[] hash = Rows.hash(key);
        connections.write("outcome in memory " + key, session -> {
            Memory memory = Memory.lock(session, this, hash);
            AppendRules.checkEpoch(key, epoch, memory.epoch());
            List<Optional<String>> before = session.list(
                    Sql.OUTCOME_BY_ID, row -> Optional.ofNullable(row.getString("outcome")), hash, messageId);
            if (before.isEmpty()) {
                throw UnknownMessageException.notThere(key, "messageId", messageId);
            }
            String text = NotesText.of(outcome);
            if (!before.get(0).equals(Optional.ofNullable(text))) {
                session.update(Sql.SET_OUTCOME, text, hash, messageId);
                session.update(Sql.BUMP_REVISION, hash);
            }
            return true;
        });
    }

    /**
     * Appends, as in {@link io.github.keepsake4j.log.MessageLog#append}.
     *
     * @param texts the batch's messages as JSON
     * @param names the metadata names by which a memory that the append creates is listed
     * @param now the store's time in microseconds
     */
    AppendResult append(
            Connections connections, MemoryKey key, Append append, List<String> texts, ListedMetadata names, long now);

    /** Finds messages of one memory by their ids, as in {@link io.github.keepsake4j.log.MessageLog#find}. */
    List<Found> find(Connections connections, MemoryKey key, Set<String> ids, boolean withMade);

    /** Finds messages of one memory by their sequences. */
    List<Found> findAt(Connections connections, MemoryKey key, SortedSet<Long> sequences, boolean withMade);

    /**
     * Finds messages of several memories in one statement. Returns empty if this database needs one for each memory.
     */
    default Optional<Map<MemoryKey, List<Found>>> findInSeveral(Connections connections, Selection selection) {
        return Optional.empty();
    }

    /** Reads, as in {@link io.github.keepsake4j.log.MessageLog#read}. */
    Tail read(Connections connections, MemoryKey key, ReadQuery query);
}
