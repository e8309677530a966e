package io.github.keepsake4j.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.agentic.agent.AgentBuilder;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.turn.TurnPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Agents as nodes: LangChain4j's AI services and its agentic ones, each with a memory of its own in one conversation. */
class AgentMemoriesTest {

    private final MessageLog nodes = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder()
            .messageLog(new InMemoryMessageLog())
            .nodeLog(nodes)
            .tenant("acme")
            .build();

    public interface Assistant {
        @dev.langchain4j.service.SystemMessage("You help.")
        String chat(@MemoryId String conversation, @dev.langchain4j.service.UserMessage String text);
    }

    public interface Writer {
        @dev.langchain4j.service.SystemMessage("You write.")
        @dev.langchain4j.service.UserMessage("Write about {{topic}}.")
        @Agent(name = "writer", outputKey = "draft")
        String write(@MemoryId String conversation, @V("topic") String topic);
    }

    public interface Critic {
        @dev.langchain4j.service.SystemMessage("You criticise.")
        @dev.langchain4j.service.UserMessage("Judge: {{draft}}")
        @Agent(name = "critic", outputKey = "verdict")
        String judge(@MemoryId String conversation, @V("draft") String draft);
    }

    public interface Workshop {
        @Agent(outputKey = "verdict")
        String work(@MemoryId String conversation, @V("topic") String topic);
    }

    public static final class Library {
        @Tool
        public String look(@P("word") String word) {
            return "all about " + word;
        }
    }

    /** Numbers its answers; calls the tool first if there is one and no result yet. */
    private static final class Model implements ChatModel {
        private final String name;
        private final List<List<ChatMessage>> asked = new ArrayList<>();
        private int answers;

        Model(String name) {
            this.name = name;
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            asked.add(List.copyOf(request.messages()));
            ChatMessage last = request.messages().get(request.messages().size() - 1);
            boolean calls = !request.toolSpecifications().isEmpty() && last instanceof UserMessage;
            AiMessage answer = calls
                    ? AiMessage.from(Dialogue.call("t" + answers, "look", "{\"word\":\"bees\"}"))
                    : AiMessage.from(name + " " + ++answers);
            return ChatResponse.builder().aiMessage(answer).build();
        }
    }

    @Test
    void a22_a_turn_on_an_agents_memory_is_prolonged_by_what_the_agent_adds() {
        WatchedLog watched = new WatchedLog(nodes);
        Keepsake turns = Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .nodeLog(watched.log())
                .turnLease(Duration.ofSeconds(1))
                .build();
        ChatMemory writer = turns.nodes("app").chatMemoryProvider("writer").get("c1");

        turns.turn(NodeKey.of("default", "app", "c1", "writer"), TurnPolicy.REJECT, () -> {
            // A quarter of the lease must have passed.
            Awaitility.await().until(() -> {
                writer.add(UserMessage.from("still here"));
                return watched.calls("acquireLease") > 1;
            });
            return "done";
        });
    }

    @Test
    void a22_an_agent_with_tools_keeps_calls_and_results_in_its_own_memory() {
        Model writing = new Model("draft");
        Model judging = new Model("verdict");
        Assistant writer = AiServices.builder(Assistant.class)
                .chatModel(writing)
                .tools(new Library())
                .chatMemoryProvider(keepsake.nodes("app").chatMemoryProvider("writer"))
                .build();
        Assistant critic = AiServices.builder(Assistant.class)
                .chatModel(judging)
                .chatMemoryProvider(keepsake.nodes("app").chatMemoryProvider("critic"))
                .build();
        for (int round = 1; round <= 2; round++) {
            critic.chat("c1", writer.chat("c1", "topic " + round));
        }

        assertThat(keepsake.nodes("app").conversation("writer", "c1").messages())
                .hasExactlyElementsOfTypes(
                        SystemMessage.class,
                        UserMessage.class,
                        AiMessage.class,
                        ToolExecutionResultMessage.class,
                        AiMessage.class,
                        UserMessage.class,
                        AiMessage.class,
                        ToolExecutionResultMessage.class,
                        AiMessage.class);
        assertThat(said(keepsake.nodes("app").conversation("critic", "c1").messages()))
                .containsExactly("draft 1", "verdict 1", "draft 2", "verdict 2");
        assertThat(keepsake.conversation("c1").messages()).isEmpty();
    }

