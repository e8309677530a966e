package io.github.keepsake4j.chat.turns;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.HashMap;
import java.util.Map;

/** A log that makes the library believe what it must not. */
final class PlantedLog extends ForwardingMessageLog {

    enum Fault {
        /** What a turn says goes under the head, wherever that is. */
        PARENT_IS_HEAD,
        /** An answer directly behind a question answers that one. */
        CHILD_IS_ANSWER,
        /** What follows a question belongs to that one. */
        POSITION_FOR_QUESTION
    }

    private final Fault fault;

    PlantedLog(MessageLog log, Fault fault) {
        super(log);
        this.fault = fault;
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        boolean isOfTurn = append.messages().stream()
                .allMatch(message -> message.question() != null && !(message.message() instanceof UserMessage));
        return log().append(
                        key,
                        fault == Fault.PARENT_IS_HEAD
                                        && isOfTurn
                                        && !append.messages().isEmpty()
                                ? Append.under(Parent.head(), append.messages())
                                : append);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        Tail tail = log().read(key, query);
        Map<String, String> questions = new HashMap<>();
        LoggedMessage newest = null;
        for (LoggedMessage message : tail.messages()) {
            boolean isQuestion = message.message() instanceof UserMessage;
            newest = isQuestion ? message : newest;
            if (isQuestion || newest == null) {
                continue;
            }
            boolean isChild = newest.id().equals(message.parentId())
                    && message.message() instanceof AiMessage ai
                    && !ai.hasToolExecutionRequests();
            if (fault == Fault.POSITION_FOR_QUESTION || (fault == Fault.CHILD_IS_ANSWER && isChild)) {
                questions.put(message.id(), newest.id());
            }
        }
        return tail.showing(
                message -> questions.containsKey(message.id()) ? message.ofTurn(questions.get(message.id())) : message);
    }
}
