package io.github.keepsake4j.log.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Appends batches and says what it was told. As a process: prints one attempt a line. Arguments: port, database, this
 * process's number of two, threads, how many batches each thread sends.
 */
final class PostgresWriter {

    static final ConversationKey KEY = ConversationKey.of("default", "shared");

    private PostgresWriter() {}

    public static void main(String[] arguments) throws Exception {
        int process = Integer.parseInt(arguments[2]);
        int threads = Integer.parseInt(arguments[3]);
        int count = Integer.parseInt(arguments[4]);
        try (HikariDataSource pool = Postgres.trustingPool(
                        Postgres.database(arguments[1], Integer.parseInt(arguments[0])), threads, true);
                JdbcMessageLog log = PostgresMessageLog.open(pool)) {
            write(log, process, threads, count, attempt -> System.out.println(attempt.line()));
        }
    }

    /** Sends a thread's own batches, some of them twice, and some of those that the other process sends at the time. */
    static void write(MessageLog log, int process, int threads, int count, Consumer<Attempt> told) throws Exception {
        Threads.run(threads, thread -> {
            String client = process + "-" + thread;
            for (int i = 0; i < count; i++) {
                told.accept(send(log, client, client + "-" + i));
                if (i % 3 == 0) {
                    told.accept(send(log, client, client + "-" + i));
                }
                if (i % 4 == 0) {
                    told.accept(send(log, client, (1 - process) + "-" + thread + "-" + i));
                }
            }
        });
    }

    /** Sends one batch of one to three messages that follow from its name. */
    static Attempt send(MessageLog log, String client, String name) {
        List<String> ids = IntStream.rangeClosed(0, Math.floorMod(name.hashCode(), 3))
                .mapToObj(part -> name + "/" + part)
                .toList();
        List<NewMessage> batch = ids.stream()
                .map(id -> new NewMessage(id, UserMessage.from("Text of " + id), 5, "none", null))
                .toList();
        long begin = System.nanoTime();
        Outcome outcome;
        try {
            boolean replayed =
                    log.append(KEY, Append.under(Parent.head(), batch)).replayed();
            outcome = replayed ? Outcome.REPLAYED : Outcome.ACKNOWLEDGED;
        } catch (StorageUnavailableException e) {
            outcome = Outcome.UNKNOWN;
        } catch (KeepsakeException e) {
            outcome = Outcome.REFUSED;
        }
        return new Attempt(client, ids, begin, System.nanoTime(), outcome);
    }

    static List<Stored> stored(MessageLog log) {
        List<Stored> all = new ArrayList<>();
        HistoryQuery next = HistoryQuery.oldest(1000);
        while (next != null) {
            HistoryPage page = log.history(KEY, next);
            page.messages().forEach(m -> all.add(new Stored(m.id(), m.parentId(), m.sequence())));
            next = page.next().orElse(null);
        }
        return all;
    }
}
