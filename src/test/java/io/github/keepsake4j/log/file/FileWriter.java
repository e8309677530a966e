package io.github.keepsake4j.log.file;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.Threads;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A process that appends batches to files and prints each attempt with its answer. Arguments: directory, the writer's name,
 * threads, how many batches each thread appends.
 */
final class FileWriter {

    static final ConversationKey KEY = ConversationKey.of("default", "shared");

    private FileWriter() {}

    public static void main(String[] arguments) throws Exception {
        append(
                Path.of(arguments[0]),
                arguments[1],
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                // One call, so that a line of one thread is not cut by another's.
                attempt -> System.out.println(attempt.line()));
    }

    static void append(Path directory, String name, int threads, int count, Consumer<Attempt> told) throws Exception {
        try (MessageLog log = FileMessageLog.in(directory)) {
            Threads.run(threads, thread -> {
                for (int i = 0; i < count; i++) {
                    write(log, name + "-" + thread, i, told);
                    if (i % 10 == 0) {
                        // To close one log must not drop the locks of the other.
                        try (MessageLog other = FileMessageLog.in(directory)) {
                            other.read(KEY, ReadQuery.newest(1));
                        }
                    }
                }
            });
        }
    }

    private static void write(MessageLog log, String writer, int number, Consumer<Attempt> told) {
        List<NewMessage> batch = IntStream.rangeClosed(0, number % 3)
                .mapToObj(part -> writer + "-" + number + "-" + part)
                .map(id -> new NewMessage(id, UserMessage.from("text of " + id), 1, "none", null))
                .toList();
        int attempts = number % 7 == 0 ? 2 : 1;
        for (int i = 0; i < attempts; i++) {
            long begin = System.nanoTime();
            AppendResult result = log.append(KEY, Append.under(Parent.head(), batch));
            Outcome outcome = result.replayed() ? Outcome.REPLAYED : Outcome.ACKNOWLEDGED;
            List<String> ids = batch.stream().map(NewMessage::id).toList();
            told.accept(new Attempt(writer, ids, begin, System.nanoTime(), outcome));
        }
    }
}
