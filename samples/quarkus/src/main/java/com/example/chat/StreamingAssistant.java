package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.quarkiverse.langchain4j.RegisterAiService;
import io.smallrye.mutiny.Multi;
import jakarta.enterprise.context.ApplicationScoped;

/** Belongs to the application. */
@ApplicationScoped
@RegisterAiService(
        chatLanguageModelSupplier = ScriptedModel.Supplier.class,
        streamingChatLanguageModelSupplier = ScriptedModel.StreamingSupplier.class,
        tools = Thermometer.class)
public interface StreamingAssistant {

    Multi<String> chat(@MemoryId String conversation, @UserMessage String text);
}
