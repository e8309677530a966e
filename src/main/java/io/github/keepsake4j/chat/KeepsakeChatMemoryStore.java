package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.ViewReader;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * LangChain4j's store over the log, for its own window memories and all others that rewrite a list. A store gives back
 * the list that was set last, whatever a framework did to it; the log keeps every message that was ever in one.
 *
 * <p>A list is compared with what the memory shows. Messages that are there already are not written again (first the very
 * instances that {@link #getMessages} gave out are recognised, then equal ones in order); what is new is appended, and
 * what is missing is no longer shown. After {@link #deleteMessages} a list that repeats the deleted messages in order links
 * to them.
 *
 * <p>Thread-safe. Any number of stores and processes may use one memory: the list that was set last is shown, and the
 * history holds all of them. What the store remembers of memories only saves reads; where another store has set a list and
 * appended nothing since this one read, a message that is there already may be stored once more.
 *
 * <p>Errors are {@code KeepsakeException}s. When an update fails with a retryable one, setting a list with the same message
 * objects again never stores them twice.
 */
public final class KeepsakeChatMemoryStore implements ChatMemoryStore {

    /** How often an update is worked out anew because somebody else was first. */
    private static final int MAX_CONFLICTS = 100;

    /** How many messages a first read looks for: most windows, and little to read in vain. */
    private static final int FIRST_GUESS = 32;

    /** A window moves by a few messages between two reads. */
    private static final int MARGIN = 8;

    /** After a longer list was deleted, messages that are set again are new ones: looking for them would read all of it. */
    private static final int MOST_LINKED = 10_000;

    private final MemoryIds ids;
    private final ChatMemorySettings settings;
    private final RecentlyHandedOut recent = new RecentlyHandedOut();

    /**
     * Makes a store; no I/O. Users get one from {@code Keepsake.chatMemoryStore()}.
     *
     * @param ids makes keys of memory ids
     * @param settings what all memories share
     */
    public KeepsakeChatMemoryStore(MemoryIds ids, ChatMemorySettings settings) {
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
        HandedOut before = recent.get(key);
        Tail tail = read(key, before);
        recent.put(key, HandedOut.read(tail, before));
        List<ChatMessage> messages = new ArrayList<>(tail.messages().size());
        tail.messages().forEach(logged -> messages.add(logged.message()));
        return messages;
    }

    /**
     * Sets the list that the memory shows, in one step. What others have set since the last read is no longer shown, and
     * kept. A summary that a chat memory of ours has shown is no message, and left out.
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
        HandedOut before = recent.get(key);
        boolean known = before != null && before.isCurrent();
        Tail tail = known ? Objects.requireNonNull(before).tail() : read(key, before);
        long epoch = before == null ? tail.epoch() : before.tail().epoch();
        if (before != null && before.isErased(list)) {
            throw new ErasedException(key, epoch - 1, epoch);
        }
        ListUpdate update = new ListUpdate(settings, key, list, before);
        boolean fresh = !known;
        for (int conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
            ListUpdate.Plan plan = update.plan(tail, cleared(key, tail, before));
            ViewStep step = plan.step();
            if (step == null) {
                if (fresh || isUnchanged(key, tail)) {
                    remember(key, tail, list.size(), null);
                    return;
                }
            } else if (send(key, update, plan, step, epoch, list.size())) {
                return;
            }
            tail = read(key, before);
            fresh = true;
        }
        throw new HeadConflictException(key, tail.head(), null);
    }

    /**
     * Shows nothing any more; the log keeps everything. {@code Conversation.erase()} deletes.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     */
    @Override
    public void deleteMessages(Object memoryId) {
        MemoryKey key = ids.key(memoryId);
        for (int conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
            Tail tail = position(key);
            String head = tail.head();
            View view = tail.view();
            boolean empty = view != null && view.runs().isEmpty() && Objects.equals(view.anchor(), head);
            if (head == null || empty) {
                // Kept from before if the list was deleted already and only the answer was lost.
                return;
            }
            try {
                AppendResult result = settings.append(
                        key,
                        Append.viewOnly(ViewStep.cleared(view, head))
                                .expectingHead(head)
                                .inEpoch(tail.epoch()));
                recent.change(key, before -> {
                    boolean shown = before.isCurrent() && isSame(before.tail(), tail);
                    Relink all = new Relink(
                            head,
                            List.of(),
                            before.tail().messages(),
                            Forms.STORED,
                            before.tail().missingParent());
                    return before.linking(0, shown ? all : null, result.revision());
                });
                return;
            } catch (HeadConflictException e) {
                recent.change(key, before -> before.set(before.size()));
            }
        }
        throw new HeadConflictException(key, null, null);
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

    /** Returns false if somebody else was first. */
    private boolean send(MemoryKey key, ListUpdate update, ListUpdate.Plan plan, ViewStep step, long epoch, int size) {
        try {
            AppendResult result = settings.append(key, step.append().inEpoch(epoch));
            if (result.replayed()) {
                update.mayBeStored(step.append().messages());
                return false;
            }
            Append again = step.afterwards(result);
            if (again != null) {
                settings.append(key, again.inEpoch(epoch));
            }
            Relink left = plan.linked();
            recent.change(
                    key, before -> left == null ? before.set(size) : before.linking(size, left, result.revision()));
            return true;
        } catch (HeadConflictException e) {
            return false;
        } catch (MessageIdConflictException e) {
            // An attempt whose answer was lost has arrived at last.
            update.mayBeStored(step.append().messages());
            return false;
        } catch (ErasedException e) {
            // What was begun before the erasure is over; the next update starts afresh.
            noteErasure(key, e);
            throw e;
        } catch (KeepsakeException e) {
            if (e.isRetryable()) {
                remember(key, step.tail(), size, step);
            }
            throw e;
        }
    }

    /** What was handed out stays known, so that a list from before the erasure is refused later too. */
    private void noteErasure(MemoryKey key, ErasedException reason) {
        try {
            Tail now = log().read(key, ReadQuery.newest(0));
            recent.change(key, before -> HandedOut.read(now, before).set(0));
        } catch (KeepsakeException e) {
            reason.addSuppressed(e);
        }
    }

    /** Keeps what an update has learnt, where a read had been handed out or an answer was lost. */
    private void remember(MemoryKey key, Tail tail, int size, @Nullable ViewStep unsure) {
        if (unsure == null) {
            recent.change(key, before -> before.set(size));
            return;
        }
        if (recent.get(key) == null) {
            recent.put(key, HandedOut.read(tail, null));
        }
        recent.change(key, before -> before.unsure(unsure.append().messages()));
    }

    private Tail read(MemoryKey key, @Nullable HandedOut before) {
        return settings.meter()
                .read(ViewReader.everything(log(), key, before == null ? FIRST_GUESS : before.size() + MARGIN));
    }

    /** Where the memory stands, without messages. */
    private Tail position(MemoryKey key) {
        return settings.meter().read(log().read(key, ReadQuery.newest(0)));
    }

    /** Whether what was read still is what is there. */
    private boolean isUnchanged(MemoryKey key, Tail tail) {
        return isSame(tail, position(key));
    }

    private static boolean isSame(Tail one, Tail other) {
        return one.epoch() == other.epoch()
                && one.revision() == other.revision()
                && Objects.equals(one.head(), other.head());
    }

    /** What may be linked to, if nothing was appended since the list was deleted. */
    private @Nullable Relink cleared(MemoryKey key, Tail tail, @Nullable HandedOut before) {
        View view = tail.view();
        if (view == null || view.cleared().isEmpty() || !Objects.equals(view.anchor(), tail.head())) {
            return null;
        }
        Relink remembered = before == null || before.relinkRevision() != tail.revision() ? null : before.relink();
        if (remembered != null) {
            return remembered;
        }
        Tail cleared = ViewReader.runs(log(), key, view.cleared(), MOST_LINKED);
        return cleared.complete()
                ? new Relink(
                        Objects.requireNonNull(tail.head()),
                        List.of(),
                        cleared.messages(),
                        Forms.STORED,
                        cleared.missingParent())
                : null;
    }

    private MessageLog log() {
        return settings.log();
    }
}
