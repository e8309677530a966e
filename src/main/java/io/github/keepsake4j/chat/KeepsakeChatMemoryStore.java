package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Outbox;
import io.github.keepsake4j.view.Shown;
import io.github.keepsake4j.view.ViewReader;
import io.github.keepsake4j.view.ViewWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * LangChain4j's store over the log, for its own window memories and all others that rewrite a list. A store gives back
 * the list that was set last, whatever a framework did to it. The log keeps every message that was ever in one.
 *
 * <p>A list is compared with what the memory shows. The very instances that {@link #getMessages} gave out are recognized
 * wherever they come back, also after {@link #deleteMessages}. A list without any of them is one that was decoded
 * elsewhere: its messages are compared with what is shown, in order. New messages are appended; a message that the list
 * leaves out is no longer shown.
 *
 * <p>Thread-safe. Any number of stores and processes may use one memory. Each update is one step. What others have added
 * since the caller's read stays behind the list.
 *
 * <p>Errors are {@code KeepsakeException}s. When an update fails with a retryable one, setting a list with the same message
 * objects again never stores them twice.
 */
public final class KeepsakeChatMemoryStore implements ChatMemoryStore {

    /** The messages that the first read of a memory looks for. Most windows fit. */
    private static final int FIRST_GUESS = 32;

    /** A window moves by a few messages between two reads. */
    private static final int MARGIN = 8;

    /** The conversations that one process has going on at a time. */
    private static final int MEMORIES = 1_000;

    private final MemoryIds ids;
    private final ChatMemorySettings settings;

    /** How many messages the newest read of a memory returned. */
    private final RecentlyUsed<MemoryKey, Integer> sizes = new RecentlyUsed<>(MEMORIES);

    private final RecentlyUsed<MemoryKey, Outbox> outboxes = new RecentlyUsed<>(MEMORIES);

    /**
     * Makes a store; no I/O. Users get one from {@code Keepsake.chatMemoryStore()}.
     *
     * @param ids makes keys of memory ids
     * @param settings what all memories share
     */
    KeepsakeChatMemoryStore(MemoryIds ids, ChatMemorySettings settings) {
        this.ids = ids;
        this.settings = settings;
    }

    /**
     * Returns the list that was set last; for a memory that was written otherwise, all that it shows.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return a new, mutable list; empty for a memory that was never written
     */
    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        MemoryKey key = ids.key(memoryId);
        Shown shown = read(key);
        settings.handedOut().add(key, shown);
        List<ChatMessage> messages = new ArrayList<>(shown.messages().size());
        shown.messages().forEach(logged -> messages.add(logged.message()));
        return messages;
    }

    /**
     * Sets the list that the memory shows, in one step. A summary that a chat memory of ours has shown is no message, and
     * left out.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param messages the messages, without nulls; empty does what {@link #deleteMessages} does
     */
    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        MemoryKey key = ids.key(memoryId);
        List<ChatMessage> list = KeepsakeChatMemory.copy(messages);
        list.removeIf(Summarization::isSummary);
        if (list.isEmpty()) {
            deleteMessages(memoryId);
            return;
        }
        Outbox known = outboxes.get(key);
        Outbox outbox = known == null ? new Outbox() : known;
        try {
            settings.views().set(key, new ViewWriter.Request(list, true, null, () -> read(key), outbox), null);
            sizes.put(key, list.size());
        } finally {
            if (outbox.isEmpty()) {
                outboxes.remove(key);
            } else {
                outboxes.put(key, outbox);
            }
        }
    }

    /**
     * Shows nothing any more; the log keeps everything. {@code Conversation.erase()} deletes.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     */
    @Override
    public void deleteMessages(Object memoryId) {
        settings.views().clear(ids.key(memoryId), null);
    }

    /**
     * Does {@link #getMessages} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return completes with the messages, or with the error
     */
    public CompletableFuture<List<ChatMessage>> getMessagesAsync(Object memoryId) {
        return CompletableFuture.supplyAsync(() -> getMessages(memoryId), settings.executor());
    }

    /**
     * Does {@link #updateMessages} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param messages the messages, without nulls
     * @return completes when they are set, with the error if there is one
     */
    public CompletableFuture<Void> updateMessagesAsync(Object memoryId, List<ChatMessage> messages) {
        return CompletableFuture.runAsync(() -> updateMessages(memoryId, messages), settings.executor());
    }

    /**
     * Does {@link #deleteMessages} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return completes when nothing is shown any more, with the error if there is one
     */
    public CompletableFuture<Void> deleteMessagesAsync(Object memoryId) {
        return CompletableFuture.runAsync(() -> deleteMessages(memoryId), settings.executor());
    }

    private Shown read(MemoryKey key) {
        Integer size = sizes.get(key);
        Tail tail = settings.meter()
                .read(ViewReader.everything(settings.log(), key, size == null ? FIRST_GUESS : size + MARGIN));
        sizes.put(key, tail.messages().size());
        return Shown.of(tail);
    }
}
