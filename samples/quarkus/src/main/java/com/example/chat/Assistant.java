package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.quarkiverse.langchain4j.RegisterAiService;
import io.quarkiverse.langchain4j.ToolBox;

/** Belongs to a request, as Quarkus's AI services do by default. Without HTTP, use {@code @ActivateRequestContext}. */
@RegisterAiService(chatLanguageModelSupplier = ScriptedModel.Supplier.class)
public interface Assistant {

    @ToolBox(Thermometer.class)
    String chat(@MemoryId String conversation, @UserMessage String text);
}
