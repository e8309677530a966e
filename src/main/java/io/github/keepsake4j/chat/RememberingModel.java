package io.github.keepsake4j.chat;

import dev.langchain4j.model.ModelProvider;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatRequestOptions;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A streaming model in front of another one. It sees the tokens of an answer, for which LangChain4j has no event, so
 * that an interrupted answer is kept. Requests outside of turns of this library's memories pass through. Thread-safe.
 */
record RememberingModel(StreamingChatModel model) implements StreamingChatModel {

    /** Returns a model that keeps the interrupted answers of another one. */
    static StreamingChatModel of(StreamingChatModel model) {
        return model instanceof RememberingModel ? model : new RememberingModel(model);
    }

    @Override
    public void chat(ChatRequest request, StreamingChatResponseHandler handler) {
        watched(request, handler, to -> model.chat(request, to));
    }

    @Override
    public void chat(ChatRequest request, ChatRequestOptions options, StreamingChatResponseHandler handler) {
        watched(request, handler, to -> model.chat(request, options, to));
    }

    private void watched(
            ChatRequest request, StreamingChatResponseHandler handler, Consumer<StreamingChatResponseHandler> call) {
        BoundTurn turn = IssuedRequests.take(request);
        if (turn == null) {
            call.accept(handler);
            return;
        }
        StreamedAnswer answer = new StreamedAnswer(handler, turn, model);
        try {
            call.accept(answer);
        } catch (Throwable e) {
            answer.threw(e);
            throw e;
        }
    }

    @Override
    public ChatRequestParameters defaultRequestParameters() {
        return model.defaultRequestParameters();
    }

    @Override
    public List<ChatModelListener> listeners() {
        return model.listeners();
    }

    @Override
    public ModelProvider provider() {
        return model.provider();
    }

    @Override
    public Set<Capability> supportedCapabilities() {
        return model.supportedCapabilities();
    }
}
