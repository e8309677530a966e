package io.github.keepsake4j.chat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.service.tool.ToolExecution;
import io.github.keepsake4j.log.NewMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The results of tools that have run, until the AI service adds them to the memory. It does so when all tools of a round
 * have run, which may take long. The caller guards access.
 */
final class SlowResults {

    /** The time for which a result may wait for the others before it is written. It must be stored within a second. */
    static final Duration LONGEST_WAIT = Duration.ofMillis(500);

    private final List<ToolExecutionResultMessage> executed = new ArrayList<>();

    /** The results that were written before they were added. */
    private final List<NewMessage> written = new ArrayList<>();

    /** Records that a tool has run. */
    ToolExecutionResultMessage executed(ToolExecution execution) {
        ToolExecutionRequest request = execution.request();
        ToolExecutionResultMessage result = ToolExecutionResultMessage.builder()
                .id(request.id())
                .toolName(request.name())
                .contents(execution.resultContents())
                .isError(execution.hasFailed())
                .attributes(execution.attributes())
                .build();
        executed.add(result);
        return result;
    }

    /** Returns whether a result still waits to be added. */
    boolean isWaiting(ToolExecutionResultMessage result) {
        return executed.stream().anyMatch(waiting -> isSameCall(waiting, result));
    }

    /** Returns the results that wait to be added. */
    List<ToolExecutionResultMessage> waiting() {
        return List.copyOf(executed);
    }

    /** Records that all results that waited were written. */
    void written(List<NewMessage> results) {
        written.addAll(results);
        executed.clear();
    }

    /** Records that a result is added, and returns the message under which it was written already, or null. */
    @Nullable
    NewMessage added(ToolExecutionResultMessage result) {
        if (executed.stream()
                .filter(waiting -> isSameCall(waiting, result))
                .findFirst()
                .map(executed::remove)
                .isPresent()) {
            return null;
        }
        for (NewMessage early : written) {
            if (isSameCall((ToolExecutionResultMessage) early.message(), result)) {
                written.remove(early);
                return early;
            }
        }
        return null;
    }

    private static boolean isSameCall(ToolExecutionResultMessage one, ToolExecutionResultMessage other) {
        return Objects.equals(one.id(), other.id()) && Objects.equals(one.toolName(), other.toolName());
    }
}
