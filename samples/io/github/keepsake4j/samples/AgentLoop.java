package io.github.keepsake4j.samples;

import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.NodeMemories;
import io.github.keepsake4j.log.MessageLog;
import java.io.PrintStream;
import java.util.List;
import java.util.function.Function;

/**
 * Two agents of LangChain4j's agentic module in a loop, each with a memory of its own. Both are called with the
 * conversation's id as memory id, and the provider returns the memory of the agent's node. The sample keeps
 * nothing. With {@code S3MessageLog} in turn mode as the log, each turn of an agent is one read and one write of a JSON
 * document.
 */
public final class AgentLoop {

    private static final String APP = "slogans";
    private static final String CONVERSATION = "c1";

    private final NodeMemories nodes;
    private final SloganWriter loop;

    /** The agent that writes slogans. */
    public interface Writer {
        /**
         * Writes a draft.
         *
         * @param conversationId the conversation
         * @param task the task
         * @return the draft
         */
        @SystemMessage("You write slogans.")
        @UserMessage("{{task}}")
        @Agent(description = "writes a slogan", outputKey = "draft")
        String write(@MemoryId String conversationId, @V("task") String task);
    }

    /** The agent that judges slogans. */
    public interface Critic {
        /**
         * Judges a draft.
         *
         * @param conversationId the conversation
         * @param draft the draft
         * @return the next task
         */
        @SystemMessage("You judge slogans.")
        @UserMessage("{{draft}}")
        @Agent(description = "judges a slogan", outputKey = "task")
        String judge(@MemoryId String conversationId, @V("draft") String draft);
    }

    /** The loop of both agents, which ends when the critic is content. */
    public interface SloganWriter {
        /**
         * Writes a slogan.
         *
         * @param conversationId the conversation
         * @param task the task
         * @return the slogan
         */
        @Agent
        String slogan(@MemoryId String conversationId, @V("task") String task);
    }

    private AgentLoop(MessageLog log, PrintStream out) {
        this.nodes = Keepsake.builder().messageLog(log).build().nodes(APP);
        Writer writer = AgenticServices.agentBuilder(Writer.class)
                .chatModel(Slogans.model(said("writer", out, Slogans::write)))
                .chatMemoryProvider(nodes.chatMemoryProvider("writer"))
                .build();
        Critic critic = AgenticServices.agentBuilder(Critic.class)
                .chatModel(Slogans.model(said("critic", out, Slogans::judge)))
                .chatMemoryProvider(nodes.chatMemoryProvider("critic"))
                .build();
        this.loop = AgenticServices.loopBuilder(SloganWriter.class)
                .subAgents(writer, critic)
                .maxIterations(5)
                .exitCondition(scope -> Slogans.GOOD.equals(scope.readState("task", "")))
                .outputKey("draft")
                .build();
    }

    /**
     * Runs the loop for two messages of a user.
     *
     * @param arguments ignored
     */
    public static void main(String[] arguments) {
        try (MessageLog log = MessageLogs.inMemory()) {
            run(log, System.out);
        }
    }

    static void run(MessageLog log, PrintStream out) {
        new AgentLoop(log, out).answer("A slogan for my honey shop", out);
        // A new object, as after a restart: only the log knows what was said.
        AgentLoop again = new AgentLoop(log, out);
        again.answer("The same in capitals", out);
        for (String node : List.of("writer", "critic")) {
            out.println("The " + node + " sees "
                    + again.nodes.conversation(node, CONVERSATION).messages().size() + " messages");
        }
    }

    private static Function<List<ChatMessage>, String> said(
            String name, PrintStream out, Function<List<ChatMessage>, String> script) {
        return script.andThen(text -> {
            out.printf("%-7s %s%n", name + ">", text);
            return text;
        });
    }

    private void answer(String wish, PrintStream out) {
        out.println("user>   " + wish);
        out.println("answer> " + loop.slogan(CONVERSATION, wish));
    }
}
