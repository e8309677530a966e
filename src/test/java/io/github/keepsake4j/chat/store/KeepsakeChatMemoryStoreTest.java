package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.chat.views.CountingEstimator;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.CountedLog.Fault;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.view.ViewReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Cases of the store that a random sequence rarely produces: other writers in between, lost answers, erasures, size.
 */
class KeepsakeChatMemoryStoreTest {

    private final CountedLog counted = new CountedLog();
    private final MessageLog log = counted.around(new InMemoryMessageLog());
    private final CountingEstimator estimator =
            new CountingEstimator(JtokkitTokenCountEstimator.forModel("gpt-4o-mini"));
    private final Keepsake keepsake =
            Keepsake.builder().messageLog(log).tokenCountEstimator(estimator).build();
    private final KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
    private final KeepsakeChatMemoryStore other =
            Keepsake.builder().messageLog(log).build().chatMemoryStore();

    @Test
    void a_memory_that_was_never_written_is_empty_and_deleting_it_writes_nothing() {
        assertThat(store.getMessages("alice")).isEmpty();
        store.deleteMessages("alice");
        store.updateMessages("alice", List.of());
        assertThat(counted.messagesWritten + counted.viewsWritten).isZero();
        assertThat(history()).isEmpty();
    }

    @Test
    void a_long_conversation_that_nothing_was_set_for_is_opened_by_its_newest_messages() {
        MemoryKey key = ConversationKey.of("default", "alice");
        List<NewMessage> batch = new ArrayList<>(List.of(NewMessage.of(SystemMessage.from("rules"), 1, "test")));
        for (int i = 0; i < ViewReader.MOST_UNSET; i++) {
            batch.add(NewMessage.of(user("q" + i), 1, "test"));
            batch.add(NewMessage.of(ai("a" + i), 1, "test"));
        }
        // The newest messages begin with an answer.
        batch.add(NewMessage.of(user("last"), 1, "test"));
        log.append(key, Append.under(Parent.head(), batch));

        List<ChatMessage> messages = store.getMessages("alice");
        assertThat(messages).hasSize(ViewReader.MOST_UNSET);
        assertThat(messages.get(0)).isEqualTo(SystemMessage.from("rules"));
        assertThat(messages.get(1)).isInstanceOf(UserMessage.class);
        assertThat(messages.get(messages.size() - 1)).isEqualTo(user("last"));
        assertThat(other.getMessages("alice")).isEqualTo(messages);

        List<ChatMessage> window = new ArrayList<>(messages.subList(messages.size() - 3, messages.size()));
        window.add(0, messages.get(0));
        window.add(ai("next"));
        store.updateMessages("alice", window);
        assertThat(store.getMessages("alice")).isEqualTo(window);
        assertThat(other.getMessages("alice")).isEqualTo(window);
        assertThat(Logs.details(log, key).info().messages()).isEqualTo(batch.size() + 1);
    }

    @Test
    void a_message_that_was_dropped_after_a_lost_answer_does_not_come_back() {
        store.updateMessages("alice", List.of(user("a")));
        List<ChatMessage> list = store.getMessages("alice");
        list.add(user("b"));
        counted.nextAppend = Fault.AFTER;
        assertThatThrownBy(() -> store.updateMessages("alice", list)).isInstanceOf(StorageUnavailableException.class);
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(List.of(user("a"), user("b")));

        list.set(1, user("c"));
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(List.of(user("a"), user("c")));
    }

