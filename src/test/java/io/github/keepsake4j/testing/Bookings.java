package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.CompensateFor;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.guardrail.OutputGuardrailResult;

/** Tools that can be rolled back, and guardrails that refuse an answer which begins with "rejected". */
public final class Bookings {

    @Tool
    int add(int a, int b) {
        return a + b;
    }

    @Tool
    String book(String what) {
        return "booked";
    }

    @CompensateFor("book")
    void unbook(String what) {}

    @Tool
    String pay(String what) {
        throw new IllegalStateException("no money");
    }

    private static boolean isRejected(AiMessage answer) {
        return answer.text() != null && answer.text().startsWith("rejected");
    }

    /** Asks for another answer. */
    public static final class NoRejected implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return isRejected(answer) ? reprompt("not that", "Say something else") : success();
        }
    }

    /** Takes the answer out of the memory. */
    public static final class RemoveRejected implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return isRejected(answer) ? failureWithMessageRemoval("not that") : success();
        }
    }
}
