package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Context.Overflow;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Reading;
import io.github.keepsake4j.view.ShownView;
import io.github.keepsake4j.view.ViewWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reads and writes of a memory in one turn: the messages that it has accepted and will write later, and the
 * messages that it has read. All additions outside of bound turns share one instance, because such turns cannot be
 * distinguished. Thread-safe.
 */
class OpenTurn {

    /**
     * The number of reads of a turn before it stores its system message behind the messages that others have stored
     * meanwhile.
     */
    private static final int MOST_LOOKS = 6;

    final Object id;
    final MemoryKey key;
    final SharedParts memories;
    final ReentrantLock lock = new ReentrantLock();
    private @Nullable WriteBuffer buffer;

    OpenTurn(Object id, MemoryKey key, SharedParts memories) {
        this.id = id;
        this.key = key;
        this.memories = memories;
    }

    /** Does a step of this turn while no other thread does one. */
    final void locked(Runnable step) {
        underLock(() -> {
            step.run();
            return null;
        });
    }

    final <T extends @Nullable Object> T underLock(Supplier<T> step) {
        lock.lock();
        try {
            return step.get();
        } finally {
            lock.unlock();
        }
    }

    /** Implements {@link KeepsakeChatMemory#add(Iterable)}. */
    void add(List<ChatMessage> list) {
        locked(() -> {
            if (!isRetry(list)) {
                accept(list);
            }
        });
    }

    /** Implements {@link KeepsakeChatMemory#set}. */
    void set(List<ChatMessage> list) {
        if (list.isEmpty()) {
            throw new InvalidInputException("messages", "must not be empty; call clear() to empty memory " + key);
        }
        list.removeIf(Remembered::isShown);
        boolean keepsSummary = list.removeIf(Summarization::isSummary);
        locked(() -> {
            write(buffer());
            WriteBuffer open = buffer();
            open.refill(null);
            boolean awaits = open.awaited > 0;
            Reading seen = show(open, list, keepsSummary, null, null);
            changedList(seen);
            List<String> ids = seen.ids();
            open.appended = ids.isEmpty() ? null : ids.get(ids.size() - 1);
            if (!awaits || !seen.isRunning()) {
                open.awaited = list.isEmpty() ? 0 : WriteBuffer.calls(list.get(list.size() - 1));
            }
        });
    }

    /** Implements {@link KeepsakeChatMemory#messages()}. */
    List<ChatMessage> messages() {
        lock.lock();
        try {
            buffer().refill(null);
            writePending(buffer());
            WriteBuffer open = buffer();
            SystemMessage system = open.heldSystem;
            // Only the read right after a tool round may reuse an earlier read. A system message indicates a new turn.
            // After another read, the model may have failed and a new turn may have begun.
            Tail known = system == null ? known(open) : null;
            // Within a turn, they stay the same as at its beginning, until the log is read again.
            Function<Tail, Optional<Remembered>> remembered =
                    known != null ? null : memories.settings.remembered().begin(key);
            Tail tail = known != null ? known : load(open, 0);
            if (system != null) {
                tail = writeSystem(open, system, tail);
            }
            if (remembered != null) {
                open.remembered(remembered.apply(tail).orElse(null));
            }
            Context context = memories.select(id, key, asSent(tail), open.remembered());
            open.read(tail);
            ShownView shown = ShownView.of(tail, context, mostKnown());
            memories.views.handOut(key, shown.reading(), shown.given());
            memories.shown(key, context, shown.reading().cut());
            memories.summaries.check(id, key, tail, () -> context);
            memories.leaving.check(key, branch(), tail, () -> context);
            Overflow over = context.over();
            if (over != null && open.isToTell(over.newest())) {
                throw new ContextOverflowException(key, over);
            }
            List<ChatMessage> messages = context.messages();
            shown(tail, context, messages);
            return messages;
        } finally {
            lock.unlock();
        }
    }

