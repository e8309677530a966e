package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.service.TokenStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

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

    private final Method method;

    /** Called when the service uses a memory of this library. */
    private final BooleanSupplier onBound;

    private WatchedCall(@Nullable WatchedCall outer, Method method, BooleanSupplier onBound) {
        this.outer = outer;
        this.method = method;
        this.onBound = onBound;
    }

    static WatchedCall begin(Method method, BooleanSupplier onBound) {
        WatchedCall call = new WatchedCall(INNERMOST.get(), method, onBound);
        INNERMOST.set(call);
        return call;
    }

    /** Records that LangChain4j begins a call on this thread. */
    static void begun(Invocation invocation) {
        WatchedCall call = INNERMOST.get();
        if (call != null) {
            if (call.begun.isEmpty()) {
                invocation.calls(call.method);
            }
            call.begun.add(invocation);
        }
    }

    /** Records that a call on this thread uses a memory. Returns whether it leaves out what was retrieved. */
    static boolean bound() {
        WatchedCall call = INNERMOST.get();
        return call != null && call.onBound.getAsBoolean();
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
            CallsOfThread.leave(invocation);
            BoundTurn turn = invocation.turn();
            if (turn != null) {
                turn.failed(error);
            }
        }
    }

    /** Returns the result of the call. A stream or a flux is wrapped, so that the turn knows it. */
    @Nullable
    Object watched(@Nullable Object result) {
        BoundTurn turn = begun.isEmpty() ? null : begun.get(0).turn();
        if (turn == null || result == null) {
            return result;
        }
        if (begun.get(0).flux) {
            return HandedOut.of(result, turn);
        }
        return result instanceof TokenStream stream ? watched(stream, turn) : result;
    }

    /** Returns a stream that reports its start, a failure of the start, and the tokens that it returns. */
    private static TokenStream watched(TokenStream stream, BoundTurn turn) {
        turn.returned();
        return (TokenStream) Proxy.newProxyInstance(
                TokenStream.class.getClassLoader(), new Class<?>[] {TokenStream.class}, (proxy, method, arguments) -> {
                    Object result = method.getName().equals("start")
                            ? start(turn, stream, method, arguments)
                            : invoke(stream, method, watched(turn, method, arguments));
                    return stream.equals(result) ? proxy : result;
                });
    }

    /** Returns the arguments of a method of a stream. A consumer of tokens reports the tokens that it gets. */
    @SuppressWarnings("unchecked")
    private static @Nullable Object @Nullable [] watched(
            BoundTurn turn, Method method, @Nullable Object @Nullable [] arguments) {
        Object consumer = arguments == null || arguments.length == 0 ? null : arguments[0];
        if (method.getName().equals("onPartialResponse") && consumer != null) {
            Consumer<String> given = (Consumer<String>) consumer;
            Consumer<String> told = token -> turn.handOut(token, () -> given.accept(token));
            return new Object[] {told};
        }
        if (method.getName().equals("onPartialResponseWithContext") && consumer != null) {
            var given = (BiConsumer<PartialResponse, PartialResponseContext>) consumer;
            BiConsumer<PartialResponse, PartialResponseContext> told =
                    (token, context) -> turn.handOut(token.text(), () -> given.accept(token, context));
            return new Object[] {told};
        }
        return arguments;
    }

    private static @Nullable Object start(
            BoundTurn turn, TokenStream stream, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        turn.memories.turns.starts(turn.key, turn);
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

    /**
     * Passes on the tokens of a flux, and completes it when the answer is stopped. If its subscriber cancels, the
     * answer is stopped. The only class that uses Reactor, which may be absent.
     */
    private static final class HandedOut implements CoreSubscriber<Object>, Subscription {
        private final CoreSubscriber<? super Object> subscriber;
        private final BoundTurn turn;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile @Nullable Subscription tokens;

        private HandedOut(CoreSubscriber<? super Object> subscriber, BoundTurn turn) {
            this.subscriber = subscriber;
            this.turn = turn;
        }

        @SuppressWarnings("unchecked")
        static Object of(Object flux, BoundTurn turn) {
            return ((Flux<Object>) flux)
                    .transform(
                            Operators.<Object, Object>lift((scannable, subscriber) -> new HandedOut(subscriber, turn)));
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            tokens = subscription;
            subscriber.onSubscribe(this);
            // A subscriber may not throw.
            CompletableFuture<Void> unused = turn.streamStopped.thenRun(() -> {
                subscription.cancel();
                onComplete();
            });
        }

        @Override
        public void onNext(Object token) {
            turn.handOut(token.toString(), () -> subscriber.onNext(token));
        }

        @Override
        public void onError(Throwable error) {
            if (ended.compareAndSet(false, true)) {
                subscriber.onError(error);
            }
        }

        @Override
        public void onComplete() {
            if (ended.compareAndSet(false, true)) {
                subscriber.onComplete();
            }
        }

        @Override
        public void request(long count) {
            Objects.requireNonNull(tokens, "tokens").request(count);
        }

        @Override
        public void cancel() {
            ended.set(true);
            Objects.requireNonNull(tokens, "tokens").cancel();
            turn.stopStream();
        }
    }
}
