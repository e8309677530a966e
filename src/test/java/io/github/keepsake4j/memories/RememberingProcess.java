package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.WordCounter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Talks in some conversations, in which each message is "ok", while memories are made of them in the background:
 * {@code RememberingProcess stores}. It tells of each passage that a model read, and does not end.
 */
public final class RememberingProcess {

    static final List<String> CONVERSATIONS = List.of("a", "b", "c");

    private RememberingProcess() {}

    public static void main(String[] arguments) throws InterruptedException {
        Thread parent = new Thread(RememberingProcess::endWithParent);
        parent.setDaemon(true);
        parent.start();
        SharedStores stores = SharedStores.open(arguments[0]);
        MessageLog log = stores.newLog();
        Keepsake keepsake = keepsake(stores, log, Duration.ZERO, passage -> {
            System.out.println("made");
            System.out.flush();
        });
        while (true) {
            for (String id : CONVERSATIONS) {
                turn(keepsake, id);
            }
            // A model would take longer.
            Thread.sleep(2);
        }
    }

    /** A test that is ended itself kills nothing. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent is there.
            }
        } catch (IOException e) {
            // It is not.
        }
        Runtime.getRuntime().halt(1);
    }

    static void turn(Keepsake keepsake, String id) {
        KeepsakeChatMemory memory = keepsake.chatMemory(id);
        memory.messages();
        memory.add(UserMessage.from("ok"));
        memory.add(AiMessage.from("ok"));
    }

    static Keepsake keepsake(SharedStores stores, MessageLog log, Duration freshness, Consumer<String> reader) {
        return Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .longTermMemories(
                        Discussions.builder(stores.memories)
                                .tokenCountEstimator(new WordCounter())
                                .config(DiscussionConfig.ofJson("{\"lookbackStartTurn\":0,\"minMemoriesPerSummary\":1,"
                                        + "\"fileMemoryWorkflowName\":\"w\",\"chatSummaryWorkflowName\":\"s\"}"))
                                // A process that was killed must not keep the next one waiting.
                                .leaseDuration(Duration.ofNanos(1_000))
                                .workflow("w", inputs -> {
                                    reader.accept(inputs.get(0));
                                    return "text";
                                })
                                .workflow("s", inputs -> "summary")
                                .build(),
                        freshness)
                .build();
    }
}
