package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.Watched;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** Indexes a log in SQLite: {@code IndexingProcess log index}. Prints a line before each batch. */
public final class IndexingProcess {

    private IndexingProcess() {}

    public static void main(String[] arguments) {
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]));
                MessageIndex index = JdbcMessageIndex.sqlite(Path.of(arguments[1]))) {
            MessageIndex printing = Watched.of(MessageIndex.class, index, call -> {
                if (call.name().equals("add")) {
                    System.out.println("add");
                    System.out.flush();
                }
                return call.proceed();
            });
            index(log, printing);
            System.out.println("done");
        }
    }

    /** Indexes all that a log has of the tenant. */
    public static void index(MessageLog log, MessageIndex index) {
        index("acme", log, log, index);
    }

    /** Indexes all that two logs have of a tenant. */
    public static void index(String tenant, MessageLog conversations, MessageLog nodes, MessageIndex index) {
        Indexer indexer = new Indexer(
                index,
                key -> key instanceof NodeKey ? nodes : conversations,
                Stream.of(conversations, nodes).distinct().toList(),
                Words.standard(),
                task -> {},
                pause -> task -> {},
                // A lease that a killed process left is over at once.
                new Indexer.Settings(Duration.ofMillis(1), Duration.ofSeconds(30), 1, 4, Duration.ofMillis(20)),
                null);
        indexer.use(tenant);
        indexer.sweep();
        indexer.drain();
    }
}