    /** Implements {@link KeepsakeChatMemory#clear()}. */
    void clear() {
        locked(() -> {
            write(buffer());
            WriteBuffer open = buffer();
            Reading empty = inEpoch(() -> memories.views.clear(key, epochOf(open)));
            open.read(null);
            open.awaited = 0;
            open.refill(null);
            if (empty != null) {
                changedList(empty);
                Context shown = memories.shown(key);
                LoggedMessage summary = shown == null ? null : shown.summary();
                open.refill(new WriteBuffer.Refill(empty, List.of(), summary == null ? null : summary.id(), false));
            }
        });
    }

    /** Implements {@link KeepsakeChatMemory#flush()}. */
    void flush() {
        locked(() -> {
            if (buffer != null) {
                write(buffer);
            }
            memories.log(key).flush(key);
        });
    }

    /**
     * Writes tool results that wait for others of their round, with further results that were not added yet.
     *
     * @param notAdded the further results
     * @return whether there are any, and a round waits for them
     */
    final boolean writeEarly(List<NewMessage> notAdded) {
        WriteBuffer open = buffer();
        List<NewMessage> batch = new ArrayList<>(open.pending);
        batch.addAll(notAdded);
        if (batch.isEmpty() || !open.isCalled() || open.awaited < notAdded.size()) {
            return false;
        }
        AppendResult result = send(open, batch);
        open.pending.clear();
        open.awaited -= notAdded.size();
        wrote(batch, result);
        open.read(null);
        return true;
    }

    /** Prepares a message that was added for its append. */
    NewMessage prepare(ChatMessage message) {
        return memories.prepare(message);
    }

    /** Returns the append of a batch, at the place where this turn continues. */
    Append place(List<NewMessage> batch) {
        return Append.under(Parent.head(), batch);
    }

    /** Appends a batch at the place where this turn continues. */
    AppendResult send(WriteBuffer open, List<NewMessage> batch) {
        return append(open, place(batch));
    }

    /** Returns a tail with a batch that was written since, or null if the log must be read. */
    @Nullable
    Tail after(Tail tail, List<NewMessage> batch, AppendResult result) {
        Tail after = tail.after(batch, result);
        ChatMessage last = batch.get(batch.size() - 1).message();
        boolean goesOn = last instanceof ToolExecutionResultMessage || WriteBuffer.calls(last) > 0;
        if (after != null || result.replayed() || !goesOn) {
            return after;
        }
        // What others added meanwhile is shown by the next read of the log.
        WriteBuffer open = buffer();
        open.known = Math.min(open.known, tail.newest());
        return tail.behindOthers(batch, result);
    }

    /** Returns the last read if the next one does not need the log, or null. */
    @Nullable
    Tail known(WriteBuffer open) {
        return open.current ? open.tail() : null;
    }

    /** Returns the sequence up to which this turn knows all messages that it was shown. */
    long mostKnown() {
        return buffer().known;
    }

    /** Returns the buffer for what is added behind an answer. */
    WriteBuffer next(WriteBuffer open) {
        return open.next();
    }

    /** Records that this turn changed the list that the memory shows. */
    void changedList(Reading now) {}

    /** Records that a batch was written. */
    void wrote(List<NewMessage> batch, AppendResult result) {}

    /**
     * Reads the messages that this turn sees.
     *
     * @param atLeast the number of messages to read even if the strategy requires fewer
     */
    Tail read(int atLeast) {
        return memories.load(id, key, atLeast);
    }

    /** Returns a tail in which the question of this turn is shown as it is sent. */
    Tail asSent(Tail tail) {
        return tail;
    }

    /** Returns the name of the branch that this turn is on, or null for the memory's current one. */
    @Nullable
    String branch() {
        return null;
    }

    /** Records the result of {@link #messages()}. */
    void shown(Tail tail, Context context, List<ChatMessage> messages) {}

    final WriteBuffer buffer() {
        WriteBuffer open = buffer;
        if (open == null) {
            open = new WriteBuffer();
            buffer = open;
        }
        return open;
    }