    @Test
    void a_turn_that_is_larger_than_what_is_read_begins_with_its_question_and_a_round() {
        MemoryKey key = ConversationKey.of("default", "alice");
        int tokens = ViewReader.MOST_UNSET_TOKENS / 100;
        List<NewMessage> turn = new ArrayList<>(List.of(
                NewMessage.of(SystemMessage.from("rules"), tokens, "test"), NewMessage.of(user("q"), tokens, "test")));
        for (int i = 0; i < 120; i++) {
            ToolExecutionRequest call =
                    ToolExecutionRequest.builder().id("c" + i).name("tool").build();
            turn.add(NewMessage.of(AiMessage.from(call), tokens, "test"));
            turn.add(NewMessage.of(ToolExecutionResultMessage.from(call, "r" + i), tokens, "test"));
        }
        log.append(key, Append.under(Parent.head(), turn));
        // The newest messages within the tokens begin with a result.
        log.append(key, Append.under(Parent.head(), List.of(NewMessage.of(ai("done"), tokens, "test"))));

        List<ChatMessage> messages = store.getMessages("alice");
        assertThat(messages)
                .hasSize(2 + 99)
                .startsWith(SystemMessage.from("rules"), user("q"))
                .endsWith(ai("done"));
        assertThat(((AiMessage) messages.get(2)).toolExecutionRequests()).hasSize(1);
        assertThat(other.getMessages("alice")).isEqualTo(messages);
    }

    @Test
    void a_list_that_is_longer_than_what_is_read_of_an_unset_one_is_what_was_set() {
        List<ChatMessage> set = new ArrayList<>();
        for (int i = 0; i < ViewReader.MOST_UNSET / 2 + 1_000; i++) {
            set.add(user("q" + i));
            set.add(ai("a" + i));
        }
        store.updateMessages("alice", set);
        assertThat(other.getMessages("alice")).isEqualTo(set);

        List<ChatMessage> decoded =
                new ArrayList<>(ChatMessageDeserializer.messagesFromJson(ChatMessageSerializer.messagesToJson(set)));
        decoded.add(user("next"));
        other.updateMessages("alice", decoded);
        assertThat(store.getMessages("alice")).isEqualTo(decoded);
        assertThat(Logs.details(log, ConversationKey.of("default", "alice"))
                        .info()
                        .messages())
                .isEqualTo(decoded.size());
    }

    @Test
    void a_long_branch_that_is_set_as_it_is_is_what_was_set() {
        MemoryKey key = ConversationKey.of("default", "alice");
        int tokens = ViewReader.MOST_UNSET_TOKENS / 100;
        List<NewMessage> branch = new ArrayList<>();
        List<ChatMessage> set = new ArrayList<>();
        for (int i = 0; i < 101; i++) {
            branch.add(NewMessage.of(user("q" + i), tokens, "test"));
            set.add(user("q" + i));
        }
        log.append(key, Append.under(Parent.head(), branch));
        assertThat(store.getMessages("alice")).hasSize(100);

        store.updateMessages("alice", set);
        assertThat(history()).hasSize(101);
        assertThat(store.getMessages("alice")).isEqualTo(set);
        assertThat(other.getMessages("alice")).isEqualTo(set);
    }

