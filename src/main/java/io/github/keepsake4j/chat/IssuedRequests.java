package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.request.ChatRequest;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The request that each thread is about to send. A streaming model is called with a request right after its event, on
 * the same thread, and so finds the turn of the request. Thread-safe.
 */
final class IssuedRequests {

    private record Issued(WeakReference<ChatRequest> request, WeakReference<BoundTurn> turn) {}

    @SuppressWarnings("ThreadLocalUsage")
    private static final ThreadLocal<@Nullable Issued> LAST = new ThreadLocal<>();

    private IssuedRequests() {}

    static void issued(ChatRequest request, BoundTurn turn) {
        LAST.set(new Issued(new WeakReference<>(request), new WeakReference<>(turn)));
    }

    /** Returns the turn of a request, or null if there is none. Equal requests may belong to several turns. */
    @SuppressWarnings("ReferenceEquality")
    static @Nullable BoundTurn take(ChatRequest request) {
        Issued last = LAST.get();
        LAST.remove();
        return last != null && last.request().get() == request ? last.turn().get() : null;
    }
}