    /**
     * Returns whether a call repeats a failed add with the same message objects. If it does, or if messages were
     * accepted before that add, this method writes the pending messages.
     */
    private boolean isRetry(List<ChatMessage> list) {
        WriteBuffer open = buffer();
        if (open.adds.isEmpty()) {
            return false;
        }
        boolean again = open.adds.isRetry(list);
        // If messages were accepted before the failed add, the whole batch is sent again unchanged. With a different
        // batch, it would stay unknown whether the first one was stored.
        boolean more = open.pending.size() > open.adds.size();
        if (!open.pending.isEmpty() && (again || more)) {
            writePending(open);
        }
        open.pending.clear();
        open.adds.answered();
        buffer().adds.answered();
        return again;
    }

    private void accept(List<ChatMessage> list) {
        WriteBuffer open = buffer();
        int before = open.pending.size();
        int awaited = open.awaited;
        try {
            boolean due = false;
            for (ChatMessage message : list) {
                due |= accept(open, message);
            }
            if (due) {
                open.adds.sent(open.pending.subList(before, open.pending.size()));
                write(open);
                open.adds.answered();
                buffer().adds.answered();
            }
        } catch (RuntimeException e) {
            if (!(e instanceof KeepsakeException known && known.isRetryable())) {
                refuse(open, before, awaited, e);
            }
            throw e;
        }
    }

    /**
     * Discards a refused message, so that it does not block the next one. Writes the messages that were accepted before
     * the refused one.
     */
    private void refuse(WriteBuffer open, int before, int awaited, RuntimeException reason) {
        List<NewMessage> accepted = List.copyOf(open.pending.subList(0, Math.min(before, open.pending.size())));
        open.pending.clear();
        open.adds.answered();
        open.awaited = awaited;
        if (accepted.isEmpty() || buffer != open) {
            return;
        }
        try {
            wrote(accepted, send(open, accepted));
        } catch (RuntimeException e) {
            reason.addSuppressed(e);
        }
    }

    /** Accepts a message and returns whether it is time to write. */
    private boolean accept(WriteBuffer open, ChatMessage message) {
        if (Remembered.isShown(message)) {
            // A framework writes back a message that this memory added. It is not a message of the conversation.
            return false;
        }
        WriteBuffer.Refill refill = open.refill();
        boolean isSummary = Summarization.isSummary(message);
        if (refill != null) {
            if (isSummary) {
                refill(open, refill.withSummary());
            } else if (memories.views.isHandedOut(key, refill.seen().position().epoch(), message)) {
                refill(open, refill.with(message));
                open.awaited = WriteBuffer.calls(message);
                return false;
            } else {
                open.refill(null);
            }
        }
        if (isSummary) {
            // A framework writes back a summary that this memory returned. It is not a message of the conversation.
            return false;
        }
        if (message instanceof SystemMessage system && open.pending.isEmpty()) {
            SystemMessage held = open.heldSystem;
            if (held != null && !held.equals(system)) {
                writeSystem(open, held, load(open, 0));
            }
            open.heldSystem = system;
            open.appended = null;
            return false;
        }
        return open.accept(prepare(message));
    }

    /** Shows the messages that were added again since the memory was cleared, and possibly the summary. */
    private void refill(WriteBuffer open, WriteBuffer.Refill refill) {
        String summary = refill.behindSummary() ? refill.summary() : null;
        Reading seen = show(open, refill.linked(), false, summary, refill.seen());
        changedList(seen);
        open.refill(refill.at(seen));
    }

    /** Makes the memory show a list. */
    private Reading show(
            WriteBuffer open,
            List<ChatMessage> list,
            boolean keepsSummary,
            @Nullable String summary,
            @Nullable Reading seen) {
        Supplier<ShownView> current = () -> {
            long most = mostKnown();
            Tail tail = load(open, list.size());
            Remembered known = open.remembered();
            Remembered remembered = known != null ? known : memories.remembered(key, tail);
            return ShownView.of(tail, memories.select(id, key, asSent(tail), remembered), most);
        };
        ViewWriter.Request request =
                new ViewWriter.Request(list, keepsSummary, summary, epochOf(open), current, open.lists);
        try {
            return inEpoch(() -> memories.views.set(key, request, seen));
        } finally {
            // If the call failed, its outcome may be unknown, so the next call must read the log.
            open.read(null);
        }
    }

