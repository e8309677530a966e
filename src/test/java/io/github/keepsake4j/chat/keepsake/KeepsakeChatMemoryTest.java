package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.testing.Dialogue;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The messages that the chat memory shows and the log holds, for everything that LangChain4j does with a memory. */
class KeepsakeChatMemoryTest {

    private static final SystemMessage SYSTEM = SystemMessage.from("Be brief");

    @TempDir
    Path directory;

    private MessageLog log;
    private Keepsake keepsake;
    private KeepsakeChatMemory memory;

    @BeforeEach
    void open() {
        log = SqliteMessageLog.open(directory.resolve("chat.db"));
        use(SlidingWindow.withMaxMessages(100));
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void what_is_added_is_shown_and_kept() {
        memory.add(user("1"), ai("2"));

        assertThat(memory.messages()).containsExactly(user("1"), ai("2"));
        assertThat(history()).containsExactly(user("1"), ai("2"));
        assertThat(memory.id()).isEqualTo("alice");
    }

    @Test
    void an_equal_message_is_always_a_new_one() {
        memory.add(user("ok"), ai("ok"), user("ok"), ai("ok"));

        assertThat(history()).hasSize(4);
        assertThat(memory.messages()).hasSize(4);
    }

    @Test
    void messages_are_a_fresh_mutable_list() {
        memory.add(user("1"), ai("2"));
        memory.messages().clear();

        assertThat(memory.messages()).hasSize(2);
    }

    @Test
    void a_window_slides_and_the_log_keeps_all() {
        use(SlidingWindow.withMaxMessages(4));
        for (int i = 0; i < 10; i++) {
            memory.add(user("u" + i), ai("a" + i));
        }

        assertThat(memory.messages()).containsExactly(user("u8"), ai("a8"), user("u9"), ai("a9"));
        assertThat(history()).hasSize(20);
    }

    @Test
    void an_equal_system_message_is_written_once_and_a_changed_one_replaces_it_in_front() {
        for (int turn = 0; turn < 3; turn++) {
            memory.add(SYSTEM);
            memory.messages();
            memory.add(user("u" + turn), ai("a" + turn));
        }
        memory.add(SystemMessage.from("Be long"));

        assertThat(memory.messages())
                .startsWith(SystemMessage.from("Be long"), user("u0"))
                .hasSize(7);
        assertThat(history().stream().filter(SystemMessage.class::isInstance))
                .containsExactly(SYSTEM, SystemMessage.from("Be long"));
    }

    @Test
    void a_system_message_without_a_read_goes_with_the_next_message() {
        memory.add(SYSTEM);
        memory.add(user("1"));

        assertThat(history()).containsExactly(SYSTEM, user("1"));
    }

    @Test
    void tool_results_wait_for_the_last_one() {
        memory.add(user("1"), calls("a", "b"));
        memory.add(result("a"));
        assertThat(history()).hasSize(2);

        memory.add(result("b"));

        assertThat(history()).containsExactly(user("1"), calls("a", "b"), result("a"), result("b"));
        assertThat(memory.messages()).hasSize(4);
    }

    @Test
    void a_result_that_no_call_waits_for_is_written_at_once() {
        memory.add(user("1"), ai("2"));
        memory.add(result("a"));

        assertThat(history()).hasSize(3);
    }

    @Test
    void results_that_waited_are_not_lost_when_the_turn_goes_another_way() {
        memory.add(user("1"), calls("a", "b"));
        memory.add(result("a"));
        memory.add(user("2"));

        assertThat(history()).containsExactly(user("1"), calls("a", "b"), result("a"), user("2"));
        assertThat(memory.messages()).containsExactly(user("1"), user("2"));
    }

    @Test
    void set_with_a_message_replaced_appends_that_one_and_shows_the_list() {
        memory.add(user("1"), calls("a"), result("a"), calls("b"));
        // LangChain4j's compensation of tool errors does this: the newest calls have no results yet.
        List<ChatMessage> list = memory.messages();
        ToolExecutionResultMessage rolledBack = ToolExecutionResultMessage.from("a", "tool", "rolled back");
        list.set(2, rolledBack);

        memory.set(list);
        memory.add(result("b"));

        assertThat(memory.messages()).containsExactly(user("1"), calls("a"), rolledBack, calls("b"), result("b"));
        assertThat(history())
                .containsExactlyInAnyOrder(user("1"), calls("a"), result("a"), calls("b"), rolledBack, result("b"));
    }

    @Test
    void set_with_what_is_shown_changes_nothing() {
        memory.add(user("1"), ai("2"));

        memory.set(memory.messages());

        assertThat(history()).hasSize(2);
        assertThat(keepsake.conversation("alice").branch(0).view()).isNull();
    }

    @Test
    void set_with_a_beginning_and_something_new_forks() {
        memory.add(user("1"), ai("2"), user("3"), ai("4"));
        List<ChatMessage> list = memory.messages().subList(0, 3);
        list.add(ai("other"));

        memory.set(list);

        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("3"), ai("other"));
        assertThat(history()).hasSize(5);
        assertThat(keepsake.conversation("alice").branches())
                .extracting(Branch::length)
                .containsExactly(4L, 4L);
    }

