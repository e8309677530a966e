package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.langchain4j.service.spring.AiService;

@AiService
interface StreamingAssistant {
    @UserMessage("{{text}}")
    TokenStream chat(@MemoryId String conversation, @V("text") String text);
}
