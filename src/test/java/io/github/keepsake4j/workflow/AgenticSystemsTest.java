package io.github.keepsake4j.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.NodeMemories;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** LangChain4j's agentic systems, in which each named agent has a memory of its own within a conversation. */
@Timeout(300)
class AgenticSystemsTest {

    @TempDir
    Path directory;

    private static Keepsake keepsake(MessageLog log) {
        return Keepsakes.on(log, SlidingWindow.withMaxMessages(100_000));
    }

    private static NodeMemories nodes(MessageLog log) {
        return keepsake(log).nodes("newsroom");
    }

    /** Returns what an agent's model was shown that is another agent's. */
    private static List<String> foreign(Newsroom room, String agent, String other) {
        return room.asked(agent).stream()
                .flatMap(asked -> Stream.concat(Stream.of(asked.system()), asked.said().stream()))
                .filter(text -> text.startsWith(other)
                        || text.startsWith(other.equals("writer") ? "Write about" : "Edit what")
                        || text.equals(other.equals("writer") ? "You write." : "You edit."))
                .toList();
    }

    /**
     * The trap: all agents of a scope are called with the same memory id. With stock memories on one store, each agent is shown
     * what the other one said, as if it had said it itself.
     */
    @ParameterizedTest
    @EnumSource(names = {"SEQUENCE", "LOOP"})
    void agents_that_share_a_memory_id_see_each_others_messages_in_stock_memories_and_not_in_ours(
            Newsroom.System system) {
        ChatMemoryStore store = new InMemoryChatMemoryStore();
        ChatMemoryProvider windows = id -> Dialogue.window(id, 50, store);
        Newsroom stock = new Newsroom(system, agent -> windows);
        Newsroom ours = new Newsroom(system, nodes(new InMemoryMessageLog())::chatMemoryProvider);
        for (Newsroom room : List.of(stock, ours)) {
            room.work("c", "bees");
            room.work("c", "wasps");
        }

        assertThat(foreign(stock, "editor", "writer")).contains("Write about bees.", "writer 1");
        assertThat(foreign(stock, "writer", "editor")).contains("Edit what is about bees.");
        assertThat(foreign(ours, "editor", "writer")).isEmpty();
        assertThat(foreign(ours, "writer", "editor")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void agents_keep_separate_memories_in_one_conversation_and_conversations_do_not_mix(Newsroom.System system) {
        NodeMemories nodes = nodes(new InMemoryMessageLog());
        Newsroom room = new Newsroom(system, nodes::chatMemoryProvider);
        room.work("c1", "bees");
        room.work("c2", "ants");
        room.work("c1", "wasps");

        int runs = room.runs();
        List<String> writer = new ArrayList<>();
        List<String> editor = new ArrayList<>();
        for (int i = 1; i <= 2 * runs; i++) {
            String topic = i <= runs ? "bees" : "wasps";
            writer.addAll(List.of("Write about " + topic + ".", "writer " + i));
            editor.addAll(List.of("Edit what is about " + topic + ".", "editor " + i));
        }
        assertThat(said(nodes, "writer", "c1")).isEqualTo(writer);
        assertThat(said(nodes, "editor", "c1")).isEqualTo(editor);
        assertThat(said(nodes, "writer", "c2"))
                .startsWith("Write about ants.", "writer 1")
                .hasSize(2 * runs);
        assertThat(said(nodes, "editor", "c2"))
                .startsWith("Edit what is about ants.", "editor 1")
                .hasSize(2 * runs);
        assertThat(room.asked("writer"))
                .allSatisfy(asked -> assertThat(asked.system()).isEqualTo("You write."));
        assertThat(room.asked("editor"))
                .allSatisfy(asked -> assertThat(asked.system()).isEqualTo("You edit."));
        if (system == Newsroom.System.SUPERVISOR) {
            assertThat(said(nodes, "chief", "c1")).hasSize(12);
            assertThat(said(nodes, "chief", "c2")).hasSize(6);
        }
    }

    @Test
    void a_loops_second_iteration_sees_the_first() {
        Newsroom room = new Newsroom(Newsroom.System.LOOP, nodes(new InMemoryMessageLog())::chatMemoryProvider);
        room.work("c", "bees");

        assertThat(room.asked("writer").get(0).said()).containsExactly("Write about bees.");
        assertThat(room.asked("writer").get(1).said())
                .containsExactly("Write about bees.", "writer 1", "Write about bees.");
        assertThat(room.asked("editor").get(1).said())
                .containsExactly("Edit what is about bees.", "editor 1", "Edit what is about bees.");
    }

    @ParameterizedTest
    @EnumSource
    void agents_go_on_after_a_restart(Newsroom.System system) {
        Path file = directory.resolve("agents.db");
        int runs = 0;
        for (int start = 0; start < 3; start++) {
            try (MessageLog log = SqliteMessageLog.open(file)) {
                NodeMemories nodes = nodes(log);
                Newsroom room = new Newsroom(system, nodes::chatMemoryProvider);
                room.work("c", "bees");
                runs += room.runs();
                assertThat(said(nodes, "writer", "c")).hasSize(2 * runs).endsWith("writer " + runs);
                assertThat(said(nodes, "editor", "c")).hasSize(2 * runs).endsWith("editor " + runs);
            }
        }
    }

    @Test
    void conversations_that_run_at_the_same_time_do_not_mix() {
        NodeMemories nodes = nodes(new InMemoryMessageLog());
        Newsroom room = new Newsroom(Newsroom.System.LOOP, nodes::chatMemoryProvider);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String conversation = "c" + i;
            all.add(CompletableFuture.runAsync(() -> {
                for (int work = 0; work < 5; work++) {
                    room.work(conversation, "topic of " + conversation);
                }
            }));
        }
        all.forEach(CompletableFuture::join);

        for (int i = 0; i < 8; i++) {
            List<String> said = said(nodes, "writer", "c" + i);
            assertThat(said).hasSize(20).endsWith("writer 10");
            assertThat(said.stream().filter(text -> text.startsWith("Write")))
                    .containsOnly("Write about topic of c" + i + ".");
        }
    }

    @Test
    @Tag("full")
    void agents_whose_process_is_killed_go_on_with_what_they_had_said() throws Exception {
        Path file = directory.resolve("agents.db");
        Random random = new Random();
        int done = 0;
        for (int kill = 0; kill < 30; kill++) {
            try (Child child = Child.start(NewsroomProcess.class, file)) {
                for (int line = 1 + random.nextInt(5); line > 0; line--) {
                    done = Integer.parseInt(child.line());
                }
                // The pause is random because the process must be killed at random points. It waits for no event.
                LockSupport.parkNanos(random.nextInt(20_000_000));
                List<String> rest = child.kill();
                done = rest.isEmpty() ? done : Integer.parseInt(rest.get(rest.size() - 1));
            }
        }

        try (MessageLog log = SqliteMessageLog.open(file)) {
            NodeMemories nodes = nodes(log);
            for (String agent : List.of("writer", "editor")) {
                List<String> answers = answers(nodes, agent);
                assertThat(answers).hasSizeGreaterThanOrEqualTo(done);
                // A killed process may have asked without an answer, but no answer is lost or there twice.
                assertThat(answers).doesNotHaveDuplicates().endsWith(agent + " " + answers.size());
                assertThat(said(nodes, agent, "c"))
                        .noneMatch(text -> text.contains(agent.equals("writer") ? "editor" : "writer"));
            }
            int before = answers(nodes, "writer").size();
            new Newsroom(Newsroom.System.LOOP, nodes::chatMemoryProvider).work("c", "bees");
            assertThat(answers(nodes, "writer")).hasSize(before + 2).endsWith("writer " + (before + 2));
        }
    }

    private static List<String> answers(NodeMemories nodes, String agent) {
        return nodes.conversation(agent, "c").branch(Integer.MAX_VALUE).messages().stream()
                .filter(logged -> logged.message() instanceof AiMessage)
                .map(logged -> ((AiMessage) logged.message()).text())
                .toList();
    }

    /** What users and models said in an agent's memory. */
    private static List<String> said(NodeMemories nodes, String agent, String conversation) {
        return nodes.conversation(agent, conversation).branch(Integer.MAX_VALUE).messages().stream()
                .map(LoggedMessage::message)
                .filter(message -> message instanceof UserMessage || message instanceof AiMessage)
                .map(message -> message instanceof UserMessage user ? user.singleText() : ((AiMessage) message).text())
                .toList();
    }
}
