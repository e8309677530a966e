package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.spring.AiService;

@AiService
interface StreamingAssistant {
    TokenStream chat(@MemoryId String conversation, @UserMessage String text);
}
