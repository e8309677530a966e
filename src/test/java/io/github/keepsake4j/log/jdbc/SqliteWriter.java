package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A process that writes to a SQLite file and prints what was acknowledged. Arguments: file, what ("log", "chat" or
 * "batches"), the writer's name, threads, how many each thread writes.
 */
final class SqliteWriter {

    static final ConversationKey KEY = ConversationKey.of("default", "shared");
    static final int BATCH = 3;

    private SqliteWriter() {}

    public static void main(String[] arguments) throws Exception {
        write(
                Path.of(arguments[0]),
                arguments[1],
                arguments[2],
                Integer.parseInt(arguments[3]),
                Integer.parseInt(arguments[4]),
                System.out::println);
    }

    static void write(Path file, String what, String name, int threads, int count, Consumer<String> acknowledged)
            throws Exception {
        try (MessageLog log = SqliteMessageLog.open(file)) {
            KeepsakeChatMemory memory = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .build()
                    .chatMemory(KEY);
            Threads.run(threads, thread -> {
                for (int i = 0; i < count; i++) {
                    String text = name + "-" + thread + "-" + i;
                    switch (what) {
                        case "log" -> log.append(KEY, Append.underHead(message(text, text)));
                        case "chat" -> memory.add(UserMessage.from(text));
                        default -> log.append(KEY, Append.under(Parent.head(), batch(text)));
                    }
                    acknowledged.accept(text);
                }
            });
        }
    }

    private static List<NewMessage> batch(String text) {
        return IntStream.range(0, BATCH)
                .mapToObj(part -> message(text + "/" + part, text))
                .toList();
    }

    private static NewMessage message(String id, String text) {
        return new NewMessage(id, UserMessage.from(text), 1, "none", null);
    }
}
