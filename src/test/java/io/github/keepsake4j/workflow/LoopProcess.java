package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * One iteration of a node's loop: read, add, flush, each with a new memory. It prints how many messages the read
 * returned. Arguments: the store ({@code s3:port:bucket}, {@code postgres:port:database} or {@code sqlite::file}), the message's id, the run key or
 * {@code -} for none, and where the process kills itself: {@code before} the flush, {@code after} it, or
 * {@code never}.
 */
final class LoopProcess {

    static final NodeKey KEY = NodeKey.of("acme", "app", "c1", "writer");

    private LoopProcess() {}

    public static void main(String[] arguments) {
        onLog(
                arguments[0],
                log -> iterate(log, arguments[1], arguments[2], arguments[3], seen -> {
                    System.out.println(seen);
                    System.out.flush();
                }));
    }

    static void onLog(String store, Consumer<MessageLog> use) {
        String[] parts = store.split(":", 3);
        switch (parts[0]) {
            case "s3" -> {
                try (S3Client client = S3Server.client(Integer.parseInt(parts[1]));
                        MessageLog log = S3MessageLog.builder()
                                .client(client)
                                .bucket(parts[2])
                                .build()) {
                    use.accept(log);
                }
            }
            case "postgres" -> {
                try (MessageLog log = PostgresWorkflowTest.log(Postgres.kept(parts[2], Integer.parseInt(parts[1])))) {
                    use.accept(log);
                }
            }
            default -> {
                try (MessageLog log = SqliteMessageLog.open(Path.of(parts[2]))) {
                    use.accept(log);
                }
            }
        }
    }

    static void iterate(MessageLog log, String message, String run, String killed, Consumer<String> told) {
        NodeTokenBufferMemory memory = WorkflowMemories.builder()
                .nodeLog(log)
                .tokenCountEstimator(new WordCounter())
                .build()
                .node(KEY);
        NodeTurn turn = NodeTurn.of(message).under(null);
        List<ChatMessage> seen;
        if (run.equals("-")) {
            seen = memory.getHistoryPromptMessages(message, KEY.tenant());
            memory.addMessages(message, null, "better, please", List.of(), "a draft", List.of());
        } else {
            seen = memory.getHistoryPromptMessages(turn.inRun(run), KEY.tenant(), 2000, null);
            memory.addMessages(
                    turn.inRun(run), "better, please", List.of(), List.of(AiMessage.from("draft of " + run + killed)));
        }
        told.accept(Integer.toString(seen.size()));
        if (killed.equals("before")) {
            Runtime.getRuntime().halt(0);
        }
        memory.flush();
        if (killed.equals("after")) {
            Runtime.getRuntime().halt(0);
        }
    }
}
