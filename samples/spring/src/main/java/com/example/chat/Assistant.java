package com.example.chat;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.langchain4j.service.spring.AiService;

@AiService
interface Assistant {
    @UserMessage("{{text}}")
    String chat(@MemoryId String user, @V("text") String text);
}
