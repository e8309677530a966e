package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Keepsakes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A storage that is taken back to an older state while processes are at work, as by an asynchronous failover or a restored
 * backup: every call works, and instances whose rows are gone are stored again when they come back in a list.
 */
@Timeout(600)
class TakenBackTest {

    private static final int MESSAGES = 25;
    private static final int MOST_LOST = 20;

    /** In files, a file that is shorter than the process has seen it is an error. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"IN_MEMORY", "FILES"})
    void a_live_process_goes_on_whichever_of_the_newest_messages_are_gone(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(1_000));
            int step = Counts.of(9, home == Home.S3 || home == Home.S3_TURNS ? 3 : 1);
            for (int lost = 1; lost <= MOST_LOST; lost += step) {
                for (Way way : Way.values()) {
                    new Case(storage, keepsake, "lost " + lost + " " + way, way).run(lost);
                }
            }
        }
    }

    /** What a process did last, before it is taken back. */
    private enum Way {
        ADDED,
        SET,
        BRANCHED,
        UPDATED
    }

    private record Case(Home.Storage storage, Keepsake keepsake, String id, Way way) {

        void run(int lost) throws Exception {
            KeepsakeChatMemory memory = keepsake.chatMemory(id);
            KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
            add(memory, 0, MESSAGES - lost);
            memory.flush();
            Home.Restore restore = storage.copy();
            add(memory, MESSAGES - lost, MESSAGES);
            List<ChatMessage> held = new ArrayList<>(memory.messages());
            switch (way) {
                case ADDED -> {}
                case SET -> {
                    held.remove(2);
                    held.add(user("set"));
                    memory.set(held);
                    held = new ArrayList<>(memory.messages());
                }
                case BRANCHED -> {
                    held.remove(held.size() - 1);
                    held.add(user("branched"));
                    memory.set(held);
                    held = new ArrayList<>(memory.messages());
                }
                case UPDATED -> held = store.getMessages(id);
            }
            memory.flush();

            restore.run();

            List<ChatMessage> before = history(keepsake.conversation(id));
            assertThat(before).as(id).hasSize(MESSAGES - lost);
            List<ChatMessage> list = new ArrayList<>(held);
            list.add(user("new"));
            // What was stored again is known in the next list, also in one with a gap.
            for (int again = 0; again < 4; again++) {
                if (way == Way.UPDATED) {
                    store.updateMessages(id, list);
                } else {
                    memory.set(list);
                }
                assertThat(history(keepsake.conversation(id)))
                        .as("%s, update %s", id, again)
                        .doesNotHaveDuplicates();
                list = new ArrayList<>(list);
                list.add(user("again " + again));
                if (again == 2) {
                    list.remove(list.size() - 4);
                }
            }
            if (way == Way.UPDATED) {
                store.updateMessages(id, list);
            } else {
                memory.set(list);
            }
            assertThat(memory.messages()).as(id).isEqualTo(list);
            assertThat(history(keepsake.conversation(id)))
                    .as(id)
                    .doesNotHaveDuplicates()
                    .containsAll(list)
                    .containsAll(before);
            useAll(memory, store, list);
        }

        /** Every call works. */
        private void useAll(KeepsakeChatMemory memory, KeepsakeChatMemoryStore store, List<ChatMessage> list) {
            Conversation conversation = keepsake.conversation(id);
            memory.add(user("more"));
            List<ChatMessage> now = memory.messages();
            assertThat(now).hasSize(list.size() + 1);
            memory.clear();
            now.subList(0, 3).forEach(memory::add);
            assertThat(memory.messages()).isEqualTo(now.subList(0, 3));
            assertThat(store.getMessages(id)).isEqualTo(now.subList(0, 3));
            store.updateMessages(id, now);
            assertThat(keepsake.chatMemory(id).messages()).containsAll(now);
            assertThat(history(conversation)).doesNotHaveDuplicates();
            assertThat(conversation.branches()).isNotEmpty();
            assertThat(conversation.explain().shown()).isNotEmpty();
            assertThat(conversation.branch(5).messages()).hasSize(5);
        }

        private static void add(KeepsakeChatMemory memory, int from, int to) {
            for (int i = from; i < to; i++) {
                memory.add(user("message " + i));
            }
        }
    }
}
