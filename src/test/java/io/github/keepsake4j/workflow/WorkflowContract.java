package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.SeenMessages;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeptRequest;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Threads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the runs of nodes promise, on any log. The names begin with the promise: A16 to A22, D11. */
abstract class WorkflowContract extends WorkflowTurnContract {

    @Test
    void a17_a_run_reads_calls_appends_and_flushes() {
        Model model = new Model();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        assertThat(writer.run(run("m1", null, "first").withSystemPrompt("be brief"))
                        .text())
                .isEqualTo("answer 1");
        writer.run(run("m2", "m1", "second").withSystemPrompt("be brief"));

        assertThat(texts(model.asked.get(1))).containsExactly("be brief", "first", "answer 1", "second");
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
        assertThat(stored(CONVERSATION)).isEmpty();
    }

    @Test
    void a17_a_run_is_one_read_and_one_append_and_so_is_each_iteration_of_a_loop() {
        LlmNode writer = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE));
        for (NodeRun run : List.of(
                run("m1", null, "first"),
                run("m2", "m1", "second"),
                run("m2", "m1", "second, better"),
                run("m2", "m1", "second, best"),
                run("m3", "m2", "third"))) {
            watched.calls().clear();
            writer.run(run);
            // A log that holds nothing back does nothing then.
            assertThat(watched.calls()).containsExactly("read", "append", "flush");
        }
        assertThat(ids(NODE))
                .containsExactly(
                        "m1#user", "m1", "m2#user", "m2", "m2#2#user", "m2#2", "m2#3#user", "m2#3", "m3#user", "m3");
    }

    @Test
    void a17_a_run_whose_turn_another_branch_holds_is_its_next_iteration() {
        LlmNode writer = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE));
        writer.run(run("m1", null, "first"));
        writer.run(run("m2", "m1", "second"));
        Logs.moveHead(log, NODE, "m1", null);
        writer.run(run("m2", "m1", "second, better"));

        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2", "m2#2#user", "m2#2");
        assertThat(stored(NODE).get(4).parentId()).isEqualTo("m2");
    }

    @Test
    void a17_nothing_is_appended_if_the_model_fails() {
        Model model = new Model();
        model.failure = new IllegalStateException("overloaded");
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));

        assertThatThrownBy(() -> writer.run(run("m1", null, "first"))).isSameAs(model.failure);
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    @ExpectedLog("its turn was not stored")
    void a17_a_failed_flush_does_not_lose_the_reply() {
        watched.fail("append", new StorageUnavailableException("down", null));
        LlmNode.Reply reply = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE))
                .run(run("m1", null, "first"));
        assertThat(reply.text()).isEqualTo("answer 1");
        assertThat(reply.failure()).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        reply.memory().flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1");
    }

    @Test
    void a17_in_conversation_mode_the_engine_writes_unless_asked() {
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION));
        node.run(run("m1", null, "first"));
        assertThat(stored(CONVERSATION)).isEmpty();

        node.writingConversation().run(run("m1", null, "first"));
        node.run(run("m2", "m1", "second"));
        assertThat(texts(model.asked.get(2))).containsExactly("first", "answer 2", "second");
    }

    @Test
    void a17_a_run_in_conversation_mode_makes_few_requests() {
        say("m1#user", null, user("q1"), "m1", ai("a1"), "m2#user", user("q2"));
        LlmNode reader = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.CONVERSATION));
        LlmNode writer = reader.writingConversation();

        assertThat(requests(() -> reader.run(run("m2", "m1", "q2")))).containsExactly("find", "read");
        assertThat(requests(() -> reader.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m2"), "q2"))))
                .describedAs("the head is its question")
                .containsExactly("read", "read");
        assertThat(requests(() -> writer.run(run("m3", "m1", "q3")))).containsExactly("find", "read", "append");
        assertThat(requests(() -> writer.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m4"), "q4"))))
                .containsExactly("read", "find", "append");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "#user", ":query"})
    void a17_a_loop_in_conversation_mode_kept_only_its_first_iteration(String question) {
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation();
        String parent = null;
        List<String> expected = new ArrayList<>();
        for (String message : List.of("m1", "m2")) {
            if (!question.isEmpty()) {
                say(message + question, parent == null ? null : "m1#3", user("go on"));
            }
            NodeTurn named = NodeTurn.of(message).under(parent);
            for (NodeTurn turn : List.of(named, NodeTurn.of(message), named)) {
                assertThat(node.run(NodeRun.of("acme", "app", "c1", "writer", turn, "go on"))
                                .failure())
                        .isNull();
            }
            expected.addAll(List.of(message + (question.isEmpty() ? "#user" : question), message));
            expected.addAll(List.of(message + "#2#user", message + "#2", message + "#3#user", message + "#3"));
            parent = message;
        }
        assertThat(branch(null)).isEqualTo(expected);
        assertThat(ids(CONVERSATION)).isEqualTo(expected);
        assertThat(model.asked).extracting(List::size).containsExactly(1, 3, 5, 7, 9, 11);
        LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION)).run(run("m3", "m2", "and now?"));
        assertThat(model.asked.get(6))
                .describedAs("a parent means its last iteration")
                .hasSize(13)
                .allMatch(shown -> !(shown instanceof UserMessage said)
                        || said.attributes().isEmpty())
                .allMatch(shown ->
                        !(shown instanceof AiMessage said) || said.attributes().isEmpty());
        assertThat(seen(Keepsake.builder().messageLog(log).build().conversation(CONVERSATION), "m1#2"))
                .containsExactly(expected.get(0), "m1", "m1#2#user");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "#user", ":query"})
    void a17_a_repeated_run_of_a_loop_in_conversation_mode_is_stored_once(String question) {
        say("m0#user", null, user("first"), "m0", ai("yes"));
        if (!question.isEmpty()) {
            say("m1" + question, "m0", user("go on"));
        }
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation();
        NodeTurn turn = NodeTurn.of("m1").under("m0");
        for (String run : List.of("run-1", "run-1", "run-2", "run-1", "run-3", "run-2")) {
            node.run(NodeRun.of("acme", "app", "c1", "writer", turn.inRun(run), "go on"));
            assertThat(model.asked.get(model.asked.size() - 1))
                    .describedAs("what %s saw the first time", run)
                    .hasSize(1 + 2 * Integer.parseInt(run.substring(4)));
        }
        assertThat(branch(null))
                .containsExactly(
                        "m0#user",
                        "m0",
                        "m1" + (question.isEmpty() ? "#user" : question),
                        "m1",
                        "m1#2#user",
                        "m1#2",
                        "m1#3#user",
                        "m1#3");
        assertThat(ids(CONVERSATION)).hasSize(8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "#user", ":query"})
    void a17_a_named_iteration_of_a_loop_in_conversation_mode_is_recognised(String question) {
        if (!question.isEmpty()) {
            say("m1" + question, null, user("go on"));
        }
        ChatModel model = Script.answering(request -> ai("same"));
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation();
        for (int iteration : List.of(1, 1, 2, 1, 2, 3)) {
            NodeTurn turn = NodeTurn.of("m1").under(null).inIteration(iteration);
            assertThat(node.run(NodeRun.of("acme", "app", "c1", "writer", turn, "go on"))
                            .failure())
                    .isNull();
        }
        assertThat(branch(null)).hasSize(6).endsWith("m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");
        assertThat(ids(CONVERSATION)).hasSize(6);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "#user", ":query"})
    void a17_runs_for_one_message_at_the_same_time_are_iterations_of_a_conversation(String question) throws Exception {
        if (!question.isEmpty()) {
            say("m1" + question, null, user("go on"));
        }
        CyclicBarrier together = new CyclicBarrier(3);
        ChatModel model = Script.playing(request -> {
            try {
                together.await(1, TimeUnit.MINUTES);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            return Script.response(ai("same"));
        });
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation();
        Threads.run(3, thread -> assertThat(node.run(run("m1", null, "go on")).failure())
                .isNull());
        assertThat(branch(null)).hasSize(6).endsWith("m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");
        assertThat(ids(CONVERSATION)).hasSize(6);
    }

    @Test
    @ExpectedLog("its turn was not stored")
    void a17_a_conversation_that_is_erased_while_the_model_answers_stays_empty() {
        say("u1", null, user("one"), "a1", ai("two"));
        ChatModel model = Script.playing(request -> {
            log.erase(CONVERSATION);
            return Script.response(ai("late"));
        });
        LlmNode.Reply reply = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation()
                .run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m1"), "q"));
        assertThat(reply.failure()).isInstanceOf(ErasedException.class);
        assertThat(stored(CONVERSATION)).isEmpty();
    }

    @Test
    void a16_a_configuration_says_which_memory_and_how_much_of_it() {
        Map<String, Object> json = Map.of(
                "mode",
                "node",
                "role_prefix",
                Map.of("user", "U", "assistant", "A"),
                "window",
                Map.of("enabled", true, "size", 1),
                "query_prompt_template",
                "Answer: {{#sys.query#}}");
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.fromJson(json));
        node.run(run("m1", null, "one"));
        node.run(run("m2", "m1", "two"));
        node.run(run("m3", "m2", "three"));
        assertThat(texts(model.asked.get(2))).containsExactly("two", "answer 2", "Answer: three");

        LlmNode.of(memories, model, MemoryConfig.fromJson(null)).run(run("m4", "m3", "four"));
        assertThat(texts(model.asked.get(3))).containsExactly("four");
    }

    @Test
    @ExpectedLog("it runs without a conversation id")
    void a16_node_mode_without_a_conversation_is_no_memory_or_an_error() {
        NodeRun run = NodeRun.of("acme", "app", null, "writer", NodeTurn.of("m1"), "hello");
        LlmNode.Reply reply = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE))
                .run(run);
        assertThat(reply.text()).isEqualTo("answer 1");
        assertThat(reply.memory()).isNull();

        WorkflowMemories strict = with(WorkflowMemories.builder().requireConversation());
        Model model = new Model();
        LlmNode node = LlmNode.of(strict, model, MemoryConfig.of(MemoryMode.NODE));
        assertThrown(InvalidInputException.class, () -> node.run(run), "conversation_id");
        assertThat(model.asked).isEmpty();
    }

    @Test
    void a16_node_mode_without_a_conversation_is_logged_once_for_each_node() {
        WorkflowMemories strict = with(WorkflowMemories.builder().requireConversation());
        for (WorkflowMemories each : List.of(memories, strict)) {
            LlmNode node = LlmNode.of(each, new Model(), MemoryConfig.of(MemoryMode.NODE));
            LlmNode other = LlmNode.of(each, new Model(), MemoryConfig.of(MemoryMode.NODE));
            List<String> logged = Logged.during(() -> {
                for (int i = 0; i < 3; i++) {
                    attempt(() -> node.run(withoutConversation("writer")));
                    attempt(() -> other.run(withoutConversation("writer")));
                    attempt(() -> node.run(withoutConversation("critic")));
                }
            });
            assertThat(logged)
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("[main] WARN") && line.contains("without a conversation id"))
                    .anyMatch(line -> line.contains("acme/app/writer"))
                    .anyMatch(line -> line.contains("acme/app/critic"));
        }
        List<String> logged =
                Logged.during(() -> LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.CONVERSATION))
                        .run(withoutConversation("reader")));
        assertThat(logged).describedAs("the mode that does not need one").isEmpty();
    }

    @Test
    void a18_an_iteration_sees_the_ones_before_in_the_same_run() {
        NodeTokenBufferMemory memory = node();
        for (int i = 0; i < 3; i++) {
            assertThat(memory.getHistoryPromptMessages("m1", null, "acme", PLENTY, null))
                    .hasSize(2 * i);
            memory.addMessages("m1", null, "q" + i, List.of(), "r" + i, List.of());
            if (i == 1) {
                memory.flush();
            }
        }
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        node.run(run("m2", "m1", "a"));
        node.run(run("m2", "m1", "b"));
        assertThat(model.asked.get(1)).hasSize(9);
    }

    @Test
    void a18_iterations_that_run_at_the_same_time_are_all_shown_afterwards() {
        turns("m0", null);
        List<NodeTokenBufferMemory> runs = new ArrayList<>();
        for (int iteration = 1; iteration <= 3; iteration++) {
            NodeTokenBufferMemory memory = node();
            NodeTurn turn = NodeTurn.of("m1").under("m0").inIteration(iteration);
            memory.getHistoryPromptMessages(turn, "acme", PLENTY, null);
            memory.addMessages(turn, "q" + iteration, List.of(), List.of(ai("r" + iteration)));
            runs.add(memory);
        }
        runs.get(1).flush();
        runs.get(0).flush();
        runs.get(2).flush();

        assertThat(texts(node().getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0", "q2", "r2", "q1", "r1", "q3", "r3");
    }

    @Test
    void a18_iterations_that_were_stored_out_of_order_are_all_seen_by_the_next_one() {
        turns("m0", null);
        NodeTokenBufferMemory loop = node();
        for (int iteration : new int[] {2, 1}) {
            NodeTurn turn = NodeTurn.of("m1").under("m0").inIteration(iteration);
            loop.addMessages(turn, "q" + iteration, List.of(), List.of(ai("r" + iteration)));
            loop.flush();
        }
        turns("x1", "m0");
        for (String more : new String[] {"", "q m1"}) {
            List<String> seen = texts(node().getHistoryPromptMessages("m1", "m0", "acme", PLENTY, null));
            assertThat(seen).startsWith("q m0", "r m0", "q2", "r2", "q1", "r1").hasSize(more.isEmpty() ? 6 : 8);
            turns("m1", "m0");
        }
        assertThat(stored(NODE).stream().filter(logged -> logged.id().equals("m1#3#user")))
                .extracting(LoggedMessage::parentId)
                .containsExactly("m1");
    }

    @Test
    void a18_an_iteration_whose_forerunners_are_late_sees_what_leads_to_the_loop() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0");
        NodeTokenBufferMemory memory = node();
        memory.addMessages(turn.inIteration(4), "q4", List.of(), List.of(ai("r4")));
        memory.flush();

        assertThat(texts(node().getHistoryPromptMessages(turn.inIteration(3), "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0");
    }

    @Test
    void a18_tool_calls_and_results_are_stored_and_shown() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q", List.of(), calls("x"), result("x"), ai("r"));
        memory.flush();

        assertThat(ids(NODE)).containsExactly("m1#user", "m1#step1", "m1#step2", "m1");
        assertThat(history("m2"))
                .hasExactlyElementsOfTypes(
                        UserMessage.class, AiMessage.class, ToolExecutionResultMessage.class, AiMessage.class);
    }

    @Test
    void a18_a_fresh_object_for_each_iteration_sees_the_earlier_iterations_of_its_run() {
        turns("m0", null);
        for (String parent : new String[] {"m0", null}) {
            String message = "loop under " + parent;
            for (int i = 0; i < 5; i++) {
                NodeTokenBufferMemory memory = node();
                List<ChatMessage> history = parent == null
                        ? memory.getHistoryPromptMessages(message, "acme")
                        : memory.getHistoryPromptMessages(message, parent, "acme", PLENTY, null);
                assertThat(texts(history).stream().filter(text -> text.startsWith("same")))
                        .describedAs("iteration %d", i + 1)
                        .hasSize(2 * i);
                memory.addMessages(message, parent, "same question", List.of(), "same answer", List.of());
                memory.flush();
                if (i > 0) {
                    assertThat(watched.calls())
                            .describedAs("iteration %d", i + 1)
                            .containsExactly("read", "append", "flush");
                }
                watched.calls().clear();
            }
            log.erase(NODE);
            turns("m0", null);
        }
    }

    @Test
    void a18_loops_for_two_messages_at_the_same_time_each_see_their_own_iterations() {
        turns("m0", null);
        for (int i = 0; i < 3; i++) {
            for (String message : List.of("m1", "x1")) {
                NodeTokenBufferMemory memory = node();
                List<String> seen = texts(memory.getHistoryPromptMessages(message, "m0", "acme", PLENTY, null));
                assertThat(seen).hasSize(2 + 2 * i).doesNotContain(message.equals("m1") ? "q x1" : "q m1");
                memory.addMessages(message, "m0", "q " + message, List.of(), "r", List.of());
                memory.flush();
            }
        }
    }

    @Test
    void a18_what_is_read_for_a_message_that_others_follow_includes_its_iterations_when_asked() {
        turns("m0", null, "m1", "m0", "m1", "m0", "m2", "m1");

        assertThat(texts(history("m1"))).containsExactly("q m0", "r m0");
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(3), "acme", PLENTY, null))
                .hasSize(6);
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(2), "acme", PLENTY, null))
                .hasSize(4);
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(1), "acme", PLENTY, null))
                .hasSize(2);
    }

    @Test
    void a17_a_run_of_the_hook_that_is_repeated_with_its_key_is_stored_once() {
        Model model = new Model();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        for (String run : List.of("run-1", "run-1", "run-2")) {
            NodeTurn turn = NodeTurn.of("m1").under(null).inRun(run);
            writer.run(NodeRun.of("acme", "app", "c1", "writer", turn, "q"));
        }
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");
        assertThat(model.asked.get(1)).describedAs("the repeated run").hasSize(1);
        assertThat(model.asked.get(2)).hasSize(3);
    }

    @Test
    void a17_a_node_without_a_query_sends_what_later_histories_show() {
        Model model = new Model();
        LlmNode poet = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        poet.run(run("m1", null, "").withSystemPrompt("write a poem"));
        poet.run(run("m2", "m1", "").withSystemPrompt("write a poem"));

        assertThat(texts(model.asked.get(0))).containsExactly("write a poem", "[no text]");
        assertThat(texts(model.asked.get(1))).containsExactly("write a poem", "[no text]", "answer 1", "[no text]");
        assertThat(ProviderRules.all(model.asked.get(1))).isEmpty();
    }

    @Test
    void a20_runs_of_one_node_at_the_same_time_are_all_kept() throws Exception {
        turns("m0", null);
        int writers = 4;
        int each = Counts.of(5, 50);
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int w = 0; w < writers; w++) {
                String writer = "w" + w;
                done.add(threads.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        // Half of the turns are iterations for one and the same message.
                        String id = i % 2 == 0 ? "shared" : writer + "-" + i;
                        NodeTokenBufferMemory memory = node();
                        memory.addMessages(id, "m0", writer + " " + i, List.of(), "r", List.of());
                        memory.flush();
                    }
                }));
            }
            for (Future<?> future : done) {
                future.get();
            }
        } finally {
            threads.shutdownNow();
        }
        List<String> said = stored(NODE).stream()
                .filter(logged -> logged.message() instanceof UserMessage)
                .map(logged -> ((UserMessage) logged.message()).singleText())
                .toList();
        assertThat(said).doesNotHaveDuplicates().hasSize(1 + writers * each);
    }

    @Test
    void a20_runs_at_the_same_time_without_named_parents_are_all_shown() {
        for (boolean knows : new boolean[] {true, false}) {
            memories = knows ? memories : withoutConversations();
            log.erase(NODE);
            turns("m0", null);
            NodeTokenBufferMemory one = node();
            NodeTokenBufferMemory two = node();
            one.getHistoryPromptMessages("m1", "acme");
            two.getHistoryPromptMessages("m2", "acme");
            one.addMessages(NodeTurn.of("m1"), "q m1", List.of(), List.of(ai("r m1")));
            two.addMessages(NodeTurn.of("m2"), "q m2", List.of(), List.of(ai("r m2")));
            one.flush();
            two.flush();
            assertThat(texts(history("m3"))).containsExactly("q m0", "r m0", "q m1", "r m1", "q m2", "r m2");
        }
    }

    private Keepsake whereWriterWasGreeted() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(open())
                .nodeLog(log)
                .tenant("acme")
                .build();
        keepsake.nodes("app").chatMemoryProvider("writer").get("c1").add(user("hello"));
        return keepsake;
    }

    @Test
    void a22_a_nodes_key_is_the_nodes_memory_for_every_caller() {
        Keepsake keepsake = whereWriterWasGreeted();
        keepsake.chatMemory(NODE).add(ai("hi"));

        assertThat(keepsake.conversation(NODE).messages()).containsExactly(user("hello"), ai("hi"));
        assertThat(keepsake.chatMemoryStore().getMessages(NODE)).hasSize(2);
        assertThat(stored(NODE)).hasSize(2);
        keepsake.conversation(NODE).erase();
        assertThat(stored(NODE)).isEmpty();
    }

    @Test
    void a22_an_agent_takes_a_nodes_memory_as_a_provider() {
        Keepsake keepsake = whereWriterWasGreeted();

        assertThat(stored(NODE)).hasSize(1);
        assertThat(keepsake.nodes("app").conversation("writer", "c1").messages())
                .containsExactly(user("hello"));
        assertThat(keepsake.nodes("app").conversation("reader", "c1").messages())
                .isEmpty();
        assertThat(keepsake.conversation("c1").messages()).isEmpty();
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.nodes("app").chatMemoryProvider("writer").get(NODE));
    }

    @Test
    void d11_what_a_node_was_shown_and_what_its_answer_cost_is_known_in_both_modes() {
        ChatModel model = Script.playing(request -> ChatResponse.builder()
                .aiMessage(ai("answer"))
                .modelName("a-model")
                .tokenUsage(new TokenUsage(7, 3))
                .finishReason(FinishReason.STOP)
                .build());
        Keepsake keepsake = Keepsake.builder().messageLog(log).nodeLog(log).build();
        for (MemoryMode mode : MemoryMode.values()) {
            LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(mode)).writingConversation();
            LlmNode.Reply first = node.run(run("m1", null, "one"));
            LlmNode.Reply second = node.run(run("m2", "m1", "two"));
            node.run(run("m3", "m1", "two again").withSystemPrompt("Be brief."));
            assertThat(first.failure()).isNull();
            assertThat(second.failure()).isNull();

            Conversation kept = keepsake.conversation(mode == MemoryMode.NODE ? NODE : CONVERSATION);
            assertThat(seen(kept, "m1")).describedAs("%s", mode).containsExactly("m1#user");
            assertThat(seen(kept, "m2")).containsExactly("m1#user", "m1", "m2#user");
            assertThat(seen(kept, "m3")).containsExactly("m1#user", "m1", "m3#user");
            assertThat(kept.seenBy("m2").orElseThrow().altered()).isFalse();
            assertThat(kept.seenBy("m3").orElseThrow().altered()).isTrue();
            assertThat(kept.made("m2").usage()).isEqualTo(new Usage(7, 3, 0));
            assertThat(kept.made("m2").modelName()).isEqualTo("a-model");
            assertThat(kept.made("m2").finishReason()).isEqualTo("STOP");
        }
        say("m5#user", "m2", user("three"));
        LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation()
                .run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m5"), "three"));
        assertThat(seen(keepsake.conversation(CONVERSATION), "m5"))
                .describedAs("a question that the engine stored")
                .containsExactly("m1#user", "m1", "m2#user", "m2", "m5#user");
        turns("m4", "m2");
        assertThat(keepsake.conversation(NODE).seenBy("m4"))
                .describedAs("a turn that the engine added")
                .isEmpty();
    }

    @Test
    void d11_a_system_prompt_and_a_template_were_missing_from_what_was_sent() {
        Map<String, Object> json = Map.of("query_prompt_template", "Translate: {{query}}");
        Keepsake keepsake = Keepsake.builder().messageLog(log).nodeLog(log).build();
        for (boolean keeps : List.of(true, false)) {
            WorkflowMemories.Builder builder = WorkflowMemories.builder();
            memories = with(keeps ? builder.keepRequests() : builder);
            for (MemoryMode mode : MemoryMode.values()) {
                Model model = new Model();
                model.name = "a-model";
                Map<String, Object> config = new HashMap<>(json);
                config.put("mode", mode.jsonName());
                LlmNode templated = LlmNode.of(memories, model, MemoryConfig.fromJson(config))
                        .writingConversation();
                LlmNode plain =
                        LlmNode.of(memories, model, MemoryConfig.of(mode)).writingConversation();
                String id = mode.jsonName() + keeps;
                templated.run(run(id + "1", null, "hello").withSystemPrompt("Be brief."));
                templated.run(run(id + "2", id + "1", "bye"));
                plain.run(run(id + "3", id + "2", "thanks"));

                Conversation kept = keepsake.conversation(mode == MemoryMode.NODE ? NODE : CONVERSATION);
                for (int i = 1; i <= 3; i++) {
                    SeenMessages seen = kept.seenBy(id + i).orElseThrow();
                    assertThat(seen.altered()).isEqualTo(i < 3);
                    assertThat(seen.request())
                            .describedAs("%s, run %d", mode, i)
                            .isEqualTo(
                                    keeps && i < 3
                                            ? new KeptRequest(model.asked.get(i - 1), "a-model", List.of())
                                            : null);
                }
                assertThat(texts(model.asked.get(0))).containsExactly("Be brief.", "Translate: hello");
                assertThat(texts(model.asked.get(2))).containsExactly("hello", "answer 1", "bye", "answer 2", "thanks");
            }
        }
    }
}
