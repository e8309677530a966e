package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import io.quarkiverse.langchain4j.RegisterAiService;
import io.quarkiverse.langchain4j.ToolBox;

/** Request-scoped, as AI services are by default. Outside HTTP, callers need {@code @ActivateRequestContext}. */
@RegisterAiService(chatLanguageModelSupplier = ScriptedModel.Supplier.class)
public interface Assistant {

    @ToolBox(Thermometer.class)
    String chat(@MemoryId String conversation, @UserMessage String text);
}
