package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.workflow.LlmNode;
import io.github.keepsake4j.workflow.MemoryConfig;
import io.github.keepsake4j.workflow.MemoryMode;
import io.github.keepsake4j.workflow.NodeRun;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A workflow of three nodes, each with a memory of its own: a planner, and a writer and a critic in a loop that ends
 * when the critic is content. The sample keeps nothing. With {@code S3MessageLog} as the log, each memory is a JSON
 * document.
 */
public final class NodeLoop {

    private static final String TENANT = "default";
    private static final String APP = "slogans";
    private static final String CONVERSATION = "c1";
    private static final int MOST_ROUNDS = 5;

    private final MessageLog log;
    private final PrintStream out;
    private final LlmNode planner;
    private final LlmNode writer;
    private final LlmNode critic;

    private NodeLoop(MessageLog log, PrintStream out) {
        this.log = log;
        this.out = out;
        WorkflowMemories memories = WorkflowMemories.builder().nodeLog(log).build();
        this.planner = node(memories, Slogans::plan);
        this.writer = node(memories, Slogans::write);
        this.critic = node(memories, Slogans::judge);
    }

    /**
     * Runs the workflow for two messages of a user.
     *
     * @param arguments ignored
     */
    public static void main(String[] arguments) {
        try (MessageLog log = MessageLogs.inMemory()) {
            run(log, System.out);
        }
    }

    static void run(MessageLog log, PrintStream out) {
        new NodeLoop(log, out).answer("m1", null, "A slogan for my honey shop");
        // A new object, as after a restart: only the log knows what was said.
        new NodeLoop(log, out).answer("m2", "m1", "The same in capitals");
        for (String node : List.of("planner", "writer", "critic")) {
            print(log, node, out);
        }
    }

    private void answer(String messageId, @Nullable String parent, String wish) {
        NodeTurn turn = NodeTurn.of(messageId).under(parent);
        out.println("user>    " + wish);
        String task = say("planner", planner, turn, wish);
        for (int round = 1; round <= MOST_ROUNDS; round++) {
            String draft = say("writer", writer, turn, task);
            String verdict = say("critic", critic, turn, draft);
            if (verdict.equals("Good.")) {
                break;
            }
            task = verdict;
        }
        out.println();
    }

    private String say(String name, LlmNode node, NodeTurn turn, String query) {
        LlmNode.Reply reply = node.run(NodeRun.of(TENANT, APP, CONVERSATION, name, turn, query));
        if (reply.failure() != null) {
            throw reply.failure();
        }
        String text = Objects.requireNonNullElse(reply.text(), "");
        out.printf("%-8s %s%n", name + ">", text);
        return text;
    }

    private static void print(MessageLog log, String node, PrintStream out) {
        out.println("The " + node + " remembers:");
        NodeKey key = NodeKey.of(TENANT, APP, CONVERSATION, node);
        for (LoggedMessage logged : log.history(key, HistoryQuery.oldest(100)).messages()) {
            out.printf("  %-10s %s%n", logged.id(), Slogans.text(logged.message()));
        }
    }

    private static LlmNode node(WorkflowMemories memories, Function<List<ChatMessage>, String> script) {
        return LlmNode.of(memories, Slogans.model(script), MemoryConfig.of(MemoryMode.NODE));
    }
}
