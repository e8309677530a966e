package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** A model that answers what a function says to the user message, and keeps the prompts. */
public final class ScriptedModel implements ChatModel {

    public final List<String> prompts = new CopyOnWriteArrayList<>();
    public final List<String> systems = new CopyOnWriteArrayList<>();
    public final AtomicLong tokensSent = new AtomicLong();
    private final Function<String, String> answers;

    public ScriptedModel(Function<String, String> answers) {
        this.answers = answers;
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        String prompt = ((UserMessage) request.messages().get(1)).singleText();
        systems.add(((SystemMessage) request.messages().get(0)).text());
        prompts.add(prompt);
        tokensSent.addAndGet(TokenCounter.standard().estimateTokenCountInMessages(request.messages()));
        return ChatResponse.builder()
                .aiMessage(AiMessage.from(answers.apply(prompt)))
                .build();
    }
}
