package io.github.keepsake4j.benchmark;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A conversation of questions and answers of the payload's size. No two messages are equal. */
final class Dialogue {

    private static final int BATCH = 1_000;

    /**
     * The messages of one turn. A turn without tools has only the question and the answer.
     *
     * @param question the user's message
     * @param calls the assistant's message that calls two tools
     * @param first the first tool's result
     * @param second the second tool's result
     * @param answer the assistant's answer
     */
    record Turn(
            UserMessage question,
            AiMessage calls,
            ToolExecutionResultMessage first,
            ToolExecutionResultMessage second,
            AiMessage answer) {

        static Turn of(int number) {
            String id = "call-" + number + "-";
            List<ToolExecutionRequest> requests = Stream.of("first", "second")
                    .map(name -> ToolExecutionRequest.builder()
                            .id(id + name)
                            .name(name)
                            .arguments("{\"offer\": " + number + "}")
                            .build())
                    .toList();
            return new Turn(
                    UserMessage.from(text("Question", number)),
                    AiMessage.from(requests),
                    ToolExecutionResultMessage.from(requests.get(0), text("First result", number)),
                    ToolExecutionResultMessage.from(requests.get(1), text("Second result", number)),
                    AiMessage.from(text("Answer", number)));
        }
    }

    private Dialogue() {}

    /** Returns turns that are made before anything is measured. */
    static List<Turn> turns(int count) {
        return IntStream.range(0, count).mapToObj(Turn::of).toList();
    }

    /** Appends messages to a memory: questions and answers in turn. */
    static void fill(MessageLog log, ConversationKey key, int messages) {
        for (int from = 0; from < messages; from += BATCH) {
            List<NewMessage> batch = IntStream.range(from, Math.min(from + BATCH, messages))
                    .mapToObj(number -> NewMessage.of(message(number), Payload.TOKENS, Payload.COUNTER))
                    .toList();
            log.append(key, Append.under(Parent.head(), batch));
        }
    }

    private static ChatMessage message(int number) {
        return number % 2 == 0
                ? UserMessage.from(text("Earlier question", number))
                : AiMessage.from(text("Earlier answer", number));
    }

    private static String text(String what, int number) {
        String payload = Payload.MESSAGE.singleText();
        return what + " " + number + ": " + payload.substring(0, payload.length() - 24);
    }
}
