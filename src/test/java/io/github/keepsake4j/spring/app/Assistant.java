package io.github.keepsake4j.spring.app;

import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.langchain4j.service.guardrail.OutputGuardrails;
import dev.langchain4j.service.spring.AiService;
import io.github.keepsake4j.turn.Turn;

/** A service as LangChain4j's starter wires it, with nothing of ours but the parameter that regenerates. */
@AiService
public interface Assistant {

    @SystemMessage("You are helpful.")
    @OutputGuardrails(NoSecrets.class)
    String chat(@MemoryId String conversation, @UserMessage String text);

    @SystemMessage("You are helpful.")
    String again(@MemoryId String conversation, @UserMessage String text, Turn turn);

    @UserMessage("Translate {{text}}")
    String translate(@MemoryId String conversation, @V("text") String text);

    @SystemMessage("You are helpful.")
    TokenStream stream(@MemoryId String conversation, @UserMessage String text);
}
