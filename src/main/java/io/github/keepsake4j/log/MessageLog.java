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
 * <p>Every method is atomic and safe across threads and, where the storage is shared, across processes. What was
 * acknowledged survives a kill of either side. A memory needs no creation: one that was never written is empty.
 *
 * <p>Every method throws {@link StorageUnavailableException} (retryable) when the storage cannot be reached and
 * {@link UnreadableDataException} when what is stored cannot be read or contradicts itself; neither is ever reported as
 * "empty", and nothing is written over damage. {@link #check} finds it and {@link #repair} mends it. A log that keeps
 * something open throws {@link LogClosedException} after {@link #close()}.
 */
public interface MessageLog extends AutoCloseable {

    /**
     * Appends a batch of messages, all or none, moves the head to the last one, and sets a view if one is given.
     *
     * <p>Idempotent by message id within the memory: a batch that is there already with the same messages (and the same
     * parent, where one is named) changes nothing and says so, whatever the head is by now.
     *
     * @param key the memory
     * @param append what to append, and where
     * @return where the messages went, and the head from before
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
     * @return the messages, oldest first, and what stands beside them
     * @throws UnknownMessageException if the query names a message that is not there, or not on the branch
     */
    Tail read(MemoryKey key, ReadQuery query);

    /**
     * Finds messages by their ids, on whichever branches they are. Costs what it returns.
     *
     * @param key the memory
     * @param ids the ids
     * @return the messages that are there, in order of sequence; ids that are not there have none
     */
    List<LoggedMessage> find(MemoryKey key, Collection<String> ids);

    /**
     * Reads one page of everything, all branches, by sequence. Pages hold no cursor open: a message that is there when
     * the first page is read is met exactly once.
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
     * Moves the head to another message. Nothing is deleted: what was the current branch can be moved back to.
     *
     * @param key the memory
     * @param messageId the new head
     * @param epoch the epoch that the caller works in, or null for whichever it is
     * @return the head from before
     * @throws UnknownMessageException if the message is not there
     * @throws ErasedException if the memory was erased since that epoch
     */
    String moveHead(MemoryKey key, String messageId, @Nullable Long epoch);

    /**
     * Sets what a list of memories shows.
     *
     * @param key the memory; it comes into being if it is not there
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     * @param metadata any short texts by name; replaces what was there
     */
    void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata);

    /**
     * Lists a tenant's memories, newest first by when they came into being. A memory that is there when the first page
     * is read is met exactly once, whatever is written meanwhile.
     *
     * @param tenant the tenant's id
     * @param query the page
     * @return the page
     */
    MemoryPage list(String tenant, ListQuery query);

    /**
     * Keeps a summary beside the log. All versions are kept; on a branch the newest one of the newest covered message
     * counts.
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
     * @param owner who asks; the same owner renews
     * @param duration how long from now, by the store's clock; more than zero
     * @return the lease, or empty while another owner holds it
     */
    Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration);

    /**
     * Gives a lease back. Nothing happens if the owner does not hold it any more.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner who holds it
     */
    void releaseLease(MemoryKey key, String name, String owner);

    /**
     * Deletes a memory: messages, views, summaries, leases, title, ids. What stays is a tombstone without content, whose
     * epoch makes the store refuse what was begun before.
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
     * Writes what the log holds back of a memory. Only a log that was told to hold something back does so; all others have
     * written it when {@link #append} returned.
     *
     * @param key the memory
     */
    default void flush(MemoryKey key) {}

    /**
     * Names the backend, for metrics and reports.
     *
     * @return a short name in lower case such as {@code postgresql}; the class's name unless a log says otherwise
     */
    default String backend() {
        return getClass().getSimpleName();
    }

    /** Releases what the log holds. Idempotent. Storage that the user gave stays open. */
    @Override
    void close();
}
