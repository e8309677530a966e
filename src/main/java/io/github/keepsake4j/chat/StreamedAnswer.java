package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.PartialToolCallContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;

/**
 * Receives the tokens of one answer on their way to the AI service, and reports an interruption to the turn. The stored
 * part then has the delivered tokens, up to the token that is being delivered when the answer is stopped. Thread-safe,
 * because any thread may stop an answer. No lock is held while a token is delivered.
 */
final class StreamedAnswer implements StreamingChatResponseHandler, RunningTurns.Answer {

    private final StreamingChatResponseHandler handler;
    private final BoundTurn turn;
    private volatile boolean complete;

    /** The delivered text. Guarded by this. */
    private final StringBuilder text = new StringBuilder();

    /** Whether a token is being delivered. Guarded by this. */
    private boolean handingOut;

    /** Cancels the answer, as soon as the model has provided a handle. Guarded by this. */
    private @Nullable StreamingHandle handle;

    /** Whether no more tokens are delivered. Guarded by this. */
    private boolean stopped;

    StreamedAnswer(StreamingChatResponseHandler handler, BoundTurn turn, StreamingChatModel model) {
        this.handler = handler;
        this.turn = turn;
        turn.streams(this, model.getClass());
        turn.memories.turns.streams(this);
    }

    @Override
    public boolean isOf(MemoryKey key) {
        return turn.key.equals(key);
    }

    /** Cancels the model now, or when it provides a handle with its next token. */
    @Override
    public boolean stop() {
        StreamingHandle known;
        boolean last;
        synchronized (this) {
            if (complete || stopped || (handle != null && handle.isCancelled())) {
                return false;
            }
            stopped = true;
            known = handle;
            last = !handingOut;
        }
        try {
            if (known != null) {
                known.cancel();
            }
        } finally {
            if (last) {
                keepStopped();
            }
        }
        return true;
    }

    /**
     * Delivers a token, unless the answer was stopped.
     *
     * @param token the token
     * @param consumer takes it
     */
    void handOut(String token, Runnable consumer) {
        synchronized (this) {
            if (stopped) {
                return;
            }
            handingOut = true;
        }
        try {
            consumer.run();
        } finally {
            boolean last;
            synchronized (this) {
                text.append(token);
                handingOut = false;
                last = stopped;
            }
            if (last) {
                keepStopped();
            }
        }
    }

    private void keepStopped() {
        turn.brokeOff(handedOut(), AnswerEnd.CANCELLED, true);
        turn.memories.turns.ended(this);
        turn.streamStopped.complete(null);
    }

    /** Keeps the model's handle. If the answer was stopped before there was one, it is cancelled. */
    private StreamingHandle take(StreamingHandle given) {
        boolean late;
        synchronized (this) {
            handle = given;
            late = stopped;
        }
        if (late && !given.isCancelled()) {
            given.cancel();
        }
        return new StreamingHandle() {
            @Override
            public void cancel() {
                if (!stop()) {
                    given.cancel();
                }
            }

            @Override
            public boolean isCancelled() {
                return given.isCancelled();
            }
        };
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    private synchronized String handedOut() {
        return text.toString();
    }

    @Override
    public void onPartialResponse(String partialResponse) {
        partial(partialResponse, () -> handler.onPartialResponse(partialResponse));
    }

    @Override
    public void onPartialResponse(PartialResponse partialResponse, PartialResponseContext context) {
        PartialResponseContext watched = new PartialResponseContext(take(context.streamingHandle()));
        partial(partialResponse.text(), () -> handler.onPartialResponse(partialResponse, watched));
    }

    /** The AI service may hold back a token. If its stream is watched, the stream reports the delivered tokens. */
    private void partial(String token, Runnable next) {
        if (turn.isStreamWatched()) {
            unlessStopped(() -> {
                turn.sends(this);
                next.run();
            });
        } else {
            handOut(token, next);
        }
    }

    private void unlessStopped(Runnable next) {
        if (!isStopped()) {
            next.run();
        }
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking) {
        unlessStopped(() -> handler.onPartialThinking(partialThinking));
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking, PartialThinkingContext context) {
        PartialThinkingContext watched = new PartialThinkingContext(take(context.streamingHandle()));
        unlessStopped(() -> handler.onPartialThinking(partialThinking, watched));
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall) {
        unlessStopped(() -> handler.onPartialToolCall(partialToolCall));
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall, PartialToolCallContext context) {
        PartialToolCallContext watched = new PartialToolCallContext(take(context.streamingHandle()));
        unlessStopped(() -> handler.onPartialToolCall(partialToolCall, watched));
    }

    @Override
    public void onCompleteToolCall(CompleteToolCall completeToolCall) {
        unlessStopped(() -> handler.onCompleteToolCall(completeToolCall));
    }

    @Override
    public void onUnmappedRawEvent(Object rawEvent) {
        handler.onUnmappedRawEvent(rawEvent);
    }

    @Override
    public void onCompleteResponse(ChatResponse completeResponse) {
        complete = true;
        turn.memories.turns.ended(this);
        handler.onCompleteResponse(completeResponse);
    }

    @Override
    public void onError(Throwable error) {
        threw(error);
        handler.onError(error);
    }

    /** Records an error of the model or of its call. Models also report a cancellation as an error. */
    void threw(Throwable error) {
        if (!complete && !isStopped()) {
            turn.brokeOff(handedOut(), error.getClass().getName(), false);
        }
        turn.memories.turns.ended(this);
    }
}
