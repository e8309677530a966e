package io.github.keepsake4j.context;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An answer, or calls with the results that were found for them. */
final class OpenRound {
    /** The initial capacity. Most rounds have one or two messages, and a window has many rounds. */
    private static final int FEW = 2;

    /** Beginning with the answer or the calls. */
    final List<LoggedMessage> messages = new ArrayList<>(FEW);

    /** The calls that have no result yet. */
    final List<ToolExecutionRequest> waiting;

    /** The index of its newest message among those that were read. */
    int newest;

    OpenRound(LoggedMessage first) {
        messages.add(first);
        waiting = new ArrayList<>(first.message() instanceof AiMessage ai ? ai.toolExecutionRequests() : List.of());
    }

    /** Adds a result if one of the calls waits for it. */
    boolean takes(LoggedMessage logged, ToolExecutionResultMessage result) {
        // Some models provide no call ids. Then only the tool's name can match the result to its call.
        Optional<ToolExecutionRequest> call = waiting.stream()
                .filter(each -> (each.id() == null && result.id() == null)
                        ? Objects.equals(each.name(), result.toolName())
                        : Objects.equals(each.id(), result.id()))
                .findFirst();
        if (call.isEmpty() || isOfOtherTurn(messages.get(0), logged)) {
            return false;
        }
        waiting.remove(call.get());
        return messages.add(logged);
    }

    /**
     * Returns whether two messages are known to belong to different turns. Ids of calls are not sufficient: some models
     * restart their numbering.
     */
    static boolean isOfOtherTurn(LoggedMessage some, LoggedMessage other) {
        return some.question() != null
                && other.question() != null
                && !some.question().equals(other.question());
    }

    boolean isShown() {
        return hidden() == null;
    }

    @Nullable
    Reason hidden() {
        if (isRejected()) {
            return Reason.REJECTED;
        }
        if (!waiting.isEmpty()) {
            return Reason.UNANSWERED_CALL;
        }
        return isEmpty() ? Reason.EMPTY_TEXT : null;
    }

    boolean isAnswer() {
        return !ContextTurn.calls(messages.get(0));
    }

    /** Returns whether this is a model's answer that is shown. */
    boolean isModelsAnswer() {
        return messages.get(0).message() instanceof AiMessage && isAnswer() && isShown();
    }

    /** Returns whether all calls have their results, and the round is shown. */
    boolean isComplete() {
        return !isAnswer() && isShown();
    }

    boolean isRejected() {
        return isRejected(messages.get(0));
    }

    static boolean isRejected(LoggedMessage message) {
        return message.outcome() != null && message.outcome().kind() == Kind.REJECTED;
    }

    private boolean isEmpty() {
        return messages.get(0).message() instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && (ai.text() == null || ai.text().isBlank())
                && ai.images().isEmpty();
    }
}
