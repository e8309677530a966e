package io.github.keepsake4j.spring.app;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.guardrail.OutputGuardrailResult;

/** Refuses an answer that says a secret. */
public class NoSecrets implements OutputGuardrail {

    @Override
    public OutputGuardrailResult validate(AiMessage answer) {
        return answer.text() != null && answer.text().contains("secret") ? fatal("a secret") : success();
    }
}
