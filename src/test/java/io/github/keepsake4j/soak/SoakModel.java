package io.github.keepsake4j.soak;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Script;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A model of one thread that does what the thread's question says, and looks at what it is shown. In a shared
 * conversation, the newest question that it is shown may be another thread's.
 */
final class SoakModel {

    private final Consumer<String> refusals;
    private volatile AskedTurn turn;
    private volatile boolean called;

    /**
     * @param refusals takes a line on each request that a provider would refuse, and on each that lacks the answer
     * before
     */
    SoakModel(Consumer<String> refusals) {
        this.refusals = refusals;
    }

    void begin(AskedTurn next) {
        turn = next;
        called = false;
    }

    ChatModel chat() {
        return Script.playing(request -> answer(request.messages()));
    }

    StreamingChatModel streaming() {
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                CompletableFuture.runAsync(() -> {
                    handler.onPartialResponse("ans");
                    handler.onPartialResponse("wer");
                    handler.onCompleteResponse(answer(request.messages()));
                });
            }
        };
    }

    private ChatResponse answer(List<ChatMessage> shown) {
        if (!ProviderRules.request(shown).isEmpty()) {
            refusals.accept(turn.id() + " " + ProviderRules.request(shown));
        }
        if (!turn.after().equals("-") && shown.stream().noneMatch(this::answersTheTurnBefore)) {
            refusals.accept(turn.id() + " without the answer of " + turn.after());
        }
        boolean calls = turn.kind().hasTools() && !called;
        called = true;
        AiMessage message = calls
                ? AiMessage.from(Dialogue.call("call-" + turn.id(), "look", "{\"id\": \"" + turn.id() + "\"}"))
                : AiMessage.from(turn.answer());
        return Script.response(message);
    }

    private boolean answersTheTurnBefore(ChatMessage message) {
        return message instanceof AiMessage answer
                && AskedTurn.answer(turn.after()).equals(answer.text());
    }
}