    private Workshop workshop(Model writing, Model judging, UnaryOperator<AgentBuilder<Writer, ?>> writer) {
        return AgenticServices.sequenceBuilder(Workshop.class)
                .subAgents(
                        writer.apply(AgenticServices.agentBuilder(Writer.class)
                                        .chatModel(writing)
                                        .chatMemoryProvider(
                                                keepsake.nodes("app").chatMemoryProvider("writer")))
                                .build(),
                        AgenticServices.agentBuilder(Critic.class)
                                .chatModel(judging)
                                .chatMemoryProvider(keepsake.nodes("app").chatMemoryProvider("critic"))
                                .build())
                .outputKey("verdict")
                .build();
    }

    @Test
    void a22_agentic_agents_of_one_conversation_do_not_see_each_others_messages() {
        Model writing = new Model("draft");
        Model judging = new Model("verdict");
        Workshop workshop = workshop(writing, judging, builder -> builder);

        assertThat(workshop.work("c1", "bees")).isEqualTo("verdict 1");
        assertThat(workshop.work("c1", "wasps")).isEqualTo("verdict 2");
        workshop.work("c2", "ants");

        assertThat(said(writing.asked.get(1))).containsExactly("Write about bees.", "draft 1", "Write about wasps.");
        assertThat(said(judging.asked.get(1))).containsExactly("Judge: draft 1", "verdict 1", "Judge: draft 2");
        assertThat(writing.asked.get(1).get(0)).isEqualTo(SystemMessage.from("You write."));
        assertThat(judging.asked.get(1).get(0)).isEqualTo(SystemMessage.from("You criticise."));
        assertThat(said(writing.asked.get(2))).containsExactly("Write about ants.");
    }

    @Test
    void a22_what_was_retrieved_for_an_agent_is_shown_once_and_is_not_its_question() {
        Model writing = new Model("draft");
        Model judging = new Model("verdict");
        Workshop workshop = workshop(writing, judging, builder -> builder.tools(new Library())
                .contentRetriever(query -> List.of(Content.from("fact on " + query.text()))));

        workshop.work("c1", "bees");
        workshop.work("c1", "wasps");

        String bees = "fact on Write about bees.";
        String wasps = "fact on Write about wasps.";
        assertThat(writing.asked).hasSize(4);
        assertThat(writing.asked.subList(0, 2))
                .allSatisfy(request -> assertThat(request.toString()).contains(bees));
        assertThat(writing.asked.subList(2, 4))
                .allSatisfy(request ->
                        assertThat(request.toString()).contains(wasps).doesNotContain(bees));
        assertThat(said(writing.asked.get(2))).startsWith("Write about bees.");
        assertThat(keepsake.nodes("app").conversation("writer", "c1").branch(20).messages().stream()
                        .filter(logged -> logged.message() instanceof UserMessage)
                        .map(LoggedMessage::userText))
                .containsExactly("Write about bees.", "Write about wasps.");
        assertThat(said(judging.asked.get(1))).containsExactly("Judge: draft 1", "verdict 1", "Judge: draft 2");
    }

    @Test
    void a22_the_nodes_api_reads_what_an_agent_wrote() {
        Assistant writer = AiServices.builder(Assistant.class)
                .chatModel(new Model("draft"))
                .chatMemoryProvider(keepsake.nodes("app").chatMemoryProvider("writer"))
                .build();
        writer.chat("c1", "hello");

        NodeTokenBufferMemory memory =
                WorkflowMemories.builder().nodeLog(nodes).build().node(NodeKey.of("acme", "app", "c1", "writer"));
        assertThat(said(memory.getHistoryPromptMessages("m2", "acme"))).containsExactly("hello", "draft 1");
        memory.addMessages("m2", null, "from the node", List.of(), "kept", List.of());
        memory.flush();
        writer.chat("c1", "again");
        assertThat(said(keepsake.nodes("app").conversation("writer", "c1").messages()))
                .containsSubsequence("from the node", "kept", "again", "draft 2");
    }

    /** The texts of what user and assistant said. */
    private static List<String> said(List<ChatMessage> messages) {
        return messages.stream()
                .filter(message -> message instanceof UserMessage || message instanceof AiMessage)
                .map(message -> message instanceof UserMessage user ? user.singleText() : ((AiMessage) message).text())
                .toList();
    }
}
