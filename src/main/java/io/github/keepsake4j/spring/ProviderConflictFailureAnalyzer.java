package io.github.keepsake4j.spring;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.service.IllegalConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Adds to LangChain4j's own error that {@code @Primary} does not decide. */
final class ProviderConflictFailureAnalyzer extends AbstractFailureAnalyzer<IllegalConfigurationException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, IllegalConfigurationException cause) {
        String message = String.valueOf(cause.getMessage());
        if (!message.contains(ChatMemoryProvider.class.getName())) {
            return null;
        }
        return new FailureAnalysis(
                message,
                "LangChain4j wires a ChatMemoryProvider into an @AiService only if there is exactly one such bean; it does not look"
                        + " at @Primary. Either keep one bean, and make the others in the methods that use them, or name the"
                        + " beans of each service: @AiService(wiringMode = EXPLICIT, chatModel = \"…\", chatMemoryProvider ="
                        + " \"…\").",
                root);
    }
}
