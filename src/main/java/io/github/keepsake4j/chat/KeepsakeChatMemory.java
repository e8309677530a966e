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
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
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

    /** How often a change of what is shown is worked out anew because somebody else appended. */
    private static final int MAX_CONFLICTS = 100;

    private final Object id;
    private final MemoryKey key;
    private final ChatMemorySettings settings;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable OpenTurn turn;

    /**
     * Makes a memory; no I/O. Users get one from {@code Keepsake.chatMemoryProvider()}.
     *
     * @param id the id as LangChain4j gave it
     * @param key the memory that it names
     * @param settings what all memories share
     */
    public KeepsakeChatMemory(Object id, MemoryKey key, ChatMemorySettings settings) {
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
                accept(openTurn(), list);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Replaces what the memory shows, in one step. Messages that it showed before are recognised (first the very
     * instances that {@link #messages()} gave out, then equal ones in order); what is new is appended to the log. What
     * others have added since the last read stays behind the list.
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
            OpenTurn open = openTurn();
            flush(open);
            open.relink(null);
            Seen handedOut = open.seen();
            Seen seen = handedOut != null ? handedOut : load(open, list.size());
            List<LoggedMessage> running = open.awaited > 0 ? seen.running() : List.of();
            List<LoggedMessage> shown = running.isEmpty() ? seen.shown() : seen.shownAndRunning();
            ViewChange change =
                    ViewChange.of(list, shown, seen.forms(), settings::prepare).keeping(running, shown);
            // If the answer is lost, a retry must look at what is there by then.
            open.seen(null, false);
            for (int conflicts = 0; !tryChange(open, change, seen, keepsSummary); conflicts++) {
                if (conflicts == MAX_CONFLICTS) {
                    throw new HeadConflictException(key, seen.tail().head(), null);
                }
                long known = seen.tail().messages().stream()
                        .mapToLong(LoggedMessage::sequence)
                        .max()
                        .orElse(0);
                seen = load(open, list.size());
                List<LoggedMessage> arrived = seen.tail().messages().stream()
                        .filter(message -> message.sequence() > known)
                        .toList();
                change = change.keeping(arrived, seen.shown());
            }
            open.seen(null, false);
            if (running.isEmpty()) {
                open.awaited = list.isEmpty() ? 0 : OpenTurn.calls(list.get(list.size() - 1));
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
            OpenTurn open = openTurn();
            open.relink(null);
            writePending(open);
            open = openTurn();
            SystemMessage system = open.heldSystem;
            // Only the read right behind a tool round can trust what was read before: a system message tells of a new
            // turn, and after a first read the model may have failed and a new turn may have begun.
            Seen cached = open.current && system == null ? open.seen() : null;
            Seen seen = cached != null ? cached : load(open, 0);
            if (system != null) {
                seen = writeSystem(open, system, seen);
            }
            Context context = settings.strategy().select(TailLoader.context(id, seen.tail()));
            Seen shown = Seen.of(seen.tail(), context);
            open.seen(shown, false);
            settings.meter().shown(settings.contexts().get(key), context, shown.cut());
            settings.contexts().put(key, context);
            settings.summaries().check(id, key, seen.tail(), () -> context);
            if (context.overflow()) {
                throw new ContextOverflowException(key);
            }
            return context.messages();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows nothing any more; the log keeps everything. Messages that the memory showed and that are added again at once,
     * in order, are linked to, not stored again.
     */
    @Override
    public void clear() {
        lock.lock();
        try {
            OpenTurn open = openTurn();
            Seen handedOut = open.seen();
            flush(open);
            Seen seen = load(open, 0).withLost(handedOut);
            open.seen(null, false);
            open.awaited = 0;
            Tail tail = seen.tail();
            String head = tail.head();
            if (head != null) {
                // Kept from before if the memory was cleared already and only the answer was lost.
                if (open.relink() == null || !seen.shown().isEmpty()) {
                    Summary summary = tail.summary();
                    open.relink(new Relink(
                            head,
                            List.of(),
                            seen.shown(),
                            seen.forms(),
                            tail.missingParent(),
                            summary == null ? null : summary.coversUpTo(),
                            false));
                }
                append(open, Append.viewOnly(ViewStep.cleared(tail.view(), head)));
            }
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
            OpenTurn open = turn;
            if (open != null) {
                flush(open);
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

    private OpenTurn openTurn() {
        OpenTurn open = turn;
        if (open == null) {
            open = new OpenTurn();
            turn = open;
        }
        return open;
    }

    /** Whether the very messages of an add that failed are added again; they are written then, unless they were already. */
    private boolean isRetry(List<ChatMessage> list) {
        OpenTurn open = openTurn();
        List<ChatMessage> late = open.writtenLate;
        open.writtenLate = List.of();
        if (OpenTurn.same(late, list)) {
            return true;
        }
        if (open.unacknowledged == 0) {
            return false;
        }
        boolean again = OpenTurn.same(open.failed(), list);
        // What was accepted before goes out as it was sent, or it could not be told whether it is stored.
        if (again || open.pending.size() > open.unacknowledged) {
            writePending(open);
            openTurn().writtenLate = List.of();
        }
        open.pending.clear();
        open.unacknowledged = 0;
        return again;
    }

    private void accept(OpenTurn open, List<ChatMessage> list) {
        int before = open.pending.size();
        int awaited = open.awaited;
        try {
            boolean due = false;
            for (ChatMessage message : list) {
                due |= accept(open, message);
            }
            if (due) {
                open.unacknowledged = open.pending.size() - before;
                write(open);
                openTurn().writtenLate = List.of();
            }
        } catch (RuntimeException e) {
            if (!(e instanceof KeepsakeException known && known.isRetryable())) {
                refuse(open, before, awaited, e);
            }
            throw e;
        }
    }

    /** What is refused must not stand in the way of what comes next, nor take with it what was accepted before. */
    private void refuse(OpenTurn open, int before, int awaited, RuntimeException reason) {
        List<NewMessage> accepted = List.copyOf(open.pending.subList(0, Math.min(before, open.pending.size())));
        open.pending.clear();
        open.unacknowledged = 0;
        open.awaited = awaited;
        if (accepted.isEmpty() || turn != open) {
            return;
        }
        try {
            append(open, Append.under(Parent.head(), accepted));
        } catch (RuntimeException e) {
            reason.addSuppressed(e);
        }
    }

    /** Returns whether it is time to write. */
    private boolean accept(OpenTurn open, ChatMessage message) {
        Relink relink = open.relink();
        if (relink != null) {
            if (relink(open, relink.with(message))) {
                open.awaited = OpenTurn.calls(message);
                return false;
            }
            open.relink(null);
        }
        if (Summarization.isSummary(message)) {
            // Shown by us, written back by a framework: it is no message of the conversation.
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

    /** Links to an old message, unless it was not shown or somebody has appended since the clear. */
    private boolean relink(OpenTurn open, @Nullable Relink linked) {
        if (linked == null) {
            return false;
        }
        try {
            append(open, Append.viewOnly(linked.view()).expectingHead(linked.anchor()));
        } catch (HeadConflictException e) {
            return false;
        }
        open.relink(linked);
        open.seen(null, false);
        return true;
    }

    /** Writes all that was accepted, the system message too. */
    private void flush(OpenTurn open) {
        if (open.heldSystem != null || !open.pending.isEmpty()) {
            write(open);
        }
    }

    private void write(OpenTurn open) {
        SystemMessage system = open.heldSystem;
        if (system != null) {
            // Nobody has read since it was held, so nobody knows whether it is new.
            writeSystem(open, system, load(open, 0));
        }
        writePending(open);
    }

    private Seen writeSystem(OpenTurn open, SystemMessage system, Seen seen) {
        LoggedMessage inForce = seen.tail().system();
        if (inForce != null && inForce.message().equals(system)) {
            open.heldSystem = null;
            return seen;
        }
        List<NewMessage> batch = List.of(settings.prepare(system));
        AppendResult result = append(open, Append.under(Parent.head(), batch));
        open.heldSystem = null;
        Seen after = seen.after(batch, result);
        return after != null ? after : load(open, 0);
    }

    private void writePending(OpenTurn open) {
        if (open.pending.isEmpty()) {
            return;
        }
        List<NewMessage> batch = List.copyOf(open.pending);
        AppendResult result = append(open, Append.under(Parent.head(), batch));
        open.writtenLate = open.failed();
        open.unacknowledged = 0;
        open.pending.clear();
        open.relink(null);
        ChatMessage last = batch.get(batch.size() - 1).message();
        boolean toolRound = last instanceof ToolExecutionResultMessage;
        Seen seen = open.seen();
        Seen after = seen == null ? null : seen.after(batch, result);
        open.seen(after, after != null && toolRound);
        if (last instanceof AiMessage && open.awaited == 0) {
            turn = null;
            if (after != null) {
                Tail tail = after.tail();
                settings.summaries()
                        .check(id, key, tail, () -> settings.strategy().select(TailLoader.context(id, tail)));
            }
            if (!open.writtenLate.isEmpty()) {
                openTurn().writtenLate = open.writtenLate;
            }
        }
    }

    private AppendResult append(OpenTurn open, Append append) {
        try {
            return settings.append(key, open.epoch == null ? append : append.inEpoch(open.epoch));
        } catch (ErasedException e) {
            // What was begun before the erasure is over; the next turn starts afresh.
            turn = null;
            throw e;
        }
    }

    /** Reads as far back as the strategy looks, or as a list of some size may reach. */
    private Seen load(OpenTurn open, int atLeast) {
        Reach reach = settings.strategy().reach(id);
        if (reach.messages() < atLeast) {
            reach = new Reach(atLeast, reach.turns(), reach.tokens(), reach.oldest(), reach.toSummary());
        }
        Tail tail = settings.load(key, reach);
        if (open.awaited == 0) {
            if (open.epoch != null && open.epoch != tail.epoch()) {
                open.relink(null);
            }
            // In the middle of a tool round the epoch stays: what began before an erasure must be refused.
            open.epoch = tail.epoch();
        }
        open.seen(null, false);
        return Seen.of(tail, settings.strategy().select(TailLoader.context(id, tail)));
    }

    /** Returns false if somebody else moved the head. */
    private boolean tryChange(OpenTurn open, ViewChange change, Seen seen, boolean keepsSummary) {
        // Where a limit cut something off, a fork would have room to show it again.
        ViewStep step = ViewStep.of(change, seen.tail(), !seen.cut(), keepsSummary);
        if (step == null) {
            return true;
        }
        try {
            AppendResult result = append(open, step.append());
            Append again = step.afterwards(result);
            if (again != null) {
                append(open, again);
            }
            return true;
        } catch (HeadConflictException e) {
            return false;
        }
    }

    static List<ChatMessage> copy(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = new ArrayList<>();
        for (ChatMessage message : Objects.requireNonNull(messages, "messages")) {
            list.add(Objects.requireNonNull(message, "message"));
        }
        return list;
    }
}
