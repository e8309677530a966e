package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps memories. A memory is a tree of messages with a head (the newest message of the current branch), and beside it
 * what callers set: views, summaries, leases, a title. Nothing but {@link #erase} deletes.
 *
 * <p>Every method is atomic and safe across threads and, where the storage is shared, across processes. A change that was
 * acknowledged survives a kill of the process or of the storage's server. A memory need not be created: one that was never
 * written is empty.
 *
 * <p>Every method throws {@link StorageUnavailableException} (retryable) when the storage cannot be reached and
 * {@link UnreadableDataException} when what is stored cannot be read or contradicts itself; neither is ever reported as
 * "empty". Nothing is written over damage. {@link #check} finds damage and {@link #repair} mends it. A log that keeps
 * connections or files open throws {@link LogClosedException} after {@link #close()}.
 */
public interface MessageLog extends AutoCloseable {

    /**
     * Appends a batch of messages, all or none, moves the head to the last one, and sets a view if one is given.
     *
     * <p>Idempotent by message id within the memory: a batch that is stored already changes nothing, whatever the head is
     * by now, and {@link AppendResult#replayed()} says so. The stored batch must have the same messages, and the same parent
     * if the append names one.
     *
     * @param key the memory
     * @param append what to append, and where
     * @return the position after the append, and the head from before
     * @throws MessageIdConflictException if an id is used with other content, or only a part of the batch is there
     * @throws HeadConflictException if another head or revision was expected
     * @throws UnknownParentException if the parent is not there
     * @throws UnknownMessageException if the view names a message that is not there
     * @throws ErasedException if the memory was erased since the epoch that the batch belongs to
     */
    AppendResult append(MemoryKey key, Append append);

    /**
     * Reads the newest part of a branch. The cost depends on what is returned, not on what is stored.
     *
     * @param key the memory
     * @param query the bounds
     * @return the messages, oldest first, with the system message, view and summary in force
     * @throws UnknownMessageException if the query names a message that is not there, or not on the branch
     */
    Tail read(MemoryKey key, ReadQuery query);

    /**
     * Finds messages by their ids, on any branch. The cost depends on the number of ids.
     *
     * @param key the memory
     * @param ids the ids
     * @return the messages that are there, in order of sequence; an id that is not there is left out
     */
    List<LoggedMessage> find(MemoryKey key, Collection<String> ids);

    /**
     * Reads one page of all messages of all branches, by sequence. No cursor stays open between pages. A message that is
     * there when the first page is read is on exactly one page.
     *
     * @param key the memory
     * @param query the page
     * @return the page, in order of sequence
     */
    HistoryPage history(MemoryKey key, HistoryQuery query);

    /**
     * Lists the branches by their leaves.
     *
     * @param key the memory
     * @return one entry for each message without children, newest first
     */
    List<Branch> branches(MemoryKey key);

    /**
     * Moves the head to another message. Nothing is deleted: the head can be moved back.
     *
     * @param key the memory
     * @param messageId the new head
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     * @return the head from before
     * @throws UnknownMessageException if the message is not there
     * @throws ErasedException if the memory was erased since that epoch
     */
    String moveHead(MemoryKey key, String messageId, @Nullable Long epoch);

    /**
     * Sets the title and the metadata that a list of memories shows.
     *
     * @param key the memory; it is created if it is not there
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     * @param metadata short texts by name; they replace the previous ones
     */
    void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata);

    /**
     * Lists a tenant's memories by their creation, newest first. A memory that is there when the first page is read is on
     * exactly one page, whatever is written meanwhile.
     *
     * @param tenant the tenant's id
     * @param query the page
     * @return the page
     */
    MemoryPage list(String tenant, ListQuery query);

    /**
     * Stores a summary beside the log. All versions are kept. The summary in force on a branch is the one that covers most of
     * it; of several that cover up to the same message, it is the newest.
     *
     * @param key the memory
     * @param summary the summary, which names the message that it covers up to
     * @param epoch the epoch that the summarized messages were read in
     * @throws UnknownMessageException if the covered message is not there
     * @throws ErasedException if the memory was erased since that epoch
     */
    void putSummary(MemoryKey key, Summary summary, long epoch);

    /**
     * Reads every summary that was ever put.
     *
     * @param key the memory
     * @return all versions, in the order in which they were put
     */
    List<Summary> summaries(MemoryKey key);

    /**
     * Takes or renews a lease: the right to do one kind of work on a memory, until it is released or expires.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the caller; the holder of the lease renews it
     * @param duration how long from now, by the store's clock; more than zero
     * @return the lease, or empty while another owner holds it
     */
    Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration);

    /**
     * Gives a lease back. Nothing happens if the owner does not hold it any more.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the holder
     */
    void releaseLease(MemoryKey key, String name, String owner);

    /**
     * Deletes a memory: messages, views, summaries, leases, title, ids. A tombstone without content stays. Its epoch makes
     * the store refuse work that was begun before.
     *
     * @param key the memory
     * @return the new epoch
     */
    long erase(MemoryKey key);

    /**
     * Walks through a whole memory and returns what is damaged. Reads everything, with bounded heap, and changes nothing.
     *
     * @param key the memory
     * @return the damage, at most the first {@link Damage#MAX_REPORTED} of it; empty for a sound memory
     */
    List<Damage> check(MemoryKey key);

    /**
     * Makes a damaged memory usable again. If the head is not sound, it moves to the newest message whose whole path to its
     * root is sound and readable. Views and summaries that cannot be read, or that name what is not there, are dropped. No
     * message is deleted or changed, so {@link #check} still reports the damaged ones. Without damage nothing is changed.
     *
     * @param key the memory
     * @return what was done
     * @throws UnreadableDataException if the memory cannot be read at all; restore it from a backup, or erase it
     */
    Repair repair(MemoryKey key);

    /**
     * Writes the appends to a memory that the log holds back. Only a log in turn mode holds any back; every other log has
     * written an append when {@link #append} returns.
     *
     * @param key the memory
     */
    default void flush(MemoryKey key) {}

    /**
     * Names the backend, for metrics and reports.
     *
     * @return a short name in lower case such as {@code postgresql}; default: the class's simple name
     */
    default String backend() {
        return getClass().getSimpleName();
    }

    /** Releases connections and files. Idempotent. A data source or client that the user passed stays open. */
    @Override
    void close();
}