    @Test
    void set_with_everything_new_hides_the_old_and_keeps_it() {
        memory.add(user("1"), ai("2"));

        memory.set(user("compacted"), ai("ok"));
        memory.add(user("3"));

        assertThat(memory.messages()).containsExactly(user("compacted"), ai("ok"), user("3"));
        assertThat(history()).hasSize(5);
        assertThat(keepsake.conversation("alice").branches()).hasSize(1);
    }

    @Test
    void set_of_a_part_survives_a_new_instance_and_further_turns() {
        memory.add(SYSTEM);
        memory.messages();
        memory.add(user("1"), ai("2"), user("3"), ai("4"), user("5"), ai("6"));
        List<ChatMessage> list = memory.messages();
        memory.set(List.of(list.get(0), list.get(1), list.get(2), list.get(5), list.get(6)));

        fresh();
        memory.add(user("7"), ai("8"));

        assertThat(memory.messages())
                .containsExactly(SYSTEM, user("1"), ai("2"), user("5"), ai("6"), user("7"), ai("8"));
        assertThat(history()).hasSize(9).doesNotHaveDuplicates();
    }

    @Test
    void set_keeps_what_others_added_since_the_read() {
        memory.add(user("1"), ai("2"), user("3"), ai("4"));
        List<ChatMessage> list = memory.messages();
        keepsake.chatMemory("alice").add(user("other's"), ai("other's answer"));
        list.remove(ai("4"));
        list.add(1, ai("new"));

        memory.set(list);

        assertThat(memory.messages())
                .containsExactly(user("1"), ai("new"), ai("2"), user("3"), user("other's"), ai("other's answer"));
        assertThat(history()).hasSize(7);
    }

    @Test
    void set_refuses_an_empty_list() {
        assertThrown(InvalidInputException.class, () -> memory.set(List.of()), "conversation/default/alice");
    }

    @Test
    void clear_hides_and_keeps() {
        memory.add(SYSTEM);
        memory.messages();
        memory.add(user("1"), ai("2"));

        memory.clear();

        assertThat(memory.messages()).isEmpty();
        fresh();
        assertThat(memory.messages()).isEmpty();
        assertThat(history()).containsExactly(SYSTEM, user("1"), ai("2"));
        memory.add(user("new"));
        assertThat(memory.messages()).containsExactly(user("new"));
        assertThat(history()).hasSize(4);
    }

    @Test
    void clear_of_an_empty_memory_is_fine() {
        memory.clear();

        assertThat(memory.messages()).isEmpty();
        assertThat(history()).isEmpty();
    }

    /** As LangChain4j's output guardrails do. */
    private void removeNewest() {
        List<ChatMessage> list = memory.messages();
        list.remove(list.size() - 1);
        memory.clear();
        list.forEach(memory::add);
    }

