package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that chats in the conversation "c" with tools of which some are slow, until it is killed. It prints what it
 * does, and what each tool returns, with the time. Argument: the SQLite file.
 */
public final class SlowToolChat {

    private static final long SLOWEST_MILLIS = 6_000;

    private SlowToolChat() {}

    public static final class Tools {
        @Tool
        public String fast() {
            return returned();
        }

        @Tool
        public String slow() {
            // Anything may take long that a tool does.
            LockSupport.parkNanos(
                    TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextLong(SLOWEST_MILLIS)));
            return returned();
        }

        private static String returned() {
            String result = Long.toHexString(ThreadLocalRandom.current().nextLong());
            System.out.println("returned " + result + " " + System.currentTimeMillis());
            return result;
        }
    }

    public static void main(String[] arguments) {
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .build();
            Script.Step model = request -> {
                List<ChatMessage> messages = request.messages();
                System.out.println("model 0 0");
                boolean again = messages.get(messages.size() - 1) instanceof ToolExecutionResultMessage;
                return Script.response(again ? ai("done") : calls());
            };
            Assistant assistant = keepsake.aiServices(Assistant.class)
                    .chatModel(new Script(model))
                    .tools(new Tools())
                    .build();
            while (true) {
                assistant.chat("c", "question");
            }
        }
    }

    private static AiMessage calls() {
        String id = Long.toHexString(ThreadLocalRandom.current().nextLong());
        return AiMessage.from(call(id + "a", "fast", "{}"), call(id + "b", "slow", "{}"), call(id + "c", "fast", "{}"));
    }
}
