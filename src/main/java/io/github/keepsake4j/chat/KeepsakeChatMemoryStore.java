package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Outbox;
import io.github.keepsake4j.view.Reading;
import io.github.keepsake4j.view.ShownView;
import io.github.keepsake4j.view.ViewReader;
import io.github.keepsake4j.view.ViewWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A LangChain4j store over the log. It serves LangChain4j's window memories and all other memories that rewrite a list.
 * A framework may change the list in any way: the store returns the list that was set last. The log keeps every message
 * that was ever in a list.
 *
 * <p>A list that is set is compared with the messages that the memory shows. A message object that {@link #getMessages}
 * returned is recognized wherever it comes back, even after {@link #deleteMessages}. If the list contains no such
 * object, for example because it was read from JSON, its messages are compared with the shown ones, in order. New
 * messages are appended. A message that is not in the list is no longer shown.
 *
 * <p>Thread-safe. Any number of stores and processes may use one memory. Each update is one step. Messages that other
 * writers have added since the caller's read are shown behind the list.
 *
 * <p>While the memory does not change, the list that this store returned or set last is not read again:
 * {@link #getMessages} then reads only the memory's position. The cache of these lists is bounded by their length.
 *
 * <p>Errors are {@code KeepsakeException}s. If an update fails with a retryable error, a list with the same message
 * objects can be set again: they are never stored twice.
 */
public final class KeepsakeChatMemoryStore implements ChatMemoryStore {

    /** The number of messages that the first read of a memory requests. Most windows are no larger. */
    private static final int FIRST_GUESS = 32;

    /**
     * The number of messages that a read requests beyond the number that the previous read returned. A window moves by
     * a few messages between two reads.
     */
    private static final int MARGIN = 8;

    /**
     * The maximum number of memories whose state is kept. A process rarely has more active conversations at a time.
     */
    private static final int MEMORIES = 1_000;

    private final SharedParts memories;

    /** The number of messages that the newest read of each memory returned. */
    private final RecentlyUsed<MemoryKey, Integer> sizes = new RecentlyUsed<>(MEMORIES);

    private final RecentLists recent = new RecentLists();

    private final RecentlyUsed<MemoryKey, Outbox> outboxes = new RecentlyUsed<>(MEMORIES);

    /**
     * Creates a store. Does no I/O. Applications obtain one from {@code Keepsake.chatMemoryStore()}.
     *
     * @param memories the parts that all memories share
     */
    KeepsakeChatMemoryStore(SharedParts memories) {
        this.memories = memories;
    }

    /**
     * Returns the list that was set last, followed by the messages that other writers have added since. If no list was
     * set, returns the messages that the memory shows, but not more than the newest {@value ViewReader#MOST_UNSET} of
     * {@value ViewReader#MOST_UNSET_TOKENS} tokens and the system message: so a conversation of any length can be
     * opened with a small heap. {@code Conversation.history} returns all of them.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return a new, mutable list; empty for a memory that was never written
     */
    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        MemoryKey key = memories.key(memoryId);
        RecentLists.Kept last = recent.get(key);
        if (last != null && isAt(key, last.reading().position())) {
            return handOut(key, last.reading(), last.messages());
        }
        Integer size = sizes.get(key);
        int guess = size == null ? FIRST_GUESS : size + MARGIN;
        ShownView shown = read(key, guess, 0);
        List<ChatMessage> messages = shown.given();
        recent.put(key, shown.reading(), messages);
        return handOut(key, shown.reading(), messages);
    }

    /** Returns whether a memory still shows the same messages as at a position. Costs a read without messages. */
    private boolean isAt(MemoryKey key, Position position) {
        Tail now = memories.meter.read(key, memories.log(key).read(key, ReadQuery.newest(0)));
        return now.position().equals(position);
    }

    private List<ChatMessage> handOut(MemoryKey key, Reading reading, List<ChatMessage> messages) {
        memories.views.handOut(key, reading, messages);
        return messages;
    }

    /**
     * Sets the list that the memory shows, in one step. A summary that a {@link KeepsakeChatMemory} returned is not a
     * message of the conversation and is left out.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param messages the messages, without nulls; an empty list has the effect of {@link #deleteMessages}
     */
    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        MemoryKey key = memories.key(memoryId);
        List<ChatMessage> list = KeepsakeChatMemory.copy(messages);
        list.removeIf(message -> Summarization.isSummary(message) || Remembered.isShown(message));
        if (list.isEmpty()) {
            deleteMessages(memoryId);
            return;
        }
        Outbox known = outboxes.get(key);
        Outbox outbox = known == null ? new Outbox() : known;
        try {
            int most = list.size() + MARGIN;
            Reading now = memories.views.set(
                    key, new ViewWriter.Request(list, true, null, null, () -> read(key, most, most), outbox), null);
            recent.put(key, now, list);
            sizes.put(key, list.size());
        } finally {
            if (!outbox.isEmpty()) {
                outboxes.put(key, outbox);
            } else if (known != null) {
                // Otherwise there is none, or that of another thread's call that failed meanwhile.
                outboxes.remove(key);
            }
        }
    }

    /**
     * Empties the list of shown messages. The log keeps all messages. {@code Conversation.erase()} deletes them. A call that
     * comes from Quarkus when it ends the scope of an AI service empties nothing.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     */
    @Override
    public void deleteMessages(Object memoryId) {
        MemoryKey key = memories.key(memoryId);
        if (!ContainerClose.isCalling()) {
            memories.views.clear(key, null);
        }
    }

    /**
     * Calls {@link #getMessages} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return a future that completes with the messages, or completes exceptionally
     */
    public CompletableFuture<List<ChatMessage>> getMessagesAsync(Object memoryId) {
        return CompletableFuture.supplyAsync(() -> getMessages(memoryId), memories.executor());
    }

    /**
     * Calls {@link #updateMessages} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param messages the messages, without nulls
     * @return a future that completes when the messages are set, or completes exceptionally
     */
    public CompletableFuture<Void> updateMessagesAsync(Object memoryId, List<ChatMessage> messages) {
        return memories.runAsync(memories.key(memoryId), () -> updateMessages(memoryId, messages));
    }

    /**
     * Calls {@link #deleteMessages} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return a future that completes when the list is empty, or completes exceptionally
     */
    public CompletableFuture<Void> deleteMessagesAsync(Object memoryId) {
        return CompletableFuture.runAsync(() -> deleteMessages(memoryId), memories.executor());
    }

    private ShownView read(MemoryKey key, int guess, int least) {
        Tail tail = memories.meter.read(key, ViewReader.everything(memories.log(key), key, guess, least));
        sizes.put(key, tail.messages().size());
        return ShownView.of(tail);
    }
}
