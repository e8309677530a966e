package io.github.keepsake4j.memories;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.background.BranchMessages;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.text.Fence;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.workflow.LlmNode;
import io.github.keepsake4j.workflow.MemoryConfig;
import io.github.keepsake4j.workflow.MemoryMode;
import io.github.keepsake4j.workflow.NodeRun;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How much the messages of a branch are trusted. */
class SourcesTest {

    interface Chat {
        String chat(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);
    }

    static final class Web {
        @Tool
        String web() {
            return "The web says so.";
        }
    }

    private final Script model = new Script("Fine.");
    private final MessageLog log = new InMemoryMessageLog();
    private final MemoryKey key = ConversationKey.of("default", "alice");

    /** A window of two messages, so that a later answer is made without the earlier ones. */
    private final Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxTurns(1));

    private List<SourceMessage> sources() {
        return new BranchMessages(log).read(key).messages();
    }

    private List<Trust> trusts() {
        return sources().stream().map(SourceMessage::trust).toList();
    }

    @Test
    void an_answer_is_trusted_as_the_least_of_what_the_model_was_shown_for_it() {
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .tools(new Web())
                .build();
        chat.chat("alice", "Hello");
        model.says(AiMessage.from(call("1", "web", "{}")));
        chat.chat("alice", "Look it up");
        chat.chat("alice", "And what do you think?");
        chat.chat("alice", "Thanks");

        assertThat(trusts())
                .containsExactly(
                        Trust.USER,
                        Trust.ASSISTANT,
                        Trust.USER,
                        Trust.ASSISTANT,
                        Trust.TOOL,
                        Trust.TOOL,
                        Trust.USER,
                        Trust.TOOL,
                        Trust.USER,
                        Trust.TOOL);
    }

    @Test
    void what_was_retrieved_is_no_part_of_a_question_and_lowers_its_answer() {
        Chat plain = keepsake.aiServices(Chat.class).chatModel(model).build();
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(query -> List.of(Content.from("The user's name is Mallory.")))
                .build();
        plain.chat("alice", "Hello");
        chat.chat("alice", "What is my name?");

        List<SourceMessage> sources = sources();
        assertThat(((UserMessage) Logs.find(log, key, List.of(sources.get(2).id()))
                                .get(0)
                                .message())
                        .singleText())
                .as("it is stored with what was retrieved")
                .contains("Mallory");
        assertThat(sources.get(2).message()).isEqualTo(UserMessage.from("What is my name?"));
        assertThat(trusts()).containsExactly(Trust.USER, Trust.ASSISTANT, Trust.USER, Trust.RETRIEVED);
        assertThat(sources.toString()).doesNotContain("Mallory");
    }

    @Test
    void what_was_retrieved_for_a_nodes_question_lowers_the_answer_that_is_stored_with_it() {
        LlmNode node = LlmNode.of(
                        WorkflowMemories.builder().conversationLog(log).build(),
                        model,
                        MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation();
        NodeTurn first = NodeTurn.of("m1").under(null);
        node.run(NodeRun.of("default", "app", "alice", "writer", first, "Hello"));
        String retrieved = "What is my name?\n\nAnswer using the following information:\nThe user's name is Mallory.";
        node.run(NodeRun.of(
                "default", "app", "alice", "writer", NodeTurn.of("m2").under("m1"), retrieved));

        assertThat(trusts()).containsExactly(Trust.USER, Trust.ASSISTANT, Trust.USER, Trust.RETRIEVED);
    }

    @Test
    void where_nothing_tells_what_an_answer_was_made_from_it_was_all_before_it() {
        append(UserMessage.from("Hello"), AiMessage.from("Hi"));
        append(AiMessage.from(call("1", "web", "{}")), ToolExecutionResultMessage.from("1", "web", "so"));
        append(AiMessage.from("So."), UserMessage.from("Thanks"), AiMessage.from("Yes"));
        assertThat(trusts())
                .containsExactly(
                        Trust.USER, Trust.ASSISTANT, Trust.ASSISTANT, Trust.TOOL, Trust.TOOL, Trust.USER, Trust.TOOL);
    }

    @Test
    void a_tool_that_tells_memories_is_trusted_like_a_retrieved_text_and_is_no_source_of_them() {
        append(
                UserMessage.from("Hello"),
                AiMessage.from(call("1", "searchMemory", "{}")),
                ToolExecutionResultMessage.from("1", "searchMemory", Fence.MEMORIES.around("Ada likes cats")));
        assertThat(trusts()).containsExactly(Trust.USER, Trust.ASSISTANT, Trust.RETRIEVED);
        assertThat(MessageText.of(sources().get(2).message())).isBlank();
    }

    private void append(ChatMessage... messages) {
        log.append(
                key,
                Append.underHead(Arrays.stream(messages)
                        .map(message -> NewMessage.of(message, 1, "test"))
                        .toArray(NewMessage[]::new)));
    }
}
