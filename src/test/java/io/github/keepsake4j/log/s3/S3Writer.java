package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Outcome;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Appends turns and reports the results. As a process, it prints one attempt per line, and finally the requests that it
 * sent over the wire. Arguments: port, bucket, this process's number (of two), the number of threads, and the number of
 * turns that each thread sends.
 */
final class S3Writer {

    static final NodeKey KEY = NodeKey.of("default", "app", "conversation", "shared");

    private S3Writer() {}

    public static void main(String[] arguments) throws Exception {
        Wire wire = new Wire();
        try (S3Client client = S3Server.client(Integer.parseInt(arguments[0]), wire);
                MessageLog log = S3MessageLog.builder()
                        .client(client)
                        .bucket(arguments[1])
                        .build()) {
            write(
                    log,
                    Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    Integer.parseInt(arguments[4]),
                    attempt -> System.out.println(attempt.line()));
        }
        System.out.println(wire);
    }

    /**
     * Sends a thread's own turns, some of them twice, and some of those that the other process sends at the same time.
     */
    static void write(MessageLog log, int process, int threads, int count, Consumer<Attempt> told) throws Exception {
        Threads.run(threads, thread -> {
            String client = process + "-" + thread;
            for (int i = 0; i < count; i++) {
                told.accept(send(log, client, client + "-" + i));
                if (i % 5 == 0) {
                    told.accept(send(log, client, client + "-" + i));
                }
                if (i % 7 == 0) {
                    told.accept(send(log, client, (1 - process) + "-" + thread + "-" + i));
                }
            }
        });
    }

    /** Sends one turn whose messages are determined by its name. */
    static Attempt send(MessageLog log, String client, String name) {
        List<NewMessage> turn = List.of(
                new NewMessage(name + "/q", UserMessage.from("Question of " + name), 5, "none", null),
                new NewMessage(name + "/a", AiMessage.from("Answer of " + name), 5, "none", null));
        long begin = System.nanoTime();
        Outcome outcome;
        try {
            boolean replayed =
                    log.append(KEY, Append.under(Parent.head(), turn)).replayed();
            outcome = replayed ? Outcome.REPLAYED : Outcome.ACKNOWLEDGED;
        } catch (StorageUnavailableException e) {
            outcome = Outcome.UNKNOWN;
        } catch (KeepsakeException e) {
            outcome = Outcome.REFUSED;
        }
        return new Attempt(client, List.of(name + "/q", name + "/a"), begin, System.nanoTime(), outcome);
    }

    static List<Stored> stored(MessageLog log) {
        List<Stored> all = new ArrayList<>();
        HistoryQuery next = HistoryQuery.oldest(10_000);
        while (next != null) {
            HistoryPage page = log.history(KEY, next);
            page.messages().forEach(m -> all.add(new Stored(m.id(), m.parentId(), m.sequence())));
            next = page.next().orElse(null);
        }
        return all;
    }
}
