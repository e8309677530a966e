package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.spring.AiService;

@AiService
interface Assistant {
    String chat(@MemoryId String user, @UserMessage String text);
}
