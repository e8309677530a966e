package io.github.keepsake4j.chat;

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

/**
 * Takes the tokens of one answer on their way to the AI service, and tells the turn if the answer breaks off. Thread-safe,
 * because the handle may be cancelled on any thread.
 */
final class StreamedAnswer implements StreamingChatResponseHandler {

    private final StreamingChatResponseHandler handler;
    private final BoundTurn turn;
    private final StringBuilder text = new StringBuilder();
    private volatile boolean complete;

    StreamedAnswer(StreamingChatResponseHandler handler, BoundTurn turn) {
        this.handler = handler;
        this.turn = turn;
    }

    @Override
    public void onPartialResponse(String partialResponse) {
        said(partialResponse);
        handler.onPartialResponse(partialResponse);
    }

    @Override
    public void onPartialResponse(PartialResponse partialResponse, PartialResponseContext context) {
        said(partialResponse.text());
        handler.onPartialResponse(partialResponse, new PartialResponseContext(watched(context.streamingHandle())));
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking) {
        handler.onPartialThinking(partialThinking);
    }

    @Override
    public void onPartialThinking(PartialThinking partialThinking, PartialThinkingContext context) {
        handler.onPartialThinking(partialThinking, new PartialThinkingContext(watched(context.streamingHandle())));
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall) {
        handler.onPartialToolCall(partialToolCall);
    }

    @Override
    public void onPartialToolCall(PartialToolCall partialToolCall, PartialToolCallContext context) {
        handler.onPartialToolCall(partialToolCall, new PartialToolCallContext(watched(context.streamingHandle())));
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
        complete = true;
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
            }

            @Override
            public boolean isCancelled() {
                return handle.isCancelled();
            }
        };
    }
}