    @Test
    void what_is_read_of_an_unset_conversation_does_not_grow_from_read_to_read() {
        MemoryKey key = ConversationKey.of("default", "alice");
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i < ViewReader.MOST_UNSET + 1_000; i++) {
            batch.add(NewMessage.of(user("q" + i), 1, "test"));
        }
        log.append(key, Append.under(Parent.head(), batch));
        for (int i = 0; i < 4; i++) {
            assertThat(store.getMessages("alice")).hasSize(ViewReader.MOST_UNSET);
            log.append(key, Append.under(Parent.head(), List.of(NewMessage.of(user("more" + i), 1, "test"))));
        }
    }

    @Test
    void the_list_is_fresh_and_mutable() {
        store.updateMessages("alice", List.of(user("1")));
        store.getMessages("alice").clear();
        assertThat(store.getMessages("alice")).containsExactly(user("1"));
    }

    @Test
    void a_chat_memory_and_its_store_show_the_same() {
        keepsake.chatMemory("alice").add(List.of(user("1"), ai("2")));
        assertThat(store.getMessages("alice")).containsExactly(user("1"), ai("2"));
        keepsake.chatMemory("alice").clear();
        assertThat(store.getMessages("alice")).isEmpty();
        store.updateMessages("alice", List.of(user("3")));
        assertThat(keepsake.chatMemory("alice").messages()).containsExactly(user("3"));
    }

    @Test
    void no_id_is_refused_with_the_fix_for_a_builder() {
        MessageWindowChatMemory memory = MessageWindowChatMemory.builder()
                .maxMessages(10)
                .chatMemoryStore(store)
                .build();
        assertThrown(
                InvalidInputException.class, () -> memory.add(user("1")), ".id(memoryId)", "acceptDefaultMemoryId()");
    }

    @Test
    void a_list_that_drops_the_end_and_goes_on_is_a_branch() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        store.updateMessages("alice", List.of(user("1"), ai("other")));
        assertThat(keepsake.conversation("alice").branches()).hasSize(2);
        assertThat(store.getMessages("alice")).containsExactly(user("1"), ai("other"));
    }

    @Test
    void a_deleted_list_that_is_set_again_by_its_instances_is_linked_and_equal_ones_are_new() {
        store.updateMessages("alice", List.of(user("1"), ai("2"), user("3")));
        List<ChatMessage> given = store.getMessages("alice");
        store.deleteMessages("alice");
        counted.reset();
        store.updateMessages("alice", given.subList(0, 1));
        store.updateMessages("alice", given.subList(0, 2));
        assertThat(counted.messagesWritten).isZero();
        assertThat(other.getMessages("alice")).containsExactly(user("1"), ai("2"));
        store.deleteMessages("alice");
        other.updateMessages("alice", List.of(user("1")));
        assertThat(counted.messagesWritten).isOne();
        assertThat(history()).containsExactly(user("1"), ai("2"), user("3"), user("1"));
    }

    @Test
    void a_message_removed_from_the_middle_is_the_only_one_that_goes() {
        store.updateMessages("alice", List.of(user("1"), ai("2"), user("3"), ai("4")));
        List<ChatMessage> before = store.getMessages("alice");
        store.deleteMessages("alice");
        counted.reset();
        List<ChatMessage> growing = new ArrayList<>();
        for (int i : new int[] {0, 2, 3}) {
            growing = new ArrayList<>(store.getMessages("alice"));
            growing.add(before.get(i));
            store.updateMessages("alice", growing);
        }
        assertThat(counted.messagesWritten).isZero();
        assertThat(store.getMessages("alice")).containsExactly(user("1"), user("3"), ai("4"));
    }

    @Test
    void a_cleared_list_that_is_set_in_another_order_can_no_longer_be_linked_to() {
        store.updateMessages("alice", List.of(user("1"), ai("2"), user("3"), ai("4")));
        List<ChatMessage> before = store.getMessages("alice");
        store.deleteMessages("alice");
        store.updateMessages("alice", List.of(before.get(0), before.get(2), before.get(1), before.get(3)));
        List<ChatMessage> longer = store.getMessages("alice");
        longer.add(ai("4"));
        store.updateMessages("alice", longer);

        assertThat(store.getMessages("alice")).isEqualTo(longer);
        assertThat(history())
                .as("the same answer twice is stored twice")
                .containsExactly(user("1"), ai("2"), user("3"), ai("4"), ai("4"));
    }

    @Test
    void deleting_again_after_a_lost_answer_still_links() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        List<ChatMessage> given = store.getMessages("alice");
        counted.nextAppend = Fault.AFTER;
        assertThatThrownBy(() -> store.deleteMessages("alice")).isInstanceOf(StorageUnavailableException.class);
        store.deleteMessages("alice");
        store.updateMessages("alice", given);
        assertThat(history()).hasSize(2);
    }

    @Test
    void what_was_appended_by_others_after_clearing_ends_the_linking() {
        store.updateMessages("alice", List.of(user("1")));
        store.deleteMessages("alice");
        keepsake.chatMemory("alice").add(user("other"));
        store.updateMessages("alice", List.of(user("1")));
        assertThat(store.getMessages("alice")).containsExactly(user("1"));
        assertThat(history()).containsExactly(user("1"), user("other"), user("1"));
    }

    @Test
    void an_update_after_another_writer_is_compared_again() {
        store.updateMessages("alice", List.of(user("1")));
        List<ChatMessage> list = store.getMessages("alice");
        list.add(user("mine"));
        counted.meanwhile = () -> other.updateMessages("alice", List.of(user("1"), user("theirs")));
        int before = estimator.calls();
        store.updateMessages("alice", list);
        assertThat(estimator.calls() - before).as("counted").isOne();
        assertThat(store.getMessages("alice")).containsExactly(user("1"), user("mine"), user("theirs"));
        assertThat(history()).containsExactly(user("1"), user("theirs"), user("mine"));
    }

    @Test
    void an_update_behind_a_view_that_another_writer_set_meanwhile_shows_its_list() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        List<ChatMessage> list = store.getMessages("alice");
        list.add(user("3"));
        counted.meanwhile = () -> other.updateMessages("alice", List.of(ai("2")));
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(list);
        assertThat(history()).hasSize(3);
    }

    @Test
    void an_equal_list_wins_over_what_another_writer_set_meanwhile() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        List<ChatMessage> list = store.getMessages("alice");
        other.updateMessages("alice", List.of(ai("2")));
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(list);
        counted.reset();
        store.updateMessages("alice", store.getMessages("alice"));
        assertThat(counted.messagesWritten + counted.viewsWritten).isZero();
    }

    @Test
    void a_list_that_is_set_again_after_a_lost_answer_is_stored_once() {
        store.updateMessages("alice", List.of(user("1")));
        for (Fault fault : List.of(Fault.BEFORE, Fault.AFTER)) {
            List<ChatMessage> list = store.getMessages("alice");
            list.add(user("retried " + fault));
            counted.nextAppend = fault;
            assertThrown(StorageUnavailableException.class, () -> store.updateMessages("alice", list));
            store.updateMessages("alice", list);
            assertThat(store.getMessages("alice")).isEqualTo(list);
        }
        assertThat(history()).containsExactly(user("1"), user("retried BEFORE"), user("retried AFTER"));
    }

    @Test
    void a_lost_answer_and_another_writers_list_before_the_retry() {
        List<ChatMessage> list = List.of(user("1"), user("mine"));
        counted.nextAppend = Fault.AFTER;
        assertThatThrownBy(() -> store.updateMessages("alice", list)).isInstanceOf(StorageUnavailableException.class);
        other.updateMessages("alice", List.of(user("theirs")));
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(list);
        assertThat(history()).containsExactly(user("1"), user("mine"), user("theirs"));
    }

    @Test
    void a_stock_memory_that_adds_again_after_a_lost_answer_stores_once() {
        MessageWindowChatMemory memory = Dialogue.window("alice", 10, store);
        memory.add(user("1"));
        UserMessage message = user("retried");
        counted.nextAppend = Fault.AFTER;
        assertThatThrownBy(() -> memory.add(message)).isInstanceOf(StorageUnavailableException.class);
        memory.add(message);
        assertThat(history()).containsExactly(user("1"), user("retried"));
        // LangChain4j read the message that had arrived and added it once more. It is one message.
        assertThat(memory.messages()).containsExactly(user("1"), user("retried"));
        memory.add(ai("2"));
        assertThat(memory.messages()).containsExactly(user("1"), user("retried"), ai("2"));
        assertThat(history()).hasSize(3);
    }

    @Test
    void an_update_that_began_before_an_erasure_is_refused_and_the_next_turn_starts_afresh() {
        store.updateMessages("alice", List.of(user("secret")));
        List<ChatMessage> list = store.getMessages("alice");
        keepsake.conversation("alice").erase();
        list.add(ai("2"));
        assertThatThrownBy(() -> store.updateMessages("alice", list)).isInstanceOf(ErasedException.class);
        assertThat(store.getMessages("alice")).isEmpty();
        store.updateMessages("alice", List.of(user("fresh")));
        assertThat(history()).containsExactly(user("fresh"));
    }

    @Test
    void messages_read_before_an_erasure_do_not_come_back_though_another_caller_has_read_since() {
        store.updateMessages("alice", List.of(user("secret")));
        List<ChatMessage> list = store.getMessages("alice");
        keepsake.conversation("alice").erase();
        store.getMessages("alice");
        list.add(ai("2"));
        assertThatThrownBy(() -> store.updateMessages("alice", list)).isInstanceOf(ErasedException.class);
        assertThat(history()).isEmpty();
    }

    @Test
    void a_message_that_was_changed_in_place_is_a_new_one() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        List<ChatMessage> list = store.getMessages("alice");
        ((UserMessage) list.get(0)).attributes().put("seen", true);
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).isEqualTo(list);
        assertThat(history()).hasSize(3).contains(user("1"));
    }

    @Test
    void the_same_object_twice_in_a_list() {
        UserMessage message = user("1");
        store.updateMessages("alice", List.of(message, message));
        assertThat(store.getMessages("alice")).containsExactly(message, message);
        assertThat(history()).hasSize(2);
    }

    @Test
    void a_window_over_a_long_history_reads_little() {
        MemoryKey key = ConversationKey.of("default", "alice");
        int size = 20_000;
        List<NewMessage> batch = new ArrayList<>();
        batch.add(NewMessage.of(SystemMessage.from("Be brief"), 1, "none"));
        for (int i = 0; i < size; i++) {
            batch.add(NewMessage.of(user("" + i), 1, "none"));
        }
        log.append(key, Append.under(Parent.head(), batch));
        String head = log.read(key, ReadQuery.newest(0)).head();
        log.append(
                key,
                Append.viewOnly(View.of(
                        null,
                        List.of(
                                new View.Run(null, batch.get(0).id()),
                                new View.Run(batch.get(size - 19).id(), head)))));
        MessageWindowChatMemory memory = window();
        counted.reset();
        int counts = estimator.calls();
        memory.add(user("cold"));
        assertThat(counted.messagesRead).as("rows of a cold read").isLessThanOrEqualTo(40);
        for (int i = 0; i < 5; i++) {
            counted.reset();
            memory.add(user("next " + i));
            assertThat(counted.calls).as("get and update").isEqualTo(2);
            assertThat(counted.messagesRead).isLessThanOrEqualTo(40);
            assertThat(counted.messagesWritten).isOne();
            assertThat(counted.viewsWritten).isOne();
        }
        assertThat(estimator.calls() - counts).isEqualTo(6);
        assertThat(memory.messages()).hasSize(20).startsWith(SystemMessage.from("Be brief"));
        View view = log.read(key, ReadQuery.newest(0)).view();
        assertThat(view.runs()).hasSize(2);
    }

    @Test
    void a_turn_of_a_stock_window_reads_no_message_that_this_process_knows() {
        MessageWindowChatMemory memory = window();
        for (int i = 0; i < 30; i++) {
            memory.add(user("" + i));
        }
        for (int turn = 0; turn < 5; turn++) {
            counted.reset();
            assertThat(memory.messages()).hasSize(20);
            memory.add(user("question " + turn));
            memory.add(ai("answer " + turn));
            assertThat(counted.calls).as("three positions and two appends").isEqualTo(5);
            assertThat(counted.messagesRead).isZero();
        }
        assertThat(other.getMessages("alice")).isEqualTo(memory.messages());
    }

    @Test
    void a_list_that_another_writer_changed_is_read_anew() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        keepsake.chatMemory("alice").add(user("3"));
        assertThat(store.getMessages("alice")).containsExactly(user("1"), ai("2"), user("3"));
        other.updateMessages("alice", List.of(ai("2")));
        assertThat(store.getMessages("alice")).containsExactly(ai("2"));
        keepsake.conversation("alice")
                .switchTo(keepsake.conversation("alice")
                        .branch(9)
                        .messages()
                        .get(0)
                        .id());
        assertThat(store.getMessages("alice")).isEqualTo(other.getMessages("alice"));
        other.deleteMessages("alice");
        assertThat(store.getMessages("alice")).isEmpty();
        keepsake.conversation("alice").erase();
        assertThat(store.getMessages("alice")).isEmpty();
    }

    @Test
    void a_list_that_was_set_while_another_writer_set_one_is_read_anew() {
        store.updateMessages("alice", List.of(user("1"), ai("2")));
        List<ChatMessage> list = store.getMessages("alice");
        list.add(user("mine"));
        counted.meanwhile = () -> keepsake.chatMemory("alice").add(user("theirs"));
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).containsExactly(user("1"), ai("2"), user("mine"), user("theirs"));
    }

    @Test
    void two_callers_that_read_the_same_list_keep_what_the_other_one_adds() {
        store.updateMessages("alice", List.of(user("1")));
        List<ChatMessage> first = store.getMessages("alice");
        List<ChatMessage> second = store.getMessages("alice");
        first.add(user("of the first"));
        store.updateMessages("alice", first);
        store.getMessages("alice");
        second.add(user("of the second"));
        store.updateMessages("alice", second);
        assertThat(store.getMessages("alice")).containsExactly(user("1"), user("of the second"), user("of the first"));
    }

    @Test
    void an_instance_that_a_caller_set_or_received_is_not_returned_to_another_one() {
        UserMessage yes = user("yes");
        store.updateMessages("alice", List.of(yes));
        ChatMessage received = store.getMessages("alice").get(0);
        assertThat(received).isEqualTo(yes).isNotSameAs(yes);
        ((UserMessage) received).attributes().put("seen", true);
        yes.attributes().put("seen", true);
        assertThat(store.getMessages("alice")).containsExactly(user("yes"));
        List<ChatMessage> list = store.getMessages("alice");
        UserMessage constant = user("yes");
        list.add(constant);
        store.updateMessages("alice", list);
        list = store.getMessages("alice");
        list.add(constant);
        store.updateMessages("alice", list);
        assertThat(store.getMessages("alice")).containsExactly(user("yes"), user("yes"), user("yes"));
        assertThat(history()).hasSize(3);
    }

    @Test
    void a_list_of_what_a_strategy_selected_is_read_anew() {
        Keepsake narrow = Keepsakes.on(log, SlidingWindow.withMaxMessages(2));
        narrow.chatMemory("alice").add(List.of(user("1"), ai("2"), user("3"), ai("4")));
        List<ChatMessage> selected = narrow.chatMemory("alice").messages();
        assertThat(selected).containsExactly(user("3"), ai("4"));
        for (ChatMessage more : List.of(user("5"), ai("6"))) {
            selected.add(more);
            narrow.chatMemoryStore().updateMessages("alice", selected);
            assertThat(narrow.chatMemoryStore().getMessages("alice")).isEqualTo(other.getMessages("alice"));
        }
    }

    @Test
    void a_long_history_that_no_view_cuts_is_read_whole() {
        List<ChatMessage> list = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            list.add(user("" + i));
        }
        keepsake.chatMemory("alice").add(list);
        counted.reset();
        assertThat(store.getMessages("alice")).isEqualTo(list);
        assertThat(counted.messagesRead).isEqualTo(500);
        store.updateMessages("alice", list.subList(100, 500));
        assertThat(other.getMessages("alice")).isEqualTo(list.subList(100, 500));
        list.add(ai("end"));
        store.updateMessages("alice", list.subList(100, 501));
        assertThat(other.getMessages("alice")).isEqualTo(list.subList(100, 501));
        assertThat(history()).isEqualTo(list);
    }

    private MessageWindowChatMemory window() {
        return Dialogue.window("alice", 20, store);
    }

    private List<ChatMessage> history() {
        return Dialogue.history(keepsake.conversation("alice"));
    }
}
