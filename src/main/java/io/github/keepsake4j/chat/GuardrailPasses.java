package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.guardrail.OutputGuardrailResult;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.observability.api.event.OutputGuardrailExecutedEvent;
import io.github.keepsake4j.log.NewMessage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The results of the output guardrails of a turn. Each pass runs the guardrails on one answer, in their order. A
 * guardrail that asks the model again ends its pass. The caller guards access.
 */
final class GuardrailPasses {

    private boolean inPass;
    private @Nullable AiMessage first;

    /** The result of the newest guardrail. LangChain4j drops the results of earlier ones. */
    private @Nullable String rewritten;

    /** The end of the answer of the newest pass. */
    private @Nullable AnswerEnd end;

    private @Nullable String by;

    /**
     * Records a result.
     *
     * @param event the result
     * @param endOf returns the end of an answer, once for each pass
     */
    void checked(OutputGuardrailExecutedEvent event, Function<ChatResponse, AnswerEnd> endOf) {
        OutputGuardrailResult result = event.result();
        ChatResponse response = event.request().responseFromLLM();
        if (!inPass) {
            first = response.aiMessage();
            end = endOf.apply(response);
            inPass = true;
        }
        rewritten = result.isSuccess() && result.hasRewrittenResult() ? result.successfulText() : null;
        if (!result.isSuccess()) {
            by = event.guardrailClass().getName();
            inPass = !result.isFatal();
        } else if (rewritten != null) {
            by = by == null ? event.guardrailClass().getName() : by;
        }
    }

    /** Returns the answer that the last pass accepted, or null if there are no guardrails. */
    @Nullable
    AiMessage given() {
        return first == null || rewritten == null ? first : first.withText(rewritten);
    }

    /** Returns the given answer with its end. */
    NewMessage ended(NewMessage given) {
        return end == null ? given : given.withMade(end.made()).withOutcome(end.outcome());
    }

    /** Returns the class of the guardrail that refused or rewrote an answer, or null if none did. */
    @Nullable
    String by() {
        return by;
    }
}