    @Test
    void guardrail_removal_links_to_the_old_messages() {
        memory.add(SYSTEM);
        memory.messages();
        memory.add(user("1"), ai("2"), user("3"), ai("rejected"));

        removeNewest();

        assertThat(memory.messages()).containsExactly(SYSTEM, user("1"), ai("2"), user("3"));
        assertThat(history()).containsExactly(SYSTEM, user("1"), ai("2"), user("3"), ai("rejected"));
        memory.add(user("5"), ai("6"));
        fresh();
        assertThat(memory.messages()).containsExactly(SYSTEM, user("1"), ai("2"), user("3"), user("5"), ai("6"));
        assertThat(history()).hasSize(7).doesNotHaveDuplicates();
    }

    @Test
    void instances_that_are_added_again_are_linked_until_the_first_that_is_none_of_them() {
        memory.add(user("1"), ai("2"), user("3"), ai("4"));
        List<ChatMessage> given = memory.messages();

        memory.clear();
        memory.add(given.get(0));
        memory.add(given.get(1));
        memory.add(user("different"));
        memory.add(given.get(3));

        assertThat(memory.messages()).containsExactly(user("1"), ai("2"), user("different"), ai("4"));
        assertThat(history()).containsExactly(user("1"), ai("2"), user("3"), ai("4"), user("different"), ai("4"));
    }

    @Test
    void removal_works_behind_a_window_too() {
        use(SlidingWindow.withMaxMessages(5));
        memory.add(SYSTEM);
        memory.messages();
        for (int i = 0; i < 10; i++) {
            memory.add(user("u" + i), ai("a" + i));
        }
        removeNewest();

        assertThat(memory.messages()).containsExactly(SYSTEM, user("u8"), ai("a8"), user("u9"));
        assertThat(history()).hasSize(21).doesNotHaveDuplicates();
    }

    @Test
    void a_turn_that_runs_and_does_not_fit_is_an_error_and_a_closed_one_leaves() {
        use(SlidingWindow.withMaxMessages(1));
        memory.add(SYSTEM);
        memory.add(user("1"));

        assertThrown(ContextOverflowException.class, memory::messages, "conversation/default/alice");
        assertThat(keepsake.conversation("alice").messages()).containsExactly(SYSTEM);
        memory.add(ai("2"));
        assertThat(memory.messages()).containsExactly(SYSTEM);
    }

    @Test
    void a_long_tool_loop_keeps_its_user_message() {
        use(SlidingWindow.withMaxMessages(5));
        memory.add(user("go"));
        for (int i = 0; i < 50; i++) {
            memory.add(calls("c" + i));
            memory.add(result("c" + i));
            assertThat(memory.messages()).startsWith(user("go")).endsWith(calls("c" + i), result("c" + i));
        }
        assertThat(memory.messages()).hasSize(5);
        fresh();
        assertThat(memory.messages()).startsWith(user("go")).hasSize(5);
    }

    @Test
    void what_belongs_to_an_erased_memory_is_refused_and_the_next_turn_starts_afresh() {
        memory.add(user("1"), ai("2"));
        memory.messages();
        keepsake.conversation("alice").erase();

        assertThatThrownBy(() -> memory.add(user("3"))).isInstanceOf(ErasedException.class);
        assertThat(memory.messages()).isEmpty();
        memory.add(user("4"));
        assertThat(history()).containsExactly(user("4"));
    }

    @Test
    void a_user_strategy_is_a_lambda() {
        ContextStrategy nothing = context -> context.keepTurns(turn -> false);
        use(nothing);
        memory.add(user("1"), ai("2"));

        assertThat(memory.messages()).isEmpty();
        assertThat(history()).hasSize(2);
    }

    private void use(ContextStrategy strategy) {
        keepsake = Keepsake.builder().messageLog(log).strategy(strategy).build();
        fresh();
    }

    private void fresh() {
        memory = keepsake.chatMemory("alice");
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("alice"));
    }
}
