package io.github.keepsake4j.log.redis;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.Threads;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A process that appends batches and prints each attempt with its answer. Arguments: port, the writer's name, threads, how
 * many batches each thread appends.
 */
final class RedisWriter {

    static final ConversationKey KEY = ConversationKey.of("default", "shared");

    private RedisWriter() {}

    static MessageLog open(int port) {
        return RedisMessageLog.builder()
                .server(Redis.uri(port))
                .checks(RedisMessageLog.Checks.NONE)
                .build();
    }

    public static void main(String[] arguments) throws Exception {
        append(
                Integer.parseInt(arguments[0]),
                arguments[1],
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                // One call, so that a line of one thread is not cut by another's.
                attempt -> System.out.println(attempt.line()));
    }

    static void append(int port, String name, int threads, int count, Consumer<Attempt> told) throws Exception {
        try (MessageLog log = open(port)) {
            Threads.run(threads, thread -> {
                for (int i = 0; i < count; i++) {
                    // Some are sent twice, as after an answer that was lost.
                    for (int attempt = 0; attempt < (i % 7 == 0 ? 2 : 1); attempt++) {
                        told.accept(write(log, name + "-" + thread, i));
                    }
                }
            });
        }
    }

    /** Appends a batch of one to three messages. */
    static Attempt write(MessageLog log, String writer, int number) {
        List<NewMessage> batch = IntStream.rangeClosed(0, number % 3)
                .mapToObj(part -> writer + "-" + number + "-" + part)
                .map(id -> new NewMessage(id, UserMessage.from("text of " + id), 1, "none", null))
                .toList();
        long begin = System.nanoTime();
        AppendResult result = log.append(KEY, Append.under(Parent.head(), batch));
        Outcome outcome = result.replayed() ? Outcome.REPLAYED : Outcome.ACKNOWLEDGED;
        return new Attempt(writer, batch.stream().map(NewMessage::id).toList(), begin, System.nanoTime(), outcome);
    }
}