    /**
     * Returns the epoch that must be in force, or null for any. Within a tool round it is the epoch in which the round
     * began, so that the rest of the round is refused after an erasure.
     */
    private static @Nullable Long epochOf(WriteBuffer open) {
        return open.awaited > 0 ? open.epoch : null;
    }

    /** Writes all accepted messages, including the system message. */
    private void write(WriteBuffer open) {
        SystemMessage system = open.heldSystem;
        if (system != null) {
            // No read has happened since the system message was held, so it is unknown whether it is new.
            writeSystem(open, system, load(open, 0));
        }
        writePending(open);
    }

    /** Writes the system message, unless it is in force. First turns that begin at once store one. */
    private Tail writeSystem(WriteBuffer open, SystemMessage system, Tail read) {
        Tail tail = read;
        List<NewMessage> batch = List.of();
        for (int looks = 1; !isInForce(system, tail); looks++) {
            batch = batch.isEmpty() ? List.of(memories.prepare(system)) : batch;
            Append append = place(batch);
            boolean atHead = append.parent() instanceof Parent.Head && append.reference() == null;
            boolean looksAgain = atHead && !append.expectsHead() && looks < MOST_LOOKS;
            try {
                AppendResult result = looksAgain
                        ? append(open, append.expectingHead(tail.position().head()))
                        : send(open, batch);
                open.heldSystem = null;
                wrote(batch, result);
                Tail after = after(tail, batch, result);
                return after != null ? after : load(open, 0);
            } catch (HeadConflictException e) {
                if (!looksAgain) {
                    throw e;
                }
                tail = load(open, 0);
            }
        }
        open.heldSystem = null;
        return tail;
    }

    private static boolean isInForce(SystemMessage system, Tail tail) {
        LoggedMessage inForce = tail.system();
        return inForce != null && inForce.message().equals(system);
    }

    private void writePending(WriteBuffer open) {
        if (open.pending.isEmpty()) {
            return;
        }
        List<NewMessage> batch = List.copyOf(open.pending);
        AppendResult result = send(open, batch);
        open.pending.clear();
        wrote(batch, result);
        open.refill(null);
        ChatMessage last = batch.get(batch.size() - 1).message();
        open.appended = batch.get(batch.size() - 1).id();
        Tail tail = open.tail();
        Tail after = tail == null ? null : after(tail, batch, result);
        open.appended(after, last instanceof ToolExecutionResultMessage);
        if (last instanceof AiMessage calls && calls.hasToolExecutionRequests() && after != null) {
            Overflow over = memories.overflowWithResults(id, key, asSent(after), calls);
            if (over != null && over.part() == Overflow.Part.LAST_ROUND) {
                throw new ContextOverflowException(key, over);
            }
        }
        if (last instanceof AiMessage && open.awaited == 0) {
            buffer = next(open);
            if (after != null) {
                Supplier<Context> next = () -> memories.select(id, key, after, open.remembered());
                memories.summaries.check(id, key, after, next);
                memories.leaving.check(key, branch(), after, next);
            }
        }
    }

    private AppendResult append(WriteBuffer open, Append append) {
        return inEpoch(() -> memories.append(key, open.inEpoch(append)));
    }

    final <T extends @Nullable Object> T inEpoch(Supplier<T> step) {
        try {
            return step.get();
        } catch (ErasedException e) {
            // The turn began before the erasure and is over. The next turn begins with an empty buffer.
            buffer = null;
            throw e;
        }
    }

    /** Reads as far back as the strategy requires, and at least the given number of messages. */
    private Tail load(WriteBuffer open, int atLeast) {
        Tail tail = read(atLeast);
        open.known = Long.MAX_VALUE;
        if (open.awaited == 0) {
            if (open.epoch != null && open.epoch != tail.epoch()) {
                open.refill(null);
            }
            open.epoch = tail.epoch();
        }
        open.read(null);
        return tail;
    }
}
