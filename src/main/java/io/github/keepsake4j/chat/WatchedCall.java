package io.github.keepsake4j.chat;

import dev.langchain4j.service.TokenStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call of an attached AI service, from its beginning until it returns. LangChain4j has no event for an {@link Error}, nor
 * for a stream that is not started or cannot be started. Used by one thread.
 */
final class WatchedCall {

    /** The innermost call of each thread. */
    @SuppressWarnings("ThreadLocalUsage")
    private static final ThreadLocal<@Nullable WatchedCall> INNERMOST = new ThreadLocal<>();

    private final @Nullable WatchedCall outer;
    private final List<Invocation> begun = new ArrayList<>(1);

    private WatchedCall(@Nullable WatchedCall outer) {
        this.outer = outer;
    }

    static WatchedCall begin() {
        WatchedCall call = new WatchedCall(INNERMOST.get());
        INNERMOST.set(call);
        return call;
    }

    /** Records that LangChain4j begins a call on this thread. */
    static void begun(Invocation invocation) {
        WatchedCall call = INNERMOST.get();
        if (call != null) {
            call.begun.add(invocation);
        }
    }

    void end() {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }

    /** The call ended with an exception or an error. */
    void threw(Throwable error) {
        for (Invocation invocation : begun) {
            Invocations.leave(invocation);
            BoundTurn turn = invocation.turn();
            if (turn != null) {
                turn.failed(error);
            }
        }
    }

    /** Returns a stream that tells when it is started and whether that fails. */
    TokenStream watched(TokenStream stream) {
        BoundTurn turn = begun.isEmpty() ? null : begun.get(0).turn();
        if (turn == null) {
            return stream;
        }
        turn.returned();
        return (TokenStream) Proxy.newProxyInstance(
                TokenStream.class.getClassLoader(), new Class<?>[] {TokenStream.class}, (proxy, method, arguments) -> {
                    Object result = method.getName().equals("start")
                            ? start(turn, stream, method, arguments)
                            : invoke(stream, method, arguments);
                    return stream.equals(result) ? proxy : result;
                });
    }

    private static @Nullable Object start(
            BoundTurn turn, TokenStream stream, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        turn.starts();
        try {
            return invoke(stream, method, arguments);
        } catch (Throwable e) {
            turn.failed(e);
            throw e;
        }
    }

    private static @Nullable Object invoke(TokenStream stream, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(stream, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
