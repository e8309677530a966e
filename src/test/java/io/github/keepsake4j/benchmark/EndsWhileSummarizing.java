package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * An application that ends while its summarizer is running. Arguments: a SQLite file, and the duration of the
 * summarizer in milliseconds.
 */
final class EndsWhileSummarizing {

    private EndsWhileSummarizing() {}

    public static void main(String[] arguments) throws Exception {
        long millis = Long.parseLong(arguments[1]);
        CountDownLatch asked = new CountDownLatch(1);
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(Summarization.triggerMessages(20))
                    .summarizer((previous, messages) -> {
                        asked.countDown();
                        try {
                            TimeUnit.MILLISECONDS.sleep(millis);
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                        return "short";
                    })
                    .build();
            KeepsakeChatMemory memory = keepsake.chatMemory("id");
            for (int turn = 0; turn < 20; turn++) {
                memory.messages();
                memory.add(Payload.MESSAGE);
                memory.add(AiMessage.from("answer " + turn));
            }
            if (!asked.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no summary was due");
            }
            System.out.println("ends");
        }
    }
}
