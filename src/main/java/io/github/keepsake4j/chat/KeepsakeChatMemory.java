package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.Reading;
import io.github.keepsake4j.view.Shown;
import io.github.keepsake4j.view.ViewWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * LangChain4j's chat memory over the log. What is added is appended and stays; {@link #messages()} shows what the
 * strategy selects; {@link #set} and {@link #clear()} change what is shown and delete nothing.
 *
 * <p>Adds are written through, with two exceptions: tool results wait until the last one that their assistant message
 * asked for is there, and a system message waits for the next read and is written only if it changed.
 *
 * <p>Thread-safe. Several instances, threads and processes may use one memory at once: nothing is lost, and messages
 * stand in order of arrival. An instance keeps no messages between turns.
 *
 * <p>Errors are {@code KeepsakeException}s. When an add fails with a retryable one, adding the same message object again
 * never stores it twice.
 */
public final class KeepsakeChatMemory implements ChatMemory {

    private final Object id;
    private final MemoryKey key;
    private final ChatMemorySettings settings;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable WriteBuffer buffer;

    /**
     * Makes a memory; no I/O. Users get one from {@code Keepsake.chatMemoryProvider()}.
     *
     * @param id the id as LangChain4j gave it
     * @param key the memory that it names
     * @param settings what all memories share
     */
    KeepsakeChatMemory(Object id, MemoryKey key, ChatMemorySettings settings) {
        this.id = id;
        this.key = key;
        this.settings = settings;
    }

    @Override
    public Object id() {
        return id;
    }

    /**
     * Adds a message under the head. It is always a new message, even if it equals an old one.
     *
     * @param message the message, not null
     */
    @Override
    public void add(ChatMessage message) {
        add(List.of(Objects.requireNonNull(message, "message")));
    }

    /**
     * Adds messages under the head, all or none.
     *
     * @param messages the messages, without nulls
     */
    @Override
    public void add(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = copy(messages);
        lock.lock();
        try {
            if (!isRetry(list)) {
                accept(list);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Replaces what the memory shows, in one step. The very instances that {@link #messages()} gave out are the messages
     * that it showed. A list without any of them is one that was decoded elsewhere: its messages are compared with what is
     * shown, in order. New messages are appended to the log. What others have added since the caller's read stays behind
     * the list.
     *
     * @param messages the messages, without nulls and not empty
     */
    @Override
    public void set(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = copy(messages);
        if (list.isEmpty()) {
            throw new InvalidInputException("messages", "must not be empty; clear() empties memory " + key);
        }
        boolean keepsSummary = list.removeIf(Summarization::isSummary);
        lock.lock();
        try {
            flush(buffer());
            WriteBuffer open = buffer();
            open.refill(null);
            boolean awaits = open.awaited > 0;
            Reading seen = show(open, list, keepsSummary, null);
            if (!awaits || !seen.isRunning()) {
                open.awaited = list.isEmpty() ? 0 : WriteBuffer.calls(list.get(list.size() - 1));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows what the strategy selects: the system message in force first, then whole turns.
     *
     * @return a new, mutable list
     * @throws ContextOverflowException if the turn that is going on does not fit the strategy's limits
     */
    @Override
    public List<ChatMessage> messages() {
        lock.lock();
        try {
            buffer().refill(null);
            writePending(buffer());
            WriteBuffer open = buffer();
            SystemMessage system = open.heldSystem;
            // Only the read right behind a tool round can trust what was read before: a system message tells of a new
            // turn, and after a first read the model may have failed and a new turn may have begun.
            Tail known = system == null ? open.currentTail() : null;
            Tail tail = known != null ? known : load(open, 0);
            if (system != null) {
                tail = writeSystem(open, system, tail);
            }
            Context context = settings.strategy().select(TailLoader.context(id, tail));
            open.read(tail);
            Shown shown = Shown.of(tail, context);
            settings.handedOut().add(key, shown);
            settings.shown(key, context, shown.reading().cut());
            settings.summaries().check(id, key, tail, () -> context);
            if (context.overflow()) {
                throw new ContextOverflowException(key);
            }
            return context.messages();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows nothing any more; the log keeps everything. When the instances that {@link #messages()} gave out are added
     * again at once, they are linked to, not stored again.
     */
    @Override
    public void clear() {
        lock.lock();
        try {
            flush(buffer());
            WriteBuffer open = buffer();
            Reading empty = inEpoch(() -> settings.views().clear(key, epochOf(open)));
            open.read(null);
            open.awaited = 0;
            Context shown = settings.shown(key);
            LoggedMessage summary = shown == null ? null : shown.summary();
            open.refill(
                    empty == null
                            ? null
                            : new WriteBuffer.Refill(empty, List.of(), summary == null ? null : summary.id(), false));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes what was added and is held back: tool results that wait for others, a system message that waits for a read, and
     * what the log holds back if it was told to. For the end of a turn that no answer ended; others need not call it.
     */
    public void flush() {
        lock.lock();
        try {
            if (buffer != null) {
                flush(buffer);
            }
            settings.log().flush(key);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Does {@link #add(Iterable)} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @param messages the messages, without nulls
     * @return completes when they are accepted, with the error if there is one
     */
    public CompletableFuture<Void> addAsync(List<ChatMessage> messages) {
        return CompletableFuture.runAsync(() -> add(messages), settings.executor());
    }

    /**
     * Does {@link #set} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @param messages the messages, without nulls and not empty
     * @return completes when they are set, with the error if there is one
     */
    public CompletableFuture<Void> setAsync(List<ChatMessage> messages) {
        return CompletableFuture.runAsync(() -> set(messages), settings.executor());
    }

    /**
     * Does {@link #messages()} on the executor. LangChain4j calls it from version 1.20 on.
     *
     * @return completes with the messages, or with the error
     */
    public CompletableFuture<List<ChatMessage>> messagesAsync() {
        return CompletableFuture.supplyAsync(this::messages, settings.executor());
    }

    private WriteBuffer buffer() {
        WriteBuffer open = buffer;
        if (open == null) {
            open = new WriteBuffer();
            buffer = open;
        }
        return open;
    }

    /** Whether the very messages of an add that failed are added again; they are written then, unless they were already. */
    private boolean isRetry(List<ChatMessage> list) {
        WriteBuffer open = buffer();
        if (open.adds.isEmpty()) {
            return false;
        }
        boolean again = open.adds.isRetry(list);
        // Messages that were accepted before go out as they were sent, or it could not be told whether they are stored.
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

    /** A message that is refused must not stop the next one, nor take with it what was accepted before. */
    private void refuse(WriteBuffer open, int before, int awaited, RuntimeException reason) {
        List<NewMessage> accepted = List.copyOf(open.pending.subList(0, Math.min(before, open.pending.size())));
        open.pending.clear();
        open.adds.answered();
        open.awaited = awaited;
        if (accepted.isEmpty() || buffer != open) {
            return;
        }
        try {
            append(open, Append.under(Parent.head(), accepted));
        } catch (RuntimeException e) {
            reason.addSuppressed(e);
        }
    }

    /** Returns whether it is time to write. */
    private boolean accept(WriteBuffer open, ChatMessage message) {
        WriteBuffer.Refill refill = open.refill();
        boolean isSummary = Summarization.isSummary(message);
        if (refill != null) {
            if (isSummary) {
                open.refill(refill.withSummary());
            } else if (settings.handedOut().holds(key, refill.seen().position().epoch(), message)) {
                link(open, refill, message);
                return false;
            } else {
                open.refill(null);
            }
        }
        if (isSummary) {
            // We showed it and a framework writes it back: it is no message of the conversation.
            return false;
        }
        if (message instanceof SystemMessage system && open.pending.isEmpty()) {
            SystemMessage held = open.heldSystem;
            if (held != null && !held.equals(system)) {
                writeSystem(open, held, load(open, 0));
            }
            open.heldSystem = system;
            return false;
        }
        return open.accept(settings.prepare(message));
    }

    /** Shows one more of the messages that the memory showed before it was cleared. */
    private void link(WriteBuffer open, WriteBuffer.Refill refill, ChatMessage message) {
        List<ChatMessage> linked = new ArrayList<>(refill.linked());
        linked.add(message);
        Reading seen = refill.seen().behindSummary(refill.behindSummary() ? refill.summary() : null);
        open.refill(refill.with(show(open, linked, refill.behindSummary(), seen), linked));
        open.awaited = WriteBuffer.calls(message);
    }

    /** Makes the memory show a list. */
    private Reading show(WriteBuffer open, List<ChatMessage> list, boolean keepsSummary, @Nullable Reading seen) {
        ViewWriter.Request request = new ViewWriter.Request(
                list,
                keepsSummary,
                epochOf(open),
                () -> {
                    Tail tail = load(open, list.size());
                    return Shown.of(tail, settings.strategy().select(TailLoader.context(id, tail)));
                },
                open.lists);
        try {
            return inEpoch(() -> settings.views().set(key, request, seen));
        } finally {
            // If it failed, the answer may be lost, and the next call must look at what is there.
            open.read(null);
        }
    }

    /** In the middle of a tool round the epoch stays: what began before an erasure must be refused. */
    private static @Nullable Long epochOf(WriteBuffer open) {
        return open.awaited > 0 ? open.epoch : null;
    }

    /** Writes all that was accepted, the system message too. */
    private void flush(WriteBuffer open) {
        if (open.heldSystem != null || !open.pending.isEmpty()) {
            write(open);
        }
    }

    private void write(WriteBuffer open) {
        SystemMessage system = open.heldSystem;
        if (system != null) {
            // No read has come since it was held, so it is unknown whether it is new.
            writeSystem(open, system, load(open, 0));
        }
        writePending(open);
    }

    private Tail writeSystem(WriteBuffer open, SystemMessage system, Tail tail) {
        LoggedMessage inForce = tail.system();
        if (inForce != null && inForce.message().equals(system)) {
            open.heldSystem = null;
            return tail;
        }
        List<NewMessage> batch = List.of(settings.prepare(system));
        AppendResult result = append(open, Append.under(Parent.head(), batch));
        open.heldSystem = null;
        Tail after = tail.after(batch, result);
        return after != null ? after : load(open, 0);
    }

    private void writePending(WriteBuffer open) {
        if (open.pending.isEmpty()) {
            return;
        }
        List<NewMessage> batch = List.copyOf(open.pending);
        AppendResult result = append(open, Append.under(Parent.head(), batch));
        open.pending.clear();
        open.refill(null);
        ChatMessage last = batch.get(batch.size() - 1).message();
        Tail tail = open.tail();
        Tail after = tail == null ? null : tail.after(batch, result);
        open.appended(after, last instanceof ToolExecutionResultMessage);
        if (last instanceof AiMessage && open.awaited == 0) {
            buffer = open.next();
            if (after != null) {
                settings.summaries()
                        .check(id, key, after, () -> settings.strategy().select(TailLoader.context(id, after)));
            }
        }
    }

    private AppendResult append(WriteBuffer open, Append append) {
        return inEpoch(() -> settings.append(key, open.epoch == null ? append : append.inEpoch(open.epoch)));
    }

    private <T extends @Nullable Object> T inEpoch(Supplier<T> step) {
        try {
            return step.get();
        } catch (ErasedException e) {
            // What was begun before the erasure is over; the next turn starts afresh.
            buffer = null;
            throw e;
        }
    }

    /** Reads as far back as the strategy looks, or as a list of some size may reach. */
    private Tail load(WriteBuffer open, int atLeast) {
        Reach reach = settings.strategy().reach(id);
        if (reach.messages() < atLeast) {
            reach = new Reach(atLeast, reach.turns(), reach.tokens(), reach.oldest(), reach.toSummary());
        }
        Tail tail = settings.load(key, reach);
        if (open.awaited == 0) {
            if (open.epoch != null && open.epoch != tail.epoch()) {
                open.refill(null);
            }
            open.epoch = tail.epoch();
        }
        open.read(null);
        return tail;
    }

    static List<ChatMessage> copy(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = new ArrayList<>();
        for (ChatMessage message : Objects.requireNonNull(messages, "messages")) {
            list.add(Objects.requireNonNull(message, "message"));
        }
        return list;
    }
}
