package io.github.keepsake4j.chat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls of AI services for which each thread works at the moment. A chat memory does not receive the call that uses
 * it. The events of a call come on the threads that use the memory next, so a call is entered on a thread by an event
 * and left when its user message is added or its next request is issued. Thread-safe.
 */
final class CallsOfThread {

    /** A call, as a chat memory sees it. */
    interface Call {

        boolean isOver();

        /** Returns the call's turn in a memory, or null if it has none there. */
        @Nullable
        OpenTurn turnIn(KeepsakeChatMemory memory);

        /** Records that a user message is added. Returns whether it is the first one, which is the call's own. */
        boolean asked();
    }

    /** The calls for which this thread works, the innermost first. */
    @SuppressWarnings("ThreadLocalUsage")
    private static final ThreadLocal<@Nullable Deque<Call>> OF_THREAD = new ThreadLocal<>();

    private CallsOfThread() {}

    /** Sets the call for which this thread works. Calls that began within it are over. */
    static void enter(Call call) {
        Deque<Call> calls = OF_THREAD.get();
        if (calls == null) {
            calls = new ArrayDeque<>(2);
            OF_THREAD.set(calls);
        } else if (calls.contains(call)) {
            while (calls.peek() != call) {
                calls.pop();
            }
            return;
        }
        calls.removeIf(Call::isOver);
        calls.push(call);
    }

    /** Ends this thread's work for a call, for now. */
    static void leave(Call call) {
        Deque<Call> calls = OF_THREAD.get();
        if (calls != null) {
            calls.remove(call);
            if (calls.isEmpty()) {
                OF_THREAD.remove();
            }
        }
    }

    /** Returns the calls for which this thread works. */
    static List<Call> all() {
        Deque<Call> calls = OF_THREAD.get();
        return calls == null ? List.of() : List.copyOf(calls);
    }

    /** Returns the call with a turn in a memory for which this thread works, or null if there is none. */
    static @Nullable Call of(KeepsakeChatMemory memory) {
        Deque<Call> calls = OF_THREAD.get();
        if (calls == null) {
            return null;
        }
        calls.removeIf(Call::isOver);
        return calls.stream()
                .filter(call -> call.turnIn(memory) != null)
                .findFirst()
                .orElse(null);
    }
}
