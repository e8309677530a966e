package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps memories. A memory is a tree of messages. Its head is the newest message of the current branch. A memory also
 * has the views, summaries, leases and title that callers set. Only {@link #erase} deletes messages.
 *
 * <p>Every method is atomic and thread-safe. If several processes share the store, every method is also safe across
 * these processes. A change that was acknowledged is not lost when the process or the store's server is killed. A
 * memory need not be created. A memory that was never written is empty.
 *
 * <p>Every method throws {@link StorageUnavailableException} (retryable) if the store cannot be reached. It throws
 * {@link UnreadableDataException} if the stored data cannot be read or contradicts itself. A memory is never reported
 * as empty in these cases, and nothing is written over damaged data. {@link #check} finds damage and {@link #repair}
 * repairs it. After {@link #close()}, it throws {@link StorageClosedException}.
 */
public interface MessageLog extends Leases, Care, AutoCloseable {

    /**
     * Appends a batch of messages, all or none. Moves the head to the last message of the batch. Sets a view if the
     * append has one.
     *
     * <p>Idempotent by message id within the memory. If the batch is already stored, nothing changes, even if the head
     * has moved since, and {@link AppendResult#replayed()} returns true. The stored batch must have the same messages.
     * If the append names a parent, the stored batch must also have the same parent.
     *
     * @param key the memory
     * @param append the messages, and their place
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
     * Finds messages, on any branch. The cost depends on the number of messages. A log may find the messages of several
     * memories in fewer steps than one for each memory.
     *
     * @param selection the messages
     * @return for each memory of the selection, the messages that exist, in order of sequence
     */
    Map<MemoryKey, List<Found>> find(Selection selection);

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
     * that is stored before the first read is on exactly one page.
     *
     * @param key the memory
     * @param query the page to return
     * @return the page, in order of sequence
     */
    HistoryPage history(MemoryKey key, HistoryQuery query);

    /**
     * Lists the branches by their leaves. A leaf has the names of the named branches that end in it.
     *
     * @param key the memory
     * @return one entry for each message without children, newest first
     */
    List<Branch> branches(MemoryKey key);

    /**
     * Makes a change other than an append, such as {@link Change.MoveHead}.
     *
     * @param key the memory
     * @param change the change; see its kind
     * @param <R> the type of the change's result
     * @return the result that the kind of change describes
     * @throws UnknownMessageException if the change names a message that is not in the memory
     * @throws ErasedException if the change names an epoch and the memory was erased since
     */
    <R> R change(MemoryKey key, Change<R> change);

    /**
     * Lists a tenant's memories, newest first: in order of creation, or {@linkplain ListQuery#byActivity() by activity}.
     *
     * <p>By creation, each memory that exists before the first read is on exactly one page, even if memories are
     * written to in the meantime. By activity, this applies to each memory to which nothing is appended in the
     * meantime. An append moves its memory to the front, so no later page has it. If no earlier page had it either, it
     * is missing from this list and is on the first page of a new list. An imported message with an older
     * time moves its memory only if it is the memory's first. The memory then takes that time.
     *
     * <p>A query {@linkplain ListQuery#withUsage with usage} lists only the memories whose answers used tokens in its days.
     * {@link MemoryPage#usage()} has their sums. An answer counts on the UTC day of its time. A batch that is appended again
     * counts once. Erased memories do not count.
     *
     * <p>A query {@linkplain ListQuery#withMetadata with metadata} lists only the memories that have this text by this name.
     *
     * <p>A bucket has no order of creation, so its log lists the memories in the order of their names. A memory that cannot
     * be read is in {@link MemoryPage#damaged()} if the list has to read it. It never makes a list fail.
     *
     * @param tenant the tenant's id
     * @param query the page to return
     * @return the page; it may have fewer entries than the query allows, or none, and be followed by another one
     */
    MemoryPage list(String tenant, ListQuery query);

    /**
     * Reads the parts of a memory other than its messages. The cost depends on the parts, and on the number of the
     * memory's named branches, views or summaries.
     *
     * @param key the memory
     * @param parts the parts to read
     * @return the details; those of a memory that was never written are empty, and so is a part that is not read
     */
    MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts);

    /**
     * Lists the memories of a conversation's nodes, in all applications. Default: reads the whole list of the tenant.
     *
     * @param conversation the conversation; it need not have a memory of its own
     * @return the memories, in any order
     */
    default List<NodeKey> nodes(ConversationKey conversation) {
        List<NodeKey> nodes = new ArrayList<>();
        for (MemoryPage page : Reads.pages(this, conversation.tenant(), ListQuery.first(ListQuery.MAX_LIMIT))) {
            for (MemoryInfo info : page.memories()) {
                if (info.key() instanceof NodeKey node && node.conversationId().equals(conversation.conversationId())) {
                    nodes.add(node);
                }
            }
        }
        return nodes;
    }

    /**
     * Deletes a memory with its messages, views, summaries, leases, title and ids. A tombstone without content remains.
     * Its epoch lets the log refuse work that began before the erasure.
     *
     * @param key the memory
     * @return the new epoch
     */
    long erase(MemoryKey key);

    /**
     * Writes a memory's appends that the log holds back. Only a log in turn mode holds appends back. Every other
     * log has written an append when {@link #append} returns.
     *
     * @param key the memory
     */
    default void flush(MemoryKey key) {}

    /**
     * Names the store, for reports and the tag {@code backend} of metrics.
     *
     * @return a short name in lower case such as {@code postgresql}; default: the class's simple name
     */
    default String backend() {
        return getClass().getSimpleName();
    }

    /**
     * Releases connections and files. Idempotent. A data source or client that the user passed stays open. Every later
     * call fails. Default: does nothing.
     */
    @Override
    default void close() {}
}
