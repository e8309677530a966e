package io.github.keepsake4j.chat;

import dev.langchain4j.invocation.InvocationContext;
import java.util.Collections;
import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** The calls of AI services in this process, by their ids. Thread-safe. */
final class Invocations {

    /** The calls that may have further events. An entry is removed with the last context of its call. */
    private static final Map<UUID, Invocation> BY_ID = Collections.synchronizedMap(new WeakHashMap<>());

    private Invocations() {}

    /** Records a call that begins on this thread. Only the first listeners that report it are used. */
    static void started(UUID id, Invocation begun) {
        if (BY_ID.putIfAbsent(id, begun) == null) {
            CallsOfThread.enter(begun);
            WatchedCall.begun(begun);
        }
    }

    /** Returns the call of an event, or null if these listeners did not report its beginning. */
    static @Nullable Invocation of(InvocationContext context, Object listeners) {
        Invocation invocation = of(context);
        return invocation != null && invocation.isToldBy(listeners) ? invocation : null;
    }

    /** Returns a call by its id, or null if it is unknown. */
    static @Nullable Invocation of(InvocationContext context) {
        return context.invocationId() == null ? null : BY_ID.get(context.invocationId());
    }
}
