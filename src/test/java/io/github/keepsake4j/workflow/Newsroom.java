package io.github.keepsake4j.workflow;

import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.V;
import io.github.keepsake4j.testing.Script;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A writer and an editor of LangChain4j's agentic module, put together in each of the ways that it has. */
final class Newsroom {

    /** How the agents work together. */
    enum System {
        SEQUENCE,
        LOOP,
        PARALLEL,
        SUPERVISOR
    }

    /** What the model of an agent was asked, without the conversation's name. */
    record Asked(String agent, List<ChatMessage> messages) {

        /** The instructions, which stock memories put last after they have changed. */
        String system() {
            return messages.stream()
                    .filter(SystemMessage.class::isInstance)
                    .map(message -> ((SystemMessage) message).text())
                    .collect(Collectors.joining(" "));
        }

        /** What users and models said. */
        List<String> said() {
            return messages.stream()
                    .filter(message -> !(message instanceof SystemMessage))
                    .map(message -> message instanceof UserMessage user
                            ? user.singleText()
                            : message instanceof AiMessage ai
                                    ? String.valueOf(ai.text())
                                    : message.type().name())
                    .toList();
        }
    }

    public interface Writer {
        @dev.langchain4j.service.SystemMessage("You write.")
        @dev.langchain4j.service.UserMessage("Write about {{topic}}.")
        @Agent(name = "writer", description = "writes", outputKey = "draft")
        String write(@MemoryId String conversation, @V("topic") String topic);
    }

    public interface Editor {
        @dev.langchain4j.service.SystemMessage("You edit.")
        @dev.langchain4j.service.UserMessage("Edit what is about {{topic}}.")
        @Agent(name = "editor", description = "edits", outputKey = "remark")
        String edit(@MemoryId String conversation, @V("topic") String topic);
    }

    public interface Desk {
        @Agent
        Object work(@MemoryId String conversation, @V("topic") String topic);
    }

    public interface Chief {
        @Agent
        String work(@MemoryId String conversation, @V("request") String topic);
    }

    private final List<Asked> asked = Collections.synchronizedList(new ArrayList<>());
    private final System system;
    private final Desk desk;

    /**
     * Builds the agents.
     *
     * @param memories returns the provider of the agent of a name
     */
    Newsroom(System system, Function<String, ChatMemoryProvider> memories) {
        this.system = system;
        Writer writer = AgenticServices.agentBuilder(Writer.class)
                .chatModel(model("writer"))
                .chatMemoryProvider(memories.apply("writer"))
                .build();
        Editor editor = AgenticServices.agentBuilder(Editor.class)
                .chatModel(model("editor"))
                .chatMemoryProvider(memories.apply("editor"))
                .build();
        this.desk = switch (system) {
            case SEQUENCE ->
                AgenticServices.sequenceBuilder(Desk.class)
                        .subAgents(writer, editor)
                        .output(scope -> scope.readState("remark"))
                        .build();
            case LOOP ->
                AgenticServices.loopBuilder(Desk.class)
                        .subAgents(writer, editor)
                        .maxIterations(2)
                        .output(scope -> scope.readState("remark"))
                        .build();
            case PARALLEL ->
                AgenticServices.parallelBuilder(Desk.class)
                        .subAgents(writer, editor)
                        .output(scope -> scope.readState("remark"))
                        .build();
            case SUPERVISOR -> {
                Chief chief = AgenticServices.supervisorBuilder(Chief.class)
                        .chatModel(planning())
                        .chatMemoryProvider(memories.apply("chief"))
                        .subAgents(writer, editor)
                        .maxAgentsInvocations(5)
                        .build();
                yield (conversation, topic) -> chief.work(conversation, topic);
            }
        };
    }

    Object work(String conversation, String topic) {
        return desk.work(conversation, topic);
    }

    /** What the model of an agent was asked, in order. */
    List<Asked> asked(String agent) {
        synchronized (asked) {
            return asked.stream().filter(each -> each.agent().equals(agent)).toList();
        }
    }

    /** How often an agent works in one run. */
    int runs() {
        return system == System.LOOP ? 2 : 1;
    }

    /** Numbers its answers by those that it is shown, so that an answer tells what its memory held. */
    private ChatModel model(String agent) {
        return Script.playing(request -> {
            asked.add(new Asked(agent, List.copyOf(request.messages())));
            long before = request.messages().stream()
                    .filter(AiMessage.class::isInstance)
                    .count();
            return response(agent + " " + (before + 1));
        });
    }

    /** Has the writer work, then the editor, and is done. It knows from its request what was answered last. */
    private ChatModel planning() {
        return Script.playing(request -> {
            asked.add(new Asked("chief", List.copyOf(request.messages())));
            UserMessage last =
                    (UserMessage) request.messages().get(request.messages().size() - 1);
            String text = last.singleText();
            String topic = text.replaceAll("(?s).*The user request is: '([^']*)'.*", "$1");
            String next = text.contains("'writer ")
                    ? invocation("editor", "topic", topic)
                    : text.contains("'editor ")
                            ? invocation("done", "response", "done")
                            : invocation("writer", "topic", topic);
            return response(next);
        });
    }

    private static String invocation(String agent, String argument, String value) {
        return "{\"agentName\": \"%s\", \"arguments\": {\"%s\": \"%s\"}}".formatted(agent, argument, value);
    }

    private static ChatResponse response(String text) {
        return Script.response(AiMessage.from(text));
    }
}
