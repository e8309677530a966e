package io.github.keepsake4j.base;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;

/** An application with work in the background, and with a summarizer that fails once. */
public final class DeployedApplication implements Callable<String> {

    private final Set<ClassLoader> seen = ConcurrentHashMap.newKeySet();
    private int calls;

    @Override
    public String call() throws Exception {
        Path directory = Files.createTempDirectory("keepsake");
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(Summarization.triggerMessages(4).keepMessages(2))
                    .summarizer((previous, messages) -> {
                        seen.add(Thread.currentThread().getContextClassLoader());
                        if (calls++ == 0) {
                            throw new IllegalStateException("down");
                        }
                        return "S";
                    })
                    .build();
            KeepsakeChatMemory memory = keepsake.chatMemory("c");
            for (int turn = 0; turn < 4; turn++) {
                memory.messages();
                memory.add(UserMessage.from("hello"));
                memory.add(AiMessage.from("hi"));
            }
            memory.messagesAsync().get();
            ConversationKey key = ConversationKey.of("default", "c");
            Awaitility.await().until(() -> !Reads.summaries(log, key).isEmpty());
            log.erase(key);
            log.history(key, HistoryQuery.newest(1));
        }
        boolean isMine = seen.equals(Set.of(getClass().getClassLoader()));
        return isMine ? "all work has the class loader of its application" : "work has another class loader";
    }
}
