package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.WatchedLog;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Conversations of another store are taken in once, and what an old instance adds later too. */
class ImportingLogTest {

    private static final ConversationKey KEY = ConversationKey.of("default", "c");
    private static final List<ChatMessage> OLD = List.of(user("q1"), ai("a1"), user("q2"), ai("a2"));

    /** A store that an import must not change. */
    private static final class OldStore implements ChatMemoryStore {

        private final InMemoryChatMemoryStore store = new InMemoryChatMemoryStore();
        private RuntimeException failure;
        private int reads;

        @Override
        public List<ChatMessage> getMessages(Object memoryId) {
            reads++;
            if (failure != null) {
                throw failure;
            }
            return store.getMessages(memoryId);
        }

        @Override
        public void updateMessages(Object memoryId, List<ChatMessage> messages) {
            throw new AssertionError("the old store was written to");
        }

        @Override
        public void deleteMessages(Object memoryId) {
            throw new AssertionError("the old store was deleted from");
        }
    }

    private final MessageLog log = new InMemoryMessageLog();
    private final OldStore old = new OldStore();

    private Keepsake keepsake() {
        return Keepsake.builder().messageLog(log).importFrom(old).build();
    }

    private void old(List<ChatMessage> messages) {
        old.store.updateMessages("c", new ArrayList<>(messages));
    }

    private static List<ChatMessage> and(List<ChatMessage> messages, ChatMessage... more) {
        List<ChatMessage> all = new ArrayList<>(messages);
        all.addAll(List.of(more));
        return all;
    }

    private List<ChatMessage> history() {
        return log.history(KEY, HistoryQuery.oldest(10_000)).messages().stream()
                .map(LoggedMessage::message)
                .toList();
    }

    @Test
    void all_conversations_are_imported_at_once_by_their_ids() {
        old(OLD);
        assertThat(keepsake().conversation("c").importNow()).isEqualTo(4);
        assertThat(log.history(KEY, HistoryQuery.oldest(10)).messages()).hasSize(4);
        assertThat(keepsake().conversation("none").importNow()).isZero();
    }

    @Test
    void e2_memories_store_and_conversations_show_the_old_list() {
        old(OLD);
        assertThat(keepsake().chatMemory("c").messages()).isEqualTo(OLD);
        assertThat(keepsake().chatMemoryStore().getMessages("c")).isEqualTo(OLD);
        assertThat(keepsake().conversation("c").messages()).isEqualTo(OLD);
        assertThat(history()).isEqualTo(OLD);
    }

    @Test
    void e2_each_first_use_takes_the_list_in() {
        old(OLD);
        keepsake().chatMemory("c").add(user("q3"));
        assertThat(history()).isEqualTo(and(OLD, user("q3")));
        keepsake().chatMemoryStore().updateMessages("c", and(OLD, user("q3"), ai("a3")));
        assertThat(history()).isEqualTo(and(OLD, user("q3"), ai("a3")));
    }

    @Test
    void e2_a_settled_conversation_is_only_looked_at() {
        old(OLD);
        Keepsake keepsake = keepsake();
        keepsake.chatMemory("c").messages();
        keepsake.chatMemory("c").add(user("q3"));
        keepsake.chatMemory("c").add(ai("a3"));
        keepsake.chatMemory("c").messages();
        keepsake.chatMemory("c").add(user("q4"));
        assertThat(old.reads).isEqualTo(2);
        assertThat(history()).hasSize(7).doesNotHaveDuplicates();
    }

    @Test
    void e2_what_an_old_instance_adds_is_taken_in_behind_what_was_said_since() {
        old(OLD);
        Keepsake keepsake = keepsake();
        keepsake.chatMemory("c").messages();
        keepsake.chatMemory("c").add(user("new"));
        keepsake.chatMemory("c").add(ai("newer"));
        old(and(OLD, user("q3"), ai("a3")));

        List<ChatMessage> all = and(OLD, user("new"), ai("newer"), user("q3"), ai("a3"));
        assertThat(keepsake.chatMemory("c").messages()).isEqualTo(all);
        assertThat(keepsake().chatMemory("c").messages()).isEqualTo(all);
        assertThat(history()).isEqualTo(all);
    }

