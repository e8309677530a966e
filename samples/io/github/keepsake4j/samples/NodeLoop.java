package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.workflow.LlmNode;
import io.github.keepsake4j.workflow.MemoryConfig;
import io.github.keepsake4j.workflow.MemoryMode;
import io.github.keepsake4j.workflow.NodeReply;
import io.github.keepsake4j.workflow.NodeRun;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A workflow of three nodes, each with a memory of its own: a planner, and a writer and a critic who go on in a loop until
 * the critic is content. The models are a few lines of code, so that the output is always the same; what they know is only
 * what stands in the messages that they are sent.
 */
public final class NodeLoop {

    private static final String TENANT = "default";
    private static final String APP = "slogans";
    private static final String CONVERSATION = "c1";
    private static final int MOST_ROUNDS = 5;

    /** What the critic misses, one at a time, and what the writer makes of it. */
    private enum Advice {
        NAME("Name the shop.", "Ada's honey"),
        PLACE("Say where it is.", "from the hill"),
        SEASON("Say when it is best.", "best in June");

        private final String text;
        private final String words;

        Advice(String text, String words) {
            this.text = text;
            this.words = words;
        }
    }

    private final MessageLog log;
    private final PrintStream out;
    private final LlmNode planner;
    private final LlmNode writer;
    private final LlmNode critic;

    private NodeLoop(MessageLog log, PrintStream out) {
        this.log = log;
        this.out = out;
        WorkflowMemories memories = WorkflowMemories.builder().nodeLog(log).build();
        this.planner = node(memories, NodeLoop::plan);
        this.writer = node(memories, NodeLoop::write);
        this.critic = node(memories, NodeLoop::judge);
    }

    /**
     * Runs the workflow for two messages of a user.
     *
     * @param arguments none
     * @throws IOException if there is no room for a temporary file
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Files.createTempDirectory("keepsake");
        try (MessageLog log = JdbcMessageLog.sqlite(directory.resolve("nodes.db"))) {
            run(log, System.out);
        }
    }

    static void run(MessageLog log, PrintStream out) {
        new NodeLoop(log, out).answer("m1", null, "A slogan for my honey shop");
        // As after a restart: nothing but the log knows what was said.
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
        NodeReply reply = node.run(NodeRun.of(TENANT, APP, CONVERSATION, name, turn, query));
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
            out.printf("  %-10s %s%n", logged.id(), text(logged.message()));
        }
    }

    private static LlmNode node(WorkflowMemories memories, Function<List<ChatMessage>, String> script) {
        ChatModel model = new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return ChatResponse.builder()
                        .aiMessage(AiMessage.from(script.apply(request.messages())))
                        .build();
            }
        };
        return LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
    }

    private static String plan(List<ChatMessage> messages) {
        long before = messages.stream().filter(AiMessage.class::isInstance).count();
        return "Task " + (before + 1) + ": " + text(messages.get(messages.size() - 1));
    }

    /** Heeds all advice that it ever got, and not only the last. */
    private static String write(List<ChatMessage> messages) {
        String heard = messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(NodeLoop::text)
                .collect(Collectors.joining("\n"));
        String slogan = "Sweet days";
        for (Advice advice : Advice.values()) {
            slogan += heard.contains(advice.text) ? ", " + advice.words : "";
        }
        return heard.contains("in capitals") ? slogan.toUpperCase(Locale.ROOT) : slogan;
    }

    /** Never gives an advice twice. */
    private static String judge(List<ChatMessage> messages) {
        String given = messages.stream()
                .filter(AiMessage.class::isInstance)
                .map(NodeLoop::text)
                .collect(Collectors.joining("\n"));
        for (Advice advice : Advice.values()) {
            if (!given.contains(advice.text)) {
                return advice.text;
            }
        }
        return "Good.";
    }

    private static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        return message instanceof AiMessage ai ? Objects.requireNonNullElse(ai.text(), "") : "";
    }
}
