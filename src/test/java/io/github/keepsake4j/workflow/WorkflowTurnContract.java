package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.workflow.files.FileContentSource.FileContent;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the turns of nodes promise, on any log. The names begin with the promise: A10 to A13. */
abstract class WorkflowTurnContract extends WorkflowHistoryContract {

    @Test
    void a10_an_id_that_names_a_part_of_a_turn_is_refused() {
        for (String id : List.of("m#user", "m#2", "m#step1", "m#2#user")) {
            assertThrown(InvalidInputException.class, () -> NodeTurn.of(id)).hasMessageStartingWith("message_id:");
        }
        for (String id : List.of("m#users", "m#2a", "#", "m#step", "user", "m:user")) {
            assertThat(NodeTurn.of(id).messageId()).isEqualTo(id);
        }
    }

    @Test
    void a10_a_turn_waits_for_flush_and_is_two_linked_messages_with_counts() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "a b", List.of(), "c d e", List.of());
        assertThat(watched.calls("append")).isZero();
        assertThat(ids(NODE)).isEmpty();

        memory.flush();
        List<LoggedMessage> stored = stored(NODE);
        assertThat(stored.get(0).parentId()).isNull();
        assertThat(stored.get(1).parentId()).isEqualTo(stored.get(0).id());
        assertThat(stored.get(1).id()).isEqualTo("m1");
        assertThat(stored).extracting(LoggedMessage::tokens).containsExactly(2, 3);
    }

    @Test
    void a10_the_same_turn_again_before_a_flush_changes_nothing() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.flush();
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        memory.flush();
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
    }

    @Test
    void a10_iterations_of_a_loop_each_keep_their_turn_and_a_parent_means_the_last_one() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        memory.addMessages("m1", null, "q2", List.of(), "r2", List.of());
        memory.flush();
        NodeTokenBufferMemory later = node();
        later.addMessages("m1", null, "q3", List.of(), "r3", List.of());
        later.addMessages("m2", "m1", "q4", List.of(), "r4", List.of());
        later.flush();

        assertThat(ids(NODE))
                .containsExactly("m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3", "m2#user", "m2");
        assertThat(stored(NODE))
                .extracting(LoggedMessage::parentId)
                .containsExactly(null, "m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3", "m2#user");
    }

    @Test
    void a10_an_iteration_that_is_named_is_recognised_and_another_one_under_its_name_is_an_error() {
        for (int i = 0; i < 2; i++) {
            for (int iteration = 1; iteration <= 3; iteration++) {
                NodeTokenBufferMemory memory = node();
                NodeTurn turn = NodeTurn.of("m1").under(null).inIteration(iteration);
                assertThat(memory.getHistoryPromptMessages(turn, "acme", PLENTY, null))
                        .hasSize(2 * (iteration - 1));
                memory.addMessages(turn, "same", List.of(), List.of(ai("same")));
                memory.flush();
            }
        }
        assertThat(ids(NODE)).hasSize(6);

        NodeTokenBufferMemory memory = node();
        memory.addMessages(NodeTurn.of("m1").under(null).inIteration(2), "other", List.of(), List.of(ai("other")));
        assertThatThrownBy(memory::flush).isInstanceOf(MessageIdConflictException.class);
    }

    @Test
    void a10_a_turn_with_fewer_steps_is_not_taken_for_the_stored_one() {
        NodeTokenBufferMemory tools = node();
        tools.addMessages("m1", null, "q", List.of(), calls("x"), result("x"), ai("r"));
        tools.flush();
        NodeTokenBufferMemory plain = node();
        plain.addMessages("m1", null, "q", List.of(), "r", List.of());
        plain.flush();

        assertThat(ids(NODE)).containsExactly("m1#user", "m1#step1", "m1#step2", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a11_the_requests_for_a_history_do_not_grow_with_what_it_skips() {
        NodeTokenBufferMemory loop = node();
        for (int i = 1; i <= 40; i++) {
            loop.addMessages("m1", null, "q" + i, List.of(), "r" + i, List.of());
        }
        loop.flush();
        turns("m2", "m1", "m3", null);

        int before = watched.calls().size();
        assertThat(texts(node().getHistoryPromptMessages(
                                NodeTurn.of("m1").under(null).inIteration(3), "acme", PLENTY, null)))
                .containsExactly("q1", "r1", "q2", "r2");
        assertThat(watched.calls().size() - before)
                .describedAs("40 iterations on another branch")
                .isLessThanOrEqualTo(10);
    }

    @Test
    void a11_the_requests_for_a_bridge_do_not_grow_with_its_length() {
        turns("m0", null);
        append(
                NODE,
                null,
                IntStream.range(0, 260)
                        .boxed()
                        .flatMap(i -> Stream.of(message("other" + i, user("q")), message("other" + i + "a", ai("r"))))
                        .toArray(NewMessage[]::new));
        say("m0", null, ai("r m0"));
        for (int i = 1; i <= 100; i++) {
            say("n" + i, i == 1 ? "m0" : "n" + (i - 1), ai("r"));
        }

        int before = watched.calls().size();
        assertThat(texts(node().getHistoryPromptMessages("n101", "n100", "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0");
        assertThat(watched.calls().size() - before)
                .describedAs("100 ancestors without a turn of the node")
                .isLessThanOrEqualTo(7);
    }

    @Test
    void a11_a_history_leads_to_the_message_without_it() {
        turns("m1", null, "m2", "m1", "m3", "m2", "x3", "m2");

        assertThat(texts(history("m2"))).containsExactly("q m1", "r m1");
        assertThat(texts(leadingTo("m3"))).containsExactly("q m1", "r m1", "q m2", "r m2");
        assertThat(texts(history("m1"))).isEmpty();
        assertThat(texts(node().getHistoryPromptMessages("m4", "m3", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "q m2", "r m2", "q m3", "r m3");
        assertThat(texts(history("unknown")))
                .describedAs("the head")
                .containsExactly("q m1", "r m1", "q m2", "r m2", "q x3", "r x3");
        assertThat(node().getHistoryPromptMessages("new", null, "acme", PLENTY, null))
                .describedAs("another beginning")
                .isEmpty();
    }

    @Test
    void a11_a_parent_that_the_node_never_saw_is_bridged_by_the_conversation() {
        say("c1", null, ai("1"), "c2", ai("2"), "c3", ai("3"), "c4", ai("4"));
        say("x2", "c1", ai("2 again"));
        turns("c1", null, "c2", "c1", "x2", "c1");

        assertThat(texts(node().getHistoryPromptMessages("c4", "c3", "acme", PLENTY, null)))
                .containsExactly("q c1", "r c1", "q c2", "r c2");
        assertThat(texts(history("c4"))).containsExactly("q c1", "r c1", "q c2", "r c2");
        turns("c4", "c3");
        assertThat(stored(NODE).get(6).parentId()).isEqualTo("c2");
    }

    @Test
    void a11_an_unknown_parent_is_bridged_by_the_newest_turn_on_no_sibling_branch() {
        memories = withoutConversations();
        turns("m1", null, "m2", "m1", "m4", "m3", "m5", "m4");

        assertThat(texts(node().getHistoryPromptMessages("m4b", "m3", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "q m2", "r m2");
        turns("m4b", "m3");
        assertThat(texts(leadingTo("m4b"))).containsExactly("q m1", "r m1", "q m2", "r m2");
        NodeTokenBufferMemory again = node();
        again.addMessages(NodeTurn.of("m4").under("m3").inIteration(1), "q m4", List.of(), List.of(ai("r m4")));
        again.flush();
        assertThat(ids(NODE)).hasSize(10);
    }

    @Test
    void a11_a_turn_that_only_the_conversation_places_does_not_stand_behind_a_sibling() {
        say("c1", null, ai("1"), "c2", ai("2"));
        say("x2", "c1", ai("2 again"), "x3", ai("3"));
        turns("c2", "c1");
        NodeTokenBufferMemory memory = node();
        assertThat(memory.getHistoryPromptMessages("x3", "acme")).isEmpty();
        memory.addMessages(NodeTurn.of("x3"), "q x3", List.of(), List.of(ai("r x3")));
        memory.flush();

        assertThat(texts(node().getHistoryPromptMessages("x4", "x3", "acme", PLENTY, null)))
                .containsExactly("q x3", "r x3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#user", ":query"})
    void a11_a_regenerated_turn_whose_question_is_stored_before_the_run_does_not_see_the_rejected_one(String question) {
        say("m1" + question, null, user("q1"), "m1", ai("a1"), "m2" + question, user("q2"), "m2", ai("a2"));
        turns("m1", null, "m2", "m1");
        say("m3" + question, "m1", user("q2"));

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1");
        node.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m3"), "q2"));
        assertThat(texts(model.asked.get(0))).containsExactly("q m1", "r m1", "q2");
        assertThat(Logs.find(log, NODE, List.of("m3#user")).get(0).parentId()).isEqualTo("m1");

        // A row that was never answered is the parent of the next one.
        say("m4" + question, "m3" + question, user("q4"));
        node.run(run("m5", "m4", "q5"));
        assertThat(texts(model.asked.get(1))).containsExactly("q m1", "r m1", "q2", "answer 1", "q5");
        assertThat(Logs.find(log, NODE, List.of("m5#user")).get(0).parentId()).isEqualTo("m3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#user", ":query"})
    void a11_a_conversation_is_read_up_to_the_runs_own_row_although_another_branch_was_answered(String question) {
        say("m1" + question, null, user("q1"), "m1", ai("a1"), "m2" + question, user("q2"), "m2", ai("a2"));
        say("m3" + question, "m1", user("q3"));
        say("m4" + question, "m1", user("q4"), "m4", ai("a4"));

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION));
        node.writingConversation().run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m3"), "q3"));
        assertThat(texts(model.asked.get(0))).containsExactly("q1", "a1", "q3");
        assertThat(branch("m3")).containsExactly("m1" + question, "m1", "m3" + question, "m3");

        // A row without an answer is named by its id too.
        say("m5" + question, "m2", user("q5"));
        node.writingConversation().run(run("m6", "m5", "q6"));
        assertThat(texts(model.asked.get(1))).containsExactly("q1", "a1", "q2", "a2", "q6");
        assertThat(branch("m6")).endsWith("m2" + question, "m2", "m5" + question, "m6#user", "m6");
        assertThat(texts(conversation().getHistoryPromptMessages("m5", PLENTY, null, null)))
                .containsExactly("q1", "a1", "q2", "a2");
        assertThrown(
                InvalidInputException.class, () -> conversation().getHistoryPromptMessages("m7", PLENTY, null, null));
    }

    @Test
    void a10_what_waits_is_shown_to_its_object_where_no_parent_is_named_too() {
        turns("m0", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages(NodeTurn.of("m1"), "q m1", List.of(), List.of(ai("r m1")));
        for (int i = 0; i < 2; i++) {
            for (String message : List.of("m2", "m1")) {
                assertThat(texts(memory.getHistoryPromptMessages(message, "acme")))
                        .containsExactly("q m0", "r m0", "q m1", "r m1");
            }
            assertThat(texts(memory.getHistoryPromptMessages(NodeTurn.of("m1").inIteration(1), "acme", PLENTY, null)))
                    .containsExactly("q m0", "r m0");
            memory.flush();
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a11_files_are_rebuilt_for_the_tenant_that_asks_and_cut_to_the_limit() {
        List<String> tenants = new ArrayList<>();
        memories = with(WorkflowMemories.builder()
                .fileResolver((tenant, files) -> {
                    tenants.add(tenant);
                    Map<FileReference, ResolvedFile> found = new HashMap<>();
                    files.forEach(file -> found.put(file, new ResolvedFile(file, "k", "n", "image/png", 3)));
                    return tenant.equals("acme") ? found : Map.of();
                })
                .fileContentSource((tenant, file) -> FileContent.bytes(new byte[] {1, 2, 3})));
        NodeTokenBufferMemory memory = node();
        memory.addMessages(
                "m1",
                null,
                "look",
                List.of(FileReference.localFile(FileReference.Type.IMAGE, "f1")),
                "nice",
                List.of(FileReference.toolFile(FileReference.Type.AUDIO, "t1")));
        memory.flush();

        UserMessage shown = (UserMessage) history("m2").get(0);
        assertThat(shown.contents().get(0)).isInstanceOf(ImageContent.class);
        assertThat(((ImageContent) shown.contents().get(0)).detailLevel()).isEqualTo(ImageContent.DetailLevel.HIGH);
        assertThat(shown.contents().get(1)).isEqualTo(TextContent.from("look"));
        assertThat(((AiMessage) history("m2").get(1)).text()).isEqualTo("[audio]\nnice");
        int size = WordCounter.PER_LIST + WordCounter.PER_MEDIUM + 3;
        assertThat(node().getHistoryPromptMessages("m2", "acme", size, null)).hasSize(2);
        assertThat(node().getHistoryPromptMessages("m2", "acme", size - 1, null))
                .isEmpty();
        UserMessage refused = (UserMessage)
                node().getHistoryPromptMessages("m2", "other", PLENTY, null).get(0);
        assertThat(refused.contents())
                .containsExactly(TextContent.from("[image: not available]"), TextContent.from("look"));
        assertThat(tenants).contains("acme", "other");
    }

    @Test
    void a12_flush_writes_only_what_was_added() {
        NodeTokenBufferMemory memory = node();
        memory.flush();
        memory.getHistoryPromptMessages("m1", "acme");
        memory.flush();
        assertThat(watched.calls("append")).isZero();

        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.flush();
        memory.flush();
        assertThat(watched.calls("append")).isEqualTo(1);
    }

    @Test
    void a12_clear_empties_the_memory_at_once_and_stays_in_force() {
        turns("m1", null, "m2", "m1");
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m3", "m2", "waits", List.of(), "waits", List.of());
        memory.clear();
        memory.flush();

        assertThat(history("m3")).isEmpty();
        assertThat(node().getHistoryPromptMessages("m3", "m2", "acme", PLENTY, null))
                .isEmpty();
        assertThat(ids(NODE)).describedAs("kept").hasSize(4);

        turns("m3", "m2", "n1", null, "m4", "m3");
        assertThat(texts(leadingTo("m4"))).containsExactly("q m3", "r m3");
        assertThat(texts(node().getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null)))
                .describedAs("a parent that was cleared is as if it had never been there")
                .doesNotContain("q m1", "q m2");
        assertThat(texts(node().getHistoryPromptMessages("n2", "n1", "acme", PLENTY, null)))
                .containsExactly("q n1", "r n1");
    }

    @Test
    void a12_clearing_a_memory_that_was_never_written_does_nothing() {
        node().clear();
        assertThat(watched.calls("append")).isZero();
    }

    @Test
    void a12_a_failed_clear_changes_nothing() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
        watched.fail("append", new StorageUnavailableException("down", null));
        assertThatThrownBy(memory::clear).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        memory.flush();
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1", "q2", "r2");
    }

    @Test
    void a12_a_failed_flush_keeps_what_was_added() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
        watched.fail("append", new StorageUnavailableException("down", null));
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        assertThat(texts(memory.getHistoryPromptMessages("m3", "m2", "acme", PLENTY, null)))
                .containsExactly("q1", "r1", "q2", "r2");
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
    }

    private static void runsM2(NodeTokenBufferMemory memory) {
        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
    }

    @Test
    void a12_what_was_begun_before_an_erasure_is_refused_and_not_tried_again() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("m2", "acme");
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        memory.flush();
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    void a12_a_turn_that_an_erasure_refused_can_be_run_again() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        runsM2(memory);
        log.erase(NODE);
        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);

        runsM2(memory);
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m2#user", "m2");

        log.erase(NODE);
        runsM2(memory);
        memory.flush();
        assertThat(ids(NODE)).describedAs("written, erased, and run again").containsExactly("m2#user", "m2");
    }

    @Test
    void a12_a_turn_without_room_for_a_history_is_refused_after_an_erasure_too() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        assertThat(memory.getHistoryPromptMessages("m2", "m1", "acme", 0, null)).isEmpty();
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    void a12_a_message_that_is_run_again_after_a_clear_is_kept_and_brings_nothing_back() {
        turns("m1", null, "m2", "m1");
        node().clear();
        turns("m1", null);
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1");
        assertThat(leadingTo("m1")).isEmpty();

        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "other", List.of(), "other", List.of());
        memory.flush();
        turns("m4", "m1");
        assertThat(texts(node().getHistoryPromptMessages("m5", "m1", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "other", "other");
        assertThat(texts(history("m5"))).containsExactly("q m1", "r m1", "other", "other", "q m4", "r m4");
    }

    @Test
    void a12_a_turn_that_was_going_on_when_others_cleared_brings_nothing_back() {
        turns("m1", null, "m2", "m1", "m3", "m2");
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("x2", "m1", "acme", PLENTY, null);
        node().clear();
        memory.addMessages("x2", "m1", "late", List.of(), "late", List.of());
        memory.flush();

        assertThat(texts(history("m4"))).containsExactly("late", "late");
    }

    @Test
    void a12_a_turn_whose_answer_was_lost_is_not_written_again_behind_anothers() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        watched.loseAnswer("append");
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);
        NodeTokenBufferMemory other = node();
        other.addMessages("m1", null, "q2", List.of(), "r2", List.of());
        other.flush();

        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a13_storage_that_cannot_be_reached_is_an_error_and_never_an_empty_history() {
        turns("m1", null);
        watched.fail("read", new StorageUnavailableException("down", null));

        assertThatThrownBy(() -> history("m2")).isInstanceOf(StorageUnavailableException.class);
        assertThrown(StorageUnavailableException.class, () -> conversation().getHistoryPromptMessages());
    }

    @Test
    void a10_equal_iterations_are_iterations() {
        turns("m0", null);
        for (int i = 0; i < 5; i++) {
            turns("m1", "m0");
        }
        assertThat(ids(NODE)).hasSize(12).endsWith("m1#5#user", "m1#5");

        NodeTokenBufferMemory memory = node();
        for (int i = 0; i < 5; i++) {
            memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
            memory.flush();
        }
        assertThat(ids(NODE)).hasSize(22);
    }

    @Test
    void a10_equal_iterations_at_the_same_time_are_iterations() {
        turns("m0", null);
        List<NodeTokenBufferMemory> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            NodeTokenBufferMemory memory = node();
            memory.getHistoryPromptMessages("m1", "m0", "acme", PLENTY, null);
            memory.addMessages("m1", "m0", "q", List.of(), "r", List.of());
            runs.add(memory);
        }
        runs.forEach(NodeTokenBufferMemory::flush);
        assertThat(ids(NODE)).hasSize(12);
    }

    @Test
    void a10_random_loops_with_outages_store_each_run_once_and_see_the_runs_before() {
        Random random = new Random(11);
        for (int round = 0; round < rounds(); round++) {
            NodeKey key = NodeKey.of("acme", "app", "random" + round, "writer");
            Map<String, List<String>> stored = new HashMap<>();
            for (int run = 0; run < 12; run++) {
                String message = "m" + random.nextInt(2);
                List<String> before = stored.computeIfAbsent(message, m -> new ArrayList<>());
                boolean keyed = random.nextBoolean();
                List<String> keys =
                        before.stream().filter(name -> name.startsWith("key")).toList();
                boolean repeated = keyed && !keys.isEmpty() && random.nextInt(3) == 0;
                String name = repeated ? keys.get(random.nextInt(keys.size())) : (keyed ? "key" : "run") + run;
                NodeTurn turn = NodeTurn.of(message).under(null);
                turn = keyed ? turn.inRun(name) : turn;
                NodeTokenBufferMemory memory = memories.node(key);
                if (random.nextInt(4) > 0) {
                    int earlier = repeated ? before.indexOf(name) : before.size();
                    assertThat(texts(memory.getHistoryPromptMessages(turn, "acme", PLENTY, null)))
                            .describedAs("round %d, run %d of %s", round, run, message)
                            .hasSize(2 * earlier);
                }
                memory.addMessages(turn, "same", List.of(), List.of(ai("same")));
                flushInSpiteOf(random, memory);
                if (!repeated) {
                    before.add(name);
                }
            }
            List<String> ids = log.history(key, HistoryQuery.oldest(1000)).messages().stream()
                    .map(LoggedMessage::id)
                    .toList();
            assertThat(ids)
                    .hasSize(2 * stored.values().stream().mapToInt(List::size).sum());
        }
    }

    @Test
    void a10_a_turn_is_repeated_on_one_object_until_a_flush_has_succeeded() {
        AtomicInteger appends = new AtomicInteger();
        watched = new WatchedLog(log) {
            @Override
            protected void called(String method) {
                if (method.equals("append") && appends.incrementAndGet() == 2) {
                    throw new StorageUnavailableException("down", null);
                }
            }
        };
        memories = with(WorkflowMemories.builder());
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        // The first turn is stored although the flush fails.
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");

        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).hasSize(6);
    }

    @Test
    void a10_a_run_that_is_repeated_with_its_key_is_stored_once() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0");
        for (String run : List.of("run-1", "run-1", "run-2", "run-1", "run-3", "run-2")) {
            NodeTokenBufferMemory memory = node();
            int before = Integer.parseInt(run.substring(4));
            assertThat(memory.getHistoryPromptMessages(turn.inRun(run), "acme", PLENTY, null))
                    .describedAs("what %s saw the first time", run)
                    .hasSize(2 * before);
            memory.addMessages(turn.inRun(run), "q", List.of(), List.of(ai("r of " + run)));
            memory.flush();
        }
        assertThat(ids(NODE))
                .containsExactly("m0#user", "m0", "m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");

        NodeTokenBufferMemory repeated = node();
        repeated.addMessages(turn.inRun("run-2"), "q", List.of(), List.of(ai("another answer of the same run")));
        repeated.flush();
        assertThat(ids(NODE)).describedAs("the first answer stays").hasSize(8);
        assertThat(history("m2"))
                .allMatch(message -> !(message instanceof UserMessage user)
                        || user.attributes().isEmpty());
    }

    @Test
    void a10_a_run_that_is_repeated_at_the_same_time_is_stored_once() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0").inRun("run-1");
        List<NodeTokenBufferMemory> runs = List.of(node(), node(), node());
        for (NodeTokenBufferMemory memory : runs) {
            memory.getHistoryPromptMessages(turn, "acme", PLENTY, null);
            memory.addMessages(turn, "q", List.of(), List.of(ai("r" + runs.indexOf(memory))));
        }
        turns("m1", "m0");
        runs.forEach(NodeTokenBufferMemory::flush);
        assertThat(ids(NODE)).containsExactly("m0#user", "m0", "m1#user", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a12_a_turn_that_is_repeated_after_an_erasure_in_mid_turn_is_written_by_the_same_flush() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        runsM2(memory);
        log.erase(NODE);
        runsM2(memory);

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        assertThat(ids(NODE)).describedAs("the repeated turn").containsExactly("m2#user", "m2");
        memory.flush();
        assertThat(ids(NODE)).hasSize(2);
    }

    @Test
    void a11_ancestors_that_do_not_reach_the_beginning_do_not_end_the_search_for_a_turn() {
        turns("m1", null);
        // The conversation's oldest message that is left names a parent that is gone.
        log.append(
                CONVERSATION,
                Append.under(Parent.of("gone"), List.of(message("c5", ai("5")))).asImport());
        assertThat(texts(node().getHistoryPromptMessages("c6", "c5", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1");
        assertThat(texts(history("c5"))).containsExactly("q m1", "r m1");

        ConversationKey whole = ConversationKey.of("acme", "c2");
        NodeKey there = NodeKey.of("acme", "app", "c2", "writer");
        append(whole, null, message("c5", ai("5")));
        NodeTokenBufferMemory memory = memories.node(there);
        memory.addMessages("m1", null, "q m1", List.of(), "r m1", List.of());
        memory.flush();
        assertThat(memories.node(there).getHistoryPromptMessages("c6", "c5", "acme", PLENTY, null))
                .describedAs("ancestors that do reach it")
                .isEmpty();
    }

    @Test
    void a11_a_bridge_that_is_longer_than_a_page_leads_to_a_turn() {
        turns("m1", null);
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            batch.add(message("c" + i, ai("r")));
        }
        log.append(CONVERSATION, Append.under(Parent.root(), batch));
        assertThat(texts(node().getHistoryPromptMessages("new", "c500", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1");
    }
}
