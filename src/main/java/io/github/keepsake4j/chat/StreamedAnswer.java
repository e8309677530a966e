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
 * Takes the tokens of one answer on their way to the AI service, and tells the turn if the answer breaks off. Thread-safe,
 * because the handle may be cancelled on any thread.
 */
final class StreamedAnswer implements StreamingChatResponseHandler {

    private final StreamingChatResponseHandler handler;
    private final BoundTurn turn;
    private final StringBuilder text = new StringBuilder();
    private volatile boolean complete;

    /** Cancels the answer, as soon as the model has given a handle. Guarded by this. */
    private @Nullable StreamingHandle handle;

    /** Whether the answer is to be cancelled. Guarded by this. */
    private boolean stopped;

    StreamedAnswer(StreamingChatResponseHandler handler, BoundTurn turn, StreamingChatModel model) {
        this.handler = handler;
        this.turn = turn;
        turn.streams(model.getClass());
        turn.memories.services().streams(this);
    }

    boolean isOf(MemoryKey key) {
        return turn.key.equals(key);
    }

    /**
     * Cancels the answer now, or when the model gives a handle with its next token.
     *
     * @return whether it was in progress and nothing has stopped it before
     */
    boolean stop() {
        StreamingHandle known;
        synchronized (this) {
            if (complete || stopped || (handle != null && handle.isCancelled())) {
                return false;
            }
            stopped = true;
            known = handle;
        }
        if (known != null) {
            known.cancel();
        }
        return true;
    }

    /** Keeps the model's handle. If the answer was stopped before there was one, it is cancelled. */
    private StreamingHandle take(StreamingHandle given) {
        StreamingHandle watched = watched(given);
        boolean late;
        synchronized (this) {
            late = stopped && handle == null;
            handle = watched;
        }
        if (late) {
            watched.cancel();
        }
        return watched;
    }

    private void ended() {
        complete = true;
        turn.memories.services().ended(this);
    }

    @Override
    public void onPartialResponse(String partialResponse) {
        said(partialResponse);
        handler.onPartialResponse(partialResponse);
    }

    @Override
    public void onPartialResponse(PartialResponse partialResponse, PartialResponseContext context) {
        said(partialResponse.text());
        handler.onPartialResponse(partialResponse, new PartialResponseContext(take(context.streamingHandle())));
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking) {
        handler.onPartialThinking(partialThinking);
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking, PartialThinkingContext context) {
        handler.onPartialThinking(partialThinking, new PartialThinkingContext(take(context.streamingHandle())));
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall) {
        handler.onPartialToolCall(partialToolCall);
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall, PartialToolCallContext context) {
        handler.onPartialToolCall(partialToolCall, new PartialToolCallContext(take(context.streamingHandle())));
    }

    @Override
    public void onCompleteToolCall(CompleteToolCall completeToolCall) {
        handler.onCompleteToolCall(completeToolCall);
    }

    @Override
    public void onUnmappedRawEvent(Object rawEvent) {
        handler.onUnmappedRawEvent(rawEvent);
    }

    @Override
    public void onCompleteResponse(ChatResponse completeResponse) {
        ended();
        handler.onCompleteResponse(completeResponse);
    }

    @Override
    public void onError(Throwable error) {
        threw(error);
        handler.onError(error);
    }

    /** The model told of an error, or it could not be called. */
    void threw(Throwable error) {
        if (!complete) {
            turn.brokeOff(said(), error.getClass().getName(), false);
        }
        turn.memories.services().ended(this);
    }

    private void said(String more) {
        synchronized (text) {
            text.append(more);
        }
    }

    private String said() {
        synchronized (text) {
            return text.toString();
        }
    }

    private StreamingHandle watched(StreamingHandle handle) {
        return new StreamingHandle() {
            @Override
            public void cancel() {
                handle.cancel();
                if (!complete) {
                    turn.brokeOff(said(), AnswerEnd.CANCELLED, true);
                }
                turn.memories.services().ended(StreamedAnswer.this);
            }

            @Override
            public boolean isCancelled() {
                return handle.isCancelled();
            }
        };
    }
}
