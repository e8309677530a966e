package io.github.keepsake4j.chat;

import dev.langchain4j.invocation.InvocationContext;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of AI services in this process, and for which of them each thread works at the moment. A chat memory is not
 * told which call uses it. The events of a call come on the threads that use the memory next, so a call is entered on a
 * thread by an event and left when its user message is added or its next request is issued. Thread-safe.
 */
final class Invocations {

    /** The calls of which there may be further events. An entry goes when the last context of its call does. */
    private static final Map<UUID, Invocation> BY_ID = Collections.synchronizedMap(new WeakHashMap<>());

    /** The calls for which this thread works, the innermost first. */
    @SuppressWarnings("ThreadLocalUsage")
    private static final ThreadLocal<@Nullable Deque<Invocation>> OF_THREAD = new ThreadLocal<>();

    private Invocations() {}

    /** Records a call that begins on this thread. The first listeners that tell of it are those that are listened to. */
    static void started(UUID id, Supplier<Invocation> begun) {
        Invocation[] created = new Invocation[1];
        BY_ID.computeIfAbsent(id, absent -> created[0] = begun.get());
        if (created[0] != null) {
            enter(created[0]);
            WatchedCall.begun(created[0]);
        }
    }

    /** Returns the call of an event, or null if its beginning was not told by these listeners. */
    static @Nullable Invocation of(InvocationContext context, Object listeners) {
        Invocation invocation = context.invocationId() == null ? null : BY_ID.get(context.invocationId());
        return invocation != null && invocation.isToldBy(listeners) ? invocation : null;
    }

    /** Returns a call by its id, or null if it is unknown. */
    static @Nullable Invocation of(InvocationContext context) {
        return context.invocationId() == null ? null : BY_ID.get(context.invocationId());
    }

    /** Makes a call the one that this thread works for. Calls that began within it are over. */
    static void enter(Invocation invocation) {
        Deque<Invocation> calls = OF_THREAD.get();
        if (calls == null) {
            calls = new ArrayDeque<>(2);
            OF_THREAD.set(calls);
        } else if (calls.contains(invocation)) {
            while (calls.peek() != invocation) {
                calls.pop();
            }
            return;
        }
        calls.removeIf(Invocation::isOver);
        calls.push(invocation);
    }

    /** Ends this thread's work for a call, for now. */
    static void leave(Invocation invocation) {
        Deque<Invocation> calls = OF_THREAD.get();
        if (calls != null) {
            calls.remove(invocation);
            if (calls.isEmpty()) {
                OF_THREAD.remove();
            }
        }
    }

    /** Returns the turn that this thread works for in a memory, or null if it is none. */
    static @Nullable BoundTurn turnOf(KeepsakeChatMemory memory) {
        Deque<Invocation> calls = OF_THREAD.get();
        if (calls == null) {
            return null;
        }
        for (Iterator<Invocation> newest = calls.iterator(); newest.hasNext(); ) {
            Invocation call = newest.next();
            if (call.isOver()) {
                newest.remove();
                continue;
            }
            BoundTurn turn = call.turnIn(memory);
            if (turn != null) {
                return turn;
            }
        }
        return null;
    }

    /** Records that a user message is added. The first one of a call is its own. */
    static void asked(BoundTurn turn) {
        if (turn.invocation().asked()) {
            leave(turn.invocation());
        }
    }
}