    @Test
    void e2_a_window_that_has_moved_gives_only_what_is_new() {
        SystemMessage rules = SystemMessage.from("rules");
        old(List.of(rules, user("q1"), ai("a1"), user("q2")));
        keepsake().chatMemory("c").messages();
        old(List.of(rules, user("q2"), ai("a2"), user("q3")));
        keepsake().chatMemory("c").messages();
        old(List.of(rules, user("q4"), ai("a4")));
        keepsake().chatMemory("c").messages();
        old(List.of(SystemMessage.from("other rules"), ai("a4")));
        keepsake().chatMemory("c").messages();

        assertThat(history())
                .containsExactly(
                        rules,
                        user("q1"),
                        ai("a1"),
                        user("q2"),
                        ai("a2"),
                        user("q3"),
                        user("q4"),
                        ai("a4"),
                        SystemMessage.from("other rules"));
    }

    @Test
    void e2_another_tenants_conversation_of_the_same_id_gets_nothing() {
        old(OLD);
        Keepsake keepsake = keepsake();
        assertThat(keepsake.chatMemory(ConversationKey.of("other", "c")).messages())
                .isEmpty();
        assertThat(keepsake.conversation(ConversationKey.of("other", "c")).messages())
                .isEmpty();
        assertThat(keepsake.chatMemory("c").messages()).isEqualTo(OLD);
    }

    @Test
    void e2_an_erased_conversation_is_not_taken_in_again() {
        old(OLD);
        Keepsake keepsake = keepsake();
        keepsake.chatMemory("c").messages();
        keepsake.conversation("c").erase();
        old(and(OLD, user("q3")));
        assertThat(keepsake.chatMemory("c").messages()).isEmpty();
        assertThat(keepsake().chatMemory("c").messages()).isEmpty();
        keepsake().chatMemory("c").add(user("begins anew"));
        assertThat(history()).containsExactly(user("begins anew"));
    }

    @Test
    void e2_a_conversation_that_was_erased_before_its_first_use_is_not_taken_in() {
        old(OLD);
        keepsake().conversation("c").erase();
        assertThat(keepsake().chatMemory("c").messages()).isEmpty();
        assertThat(history()).isEmpty();
    }

    @Test
    void e2_a_conversation_that_has_begun_here_is_left_as_it_is() {
        Keepsake.builder().messageLog(log).build().chatMemory("c").add(user("mine"));
        old(OLD);
        assertThat(keepsake().chatMemory("c").messages()).containsExactly(user("mine"));
    }

    @Test
    void e2_a_first_use_fails_with_the_old_store_and_later_ones_do_not() {
        old(OLD);
        old.failure = new IllegalStateException("down");
        Keepsake keepsake = keepsake();
        assertThatThrownBy(() -> keepsake.chatMemory("c").messages()).hasMessage("down");
        assertThat(history()).isEmpty();
        old.failure = null;
        keepsake.chatMemory("c").messages();
        old.failure = new IllegalStateException("down");
        assertThat(keepsake.chatMemory("c").messages()).isEqualTo(OLD);
    }

    @Test
    void e2_a_tree_keeps_its_ids_its_times_and_its_branches() {
        Instant time = Instant.parse("2026-01-07T10:00:00Z");
        List<ImportSource.ImportedMessage> tree = new ArrayList<>(List.of(
                new ImportSource.ImportedMessage(user("q1"), time, "u1", null),
                new ImportSource.ImportedMessage(ai("a1"), time.plusSeconds(1), "m1", "u1"),
                new ImportSource.ImportedMessage(ai("again"), time.plusSeconds(2), "m2", "u1"),
                new ImportSource.ImportedMessage(user("q2"), time.plusSeconds(3), "u2", "m2")));
        Keepsake keepsake =
                Keepsake.builder().messageLog(log).importFrom(key -> tree).build();
        assertThat(keepsake.chatMemory("c").messages()).containsExactly(user("q1"), ai("again"), user("q2"));
        keepsake.chatMemory("c").add(ai("a2"));
        tree.add(new ImportSource.ImportedMessage(ai("old a2"), time.plusSeconds(4), "m3", "u2"));
        keepsake.chatMemory("c").messages();

        List<LoggedMessage> all = log.history(KEY, HistoryQuery.oldest(100)).messages();
        assertThat(all).extracting(LoggedMessage::id).contains("u1", "m1", "m2", "u2", "m3");
        assertThat(all.get(1).createdAt()).isEqualTo(time.plusSeconds(1));
        assertThat(all.get(2).parentId()).isEqualTo("u1");
        assertThat(keepsake.chatMemory("c").messages())
                .containsExactly(user("q1"), ai("again"), user("q2"), ai("a2"), ai("old a2"));
    }

