package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Keeps memories. A memory is a tree of messages. Its head is the newest message of the current branch. A memory also
 * has the views, summaries, leases and title that callers set. Only {@link #erase} deletes messages.
 *
 * <p>Every method is atomic and thread-safe. If several processes share the storage, every method is also safe across
 * these processes. A change that was acknowledged is not lost when the process or the storage's server is killed. A
 * memory need not be created: a memory that was never written is empty.
 *
 * <p>Every method throws {@link StorageUnavailableException} (retryable) if the storage cannot be reached. It throws
 * {@link UnreadableDataException} if the stored data cannot be read or contradicts itself. A memory is never reported
 * as empty in these cases, and nothing is written over damaged data. {@link #check} finds damage and {@link #repair}
 * mends it. A log that keeps connections or files open throws {@link StorageClosedException} after {@link #close()}.
 */
public interface MessageLog extends AutoCloseable {

    /**
     * Appends a batch of messages, all or none. Moves the head to the last message of the batch. Sets a view if the
     * append has one.
     *
     * <p>Idempotent by message id within the memory: if the batch is already stored, nothing changes, even if the head
     * has moved since, and {@link AppendResult#replayed()} returns true. The stored batch must have the same messages.
     * If the append names a parent, the stored batch must also have the same parent.
     *
     * @param key the memory
     * @param append what to append, and where
     * @return the position after the append, and the head before it
     * @throws MessageIdConflictException if an id is already used for other content, or only a part of the batch is
     *     already stored
     * @throws HeadConflictException if the append expects another head or revision
     * @throws UnknownParentException if the parent is not in the memory
     * @throws UnknownMessageException if the view names a message that is not in the memory
     * @throws ErasedException if the append names an epoch and the memory was erased since
     */
    AppendResult append(MemoryKey key, Append append);

    /**
     * Reads the newest part of a branch. The cost depends on how much is returned, not on how much is stored.
     *
     * @param key the memory
     * @param query the bounds
     * @return the messages, oldest first, with the system message, view and summary in force
     * @throws UnknownMessageException if the query names a message that is not in the memory or not on the branch
     */
    Tail read(MemoryKey key, ReadQuery query);

    /**
     * Finds messages by their ids, on any branch. The cost depends on the number of ids.
     *
     * @param key the memory
     * @param ids the ids
     * @return the messages that were found, in order of sequence; ids of unknown messages are ignored
     */
    List<LoggedMessage> find(MemoryKey key, Collection<String> ids);

    /**
     * Returns messages by their sequences.
     *
     * @param key the memory
     * @param sequences the sequences, in any order
     * @return the messages that are there, in order of sequence
     */
    List<LoggedMessage> findAt(MemoryKey key, Collection<Long> sequences);

    /**
     * Finds messages of several memories by their ids. A log may do it in fewer steps than one for each memory.
     *
     * @param ids the ids of each memory
     * @return for each of the memories what {@link #find(MemoryKey, Collection)} returns
     */
    default Map<MemoryKey, List<LoggedMessage>> find(Map<MemoryKey, ? extends Collection<String>> ids) {
        return ids.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, of -> find(of.getKey(), of.getValue())));
    }

    /**
     * Returns messages of several memories by their sequences. A log may do it in fewer steps than one for each memory.
     *
     * @param sequences the sequences of each memory
     * @return for each of the memories what {@link #findAt(MemoryKey, Collection)} returns
     */
    default Map<MemoryKey, List<LoggedMessage>> findAt(Map<MemoryKey, ? extends Collection<Long>> sequences) {
        return sequences.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, of -> findAt(of.getKey(), of.getValue())));
    }

    /**
     * Returns which messages are on the current branch. The cost depends on the number of sequences and of the forks on the
     * branch, not on its length.
     *
     * @param key the memory
     * @param sequences the messages' sequences, in any order
     * @return those of the sequences that the current branch has
     */
    Set<Long> onBranch(MemoryKey key, Collection<Long> sequences);

    /**
     * Reads one page of all messages of all branches, by sequence. No cursor stays open between pages. Each message
     * that is stored before the first page is read is on exactly one page.
     *
     * @param key the memory
     * @param query the page to return
     * @return the page, in order of sequence
     */
    HistoryPage history(MemoryKey key, HistoryQuery query);

    /**
     * Lists the branches by their leaves. A leaf that named branches end in tells their names.
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
     * @return the previous head
     * @throws UnknownMessageException if the message is not in the memory
     * @throws ErasedException if the memory was erased since that epoch
     */
    String moveHead(MemoryKey key, String messageId, @Nullable Long epoch);

    /**
     * Moves a named branch to a message, without an append. The branch begins there if it does not exist yet. Does not raise
     * the revision.
     *
     * @param key the memory
     * @param name the branch's name, as in {@link Append#onBranch}
     * @param messageId the branch's new newest message
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     * @throws InvalidInputException if the name breaks a rule
     * @throws UnknownMessageException if the message is not in the memory
     * @throws ErasedException if the memory was erased since that epoch
     */
    void moveBranch(MemoryKey key, String name, String messageId, @Nullable Long epoch);

    /**
     * Returns where a named branch ends. Unlike a read of the branch, this tells whether the branch exists.
     *
     * @param key the memory
     * @param name the branch's name
     * @return the id of its newest message, or empty if there is no such branch
     */
    Optional<String> branchEnd(MemoryKey key, String name);

    /**
     * Sets or removes the outcome of a message. Raises the revision. The outcome that the message has already changes
     * nothing.
     *
     * @param key the memory
     * @param messageId the message
     * @param outcome how the message ended, or null to remove its outcome
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     * @throws UnknownMessageException if the message is not in the memory
     * @throws ErasedException if the memory was erased since that epoch
     */
    void setOutcome(MemoryKey key, String messageId, @Nullable Outcome outcome, @Nullable Long epoch);

    /**
     * Reads what is kept beside an answer about how it was made. Other reads do not return it.
     *
     * @param key the memory
     * @param messageId the answer's id
     * @return what is kept, or empty if nothing is
     * @throws UnknownMessageException if the message is not in the memory
     */
    Optional<Made> made(MemoryKey key, String messageId);

    /**
     * Reads how many tokens the answers of a tenant's memories used. An answer counts on the UTC day of its time. A
     * batch that is appended again counts once. Erased memories do not count.
     *
     * @param tenant the tenant's id
     * @param from the first day
     * @param toExclusive the day after the last day
     * @return one sum for each memory and day with usage, in order of days; in no particular order within a day
     * @throws InvalidInputException if the days are in the wrong order
     */
    List<DailyUsage> usage(String tenant, LocalDate from, LocalDate toExclusive);

    /**
     * Sets the title and the metadata that a list of memories shows. The previous ones are replaced.
     *
     * @param key the memory; it is created if it does not exist
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     * @param metadata short texts by name
     */
    void describe(MemoryKey key, @Nullable String title, Map<String, String> metadata);

    /**
     * Sets the title and keeps the metadata, in one step.
     *
     * @param key the memory; it is created if it does not exist
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     */
    void setTitle(MemoryKey key, @Nullable String title);

    /**
     * Changes a part of the metadata in one step. Names that the changes do not contain keep their texts, and the title
     * stays. So nothing is lost if several callers change different names at the same time.
     *
     * @param key the memory; it is created if it does not exist and a text is set
     * @param changes texts by name; null removes a name. Changes that make no difference write nothing, so an empty map
     *     only reads
     * @return the metadata after the changes; empty for a memory that has none
     * @throws InvalidInputException if a name is null
     */
    Map<String, String> mergeMetadata(MemoryKey key, Map<String, @Nullable String> changes);

    /**
     * Lists a tenant's memories, newest first: in order of creation, or {@linkplain ListQuery#byActivity() by activity}.
     *
     * <p>By creation, each memory that exists before the first page is read is on exactly one page, even if memories are
     * written to in the meantime. By activity, this holds for each memory to which nothing is appended in the meantime. An
     * append moves its memory to the front, so that it is on no later page. If its page was not read before, it is on
     * none; it is then on the first page of a new list. A message that is imported with an older time moves nothing,
     * except that the first message of a memory moves it to the message's own time.
     *
     * <p>A bucket has no order of creation, so its log lists the memories in the order of their names. A memory that cannot
     * be read is in {@link MemoryPage#damaged()} if listing it needs to read it. It never makes a list fail.
     *
     * @param tenant the tenant's id
     * @param query the page to return
     * @return the page; it may have fewer entries than the query allows, or none, and be followed by another one
     */
    MemoryPage list(String tenant, ListQuery query);

    /**
     * Reads what a memory has beside its messages and summaries. The cost depends on the number of its views and named
     * branches.
     *
     * @param key the memory
     * @return the details; those of a memory that was never written are empty
     */
    MemoryDetails details(MemoryKey key);

    /**
     * Lists the memories of a conversation's nodes, in all applications. Default: reads the whole list of the tenant.
     *
     * @param conversation the conversation; it need not have a memory of its own
     * @return the memories, in any order
     */
    default List<NodeKey> nodes(ConversationKey conversation) {
        List<NodeKey> nodes = new ArrayList<>();
        Optional<ListQuery> next = Optional.of(ListQuery.first(1_000));
        while (next.isPresent()) {
            MemoryPage page = list(conversation.tenant(), next.get());
            for (MemoryInfo info : page.memories()) {
                if (info.key() instanceof NodeKey node && node.conversationId().equals(conversation.conversationId())) {
                    nodes.add(node);
                }
            }
            next = page.next();
        }
        return nodes;
    }

    /**
     * Stores a summary beside the messages. Earlier summaries are kept. On each branch, the summary that covers the
     * most messages is in force. If several cover the same messages, the newest of them is in force.
     *
     * @param key the memory
     * @param summary the summary, which names the last message that it covers
     * @param epoch the epoch in which the summarized messages were read
     * @throws UnknownMessageException if the last covered message is not in the memory
     * @throws ErasedException if the memory was erased since that epoch
     */
    void putSummary(MemoryKey key, Summary summary, long epoch);

    /**
     * Reads all summaries that were ever stored.
     *
     * @param key the memory
     * @return the summaries, in the order in which they were stored
     */
    List<Summary> summaries(MemoryKey key);

    /**
     * Takes or renews a lease. A lease is the right to do one kind of work on a memory, until it is released or
     * expires.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the caller; if this owner already holds the lease, it is renewed
     * @param duration the time from now until the lease expires, by the clock of the store if it has one, else by the
     *     process's; more than zero
     * @return the lease, or empty if another owner holds it
     */
    Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration);

    /**
     * Releases a lease. Does nothing if the owner does not hold it any more.
     *
     * @param key the memory
     * @param name the kind of work
     * @param owner the id of the lease's owner
     */
    void releaseLease(MemoryKey key, String name, String owner);

    /**
     * Deletes a memory with its messages, views, summaries, leases, title and ids. A tombstone without content remains.
     * Its epoch lets the log refuse work that began before the erasure.
     *
     * @param key the memory
     * @return the new epoch
     */
    long erase(MemoryKey key);

    /**
     * Erases a memory if nothing was appended to it since a time, in one step: an append is either seen, and the memory stays, or it
     * comes after the erasure.
     *
     * @param key the memory
     * @param since the time; {@link MemoryInfo#lastUse()} must be before it
     * @return whether it was erased; false for a memory that does not exist
     * @throws UnreadableDataException if the memory's newest message cannot be read; it is not erased
     */
    boolean eraseIfIdle(MemoryKey key, Instant since);

    /**
     * Removes the tombstones of a tenant's memories that were erased before a time. After that, work that began before
     * such an erasure and is still under way is not refused any more. Logs that keep a tombstone in a row remove nothing.
     *
     * @param tenant the tenant's id
     * @param erasedBefore the time, which is earlier than any work that is still under way can have begun
     * @return the number of removed tombstones
     */
    default long removeTombstones(String tenant, Instant erasedBefore) {
        return 0;
    }

    /**
     * Checks a whole memory for damage. Reads all of it, in bounded heap, and changes nothing.
     *
     * @param key the memory
     * @return what is damaged, at most {@link Damage#MAX_REPORTED} entries; empty for a sound memory
     */
    List<Damage> check(MemoryKey key);

    /**
     * Makes a damaged memory usable again. A message whose place is sound and whose content cannot be read gets the outcome
     * {@link io.github.keepsake4j.message.Outcome#UNREADABLE}: reads return an {@link
     * io.github.keepsake4j.message.UnknownMessage} in its place, and everything else. If the head's place is damaged, the head is
     * moved to the newest message whose whole path to the root is sound. Views and summaries are dropped if they cannot be read or
     * name a message that is missing. The bytes of messages are neither deleted nor changed, so {@link #check} still reports the
     * damaged ones. A memory without damage is not changed.
     *
     * @param key the memory
     * @return what was done
     * @throws UnreadableDataException if the memory cannot be read at all; restore it from a backup, or erase it
     */
    Repair repair(MemoryKey key);

    /**
     * Writes the appends to a memory that the log holds back. Only a log in turn mode holds appends back. Every other
     * log has written an append when {@link #append} returns.
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
