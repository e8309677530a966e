package io.github.keepsake4j.component;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.Optional;

/**
 * Adds the results of tools. A result whose call is not shown is refused, because it would never be shown. The call is
 * looked up and the result is added under the same revision of the memory, so that no {@code clear} can happen in
 * between.
 */
record ToolCalls(MessageLog log, MemoryKey key, TokenCounter counter) {

    /** How far back a call may be. */
    private static final int NEWEST = 200;

    /** The number of tries of an append. A try fails only if the memory was cleared or its branch changed meanwhile. */
    private static final int MAX_ROUNDS = 100;

    /** Adds a result, under the name of the tool that was called. */
    void add(ToolExecutionResultMessage result) {
        for (int round = 1; ; round++) {
            Tail tail = log.read(key, ReadQuery.newest(NEWEST));
            ToolExecutionResultMessage named = check(result, tail);
            TokenCounter.Count count = counter.count(named);
            NewMessage message = NewMessage.of(named, count.tokens(), count.counter());
            try {
                log.append(key, Append.underHead(message).sinceRevisionOf(tail.position()));
                return;
            } catch (HeadConflictException e) {
                if (round == MAX_ROUNDS) {
                    throw e;
                }
            }
        }
    }

    /** Returns the result with the name of its tool, if it answers a waiting call. */
    private static ToolExecutionResultMessage check(ToolExecutionResultMessage result, Tail tail) {
        View view = tail.view();
        long hidden = view != null && view.showsNothing() ? view.anchorSequence() : 0;
        for (int i = tail.messages().size() - 1; i >= 0; i--) {
            LoggedMessage logged = tail.messages().get(i);
            if (logged.sequence() <= hidden
                    || (logged.message() instanceof ToolExecutionResultMessage other
                            && other.id().equals(result.id()))) {
                break;
            }
            Optional<ToolExecutionRequest> call = logged.message() instanceof AiMessage ai
                    ? ai.toolExecutionRequests().stream()
                            .filter(request -> result.id().equals(request.id()))
                            .findFirst()
                    : Optional.empty();
            if (call.isPresent()) {
                return result.toolName() == null
                        ? result.toBuilder().toolName(call.get().name()).build()
                        : result;
            }
        }
        throw new InvalidInputException(
                "message.tool_call_id",
                "must be the id of a tool call that has no result and is in the newest " + NEWEST
                        + " messages of the session; add the assistant's message first");
    }
}