    @Test
    void e2_a_tree_that_is_settled_costs_a_restart_one_look() {
        Instant time = Instant.parse("2026-01-02T03:04:05Z");
        List<ImportSource.ImportedMessage> tree = List.of(
                new ImportSource.ImportedMessage(user("q"), time, "1", null),
                new ImportSource.ImportedMessage(ai("a"), time, "2", "1"));
        List<String> calls = new ArrayList<>();
        MessageLog watched = new WatchedLog(log) {
            @Override
            protected void called(String method) {
                calls.add(method);
            }
        }.log();
        for (int i = 0; i < 2; i++) {
            calls.clear();
            Keepsake.builder()
                    .messageLog(watched)
                    .importFrom(conversation -> tree)
                    .build()
                    .conversation("c")
                    .messages();
        }
        assertThat(calls).filteredOn(call -> call.equals("find")).hasSize(1);
        assertThat(calls).doesNotContain("onBranch", "append");
    }

    @Test
    void e2_old_and_new_instances_in_any_order_lose_and_double_nothing() {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        for (int run = 0; run < Counts.of(50, 2_000); run++) {
            long seed = first + run;
            Random random = new Random(seed);
            MessageLog mine = new InMemoryMessageLog();
            ChatMemoryStore theirs = new InMemoryChatMemoryStore();
            int window = 4 + random.nextInt(6);
            MessageWindowChatMemory stock = Dialogue.window("c", window, theirs);
            Keepsake keepsake = keepsake(mine, theirs);
            Set<ChatMessage> said = new LinkedHashSet<>();
            int sinceLook = 0;
            for (int step = 0; step < 40; step++) {
                if (random.nextInt(3) > 0 && sinceLook < window - 1) {
                    // A short text twice in a row would be two equal messages, which a list does not tell from one.
                    ChatMessage message = random.nextBoolean() ? user("old " + step) : ai("old " + step);
                    stock.add(message);
                    said.add(message);
                    sinceLook++;
                } else {
                    keepsake = random.nextInt(3) == 0 ? keepsake(mine, theirs) : keepsake;
                    if (random.nextBoolean()) {
                        keepsake.chatMemory("c").messages();
                        sinceLook = 0;
                    } else if (!said.isEmpty()) {
                        keepsake.chatMemory("c").messages();
                        keepsake.chatMemory("c").add(user("new " + step));
                        sinceLook = 0;
                    }
                }
            }
            keepsake.chatMemory("c").messages();
            assertThat(mine.history(KEY, HistoryQuery.oldest(1_000)).messages().stream()
                            .map(LoggedMessage::message)
                            .filter(said::contains))
                    .as("seed %d", seed)
                    .containsExactlyElementsOf(said);
        }
    }

    private static Keepsake keepsake(MessageLog log, ChatMemoryStore store) {
        return Keepsake.builder().messageLog(log).importFrom(store).build();
    }

    private void assertRefused(String named, ImportSource.ImportedMessage... messages) {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .importFrom(key -> List.of(messages))
                .build();
        assertThrown(InvalidInputException.class, () -> keepsake.chatMemory("c").messages(), named, KEY.toString())
                .hasMessageNotContaining("secret");
        assertThat(history()).isEmpty();
    }

    @Test
    void e2_messages_of_which_some_have_no_id_are_refused() {
        ImportSource.ImportedMessage named = new ImportSource.ImportedMessage(user("secret"), null, "u1", null);
        ImportSource.ImportedMessage unnamed = ImportSource.ImportedMessage.of(ai("secret"));
        assertRefused("message 2", named, unnamed);
        assertRefused("message 2", unnamed, named);
    }

    @Test
    void e2_an_id_that_two_messages_have_is_refused_and_named() {
        assertRefused(
                "u1",
                new ImportSource.ImportedMessage(user("secret"), null, "u1", null),
                new ImportSource.ImportedMessage(ai("secret"), null, "a1", "u1"),
                new ImportSource.ImportedMessage(user("another secret"), null, "u1", "a1"));
    }
}
