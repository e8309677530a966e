package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Tell;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The ids of messages in hand, in random conversations of few words, so that many messages are equal. */
class MessageIdsPropertyTest {

    private final Random random = new Random(seed());

    private static long seed() {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        Tell.line("MessageIdsPropertyTest -Dkeepsake.seed=" + seed);
        return seed;
    }

    /** One conversation, and for each instance in hand the stored messages that it is. */
    private final class Chat {
        private final MessageLog log = new InMemoryMessageLog();
        private final Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(6));
        private final Conversation conversation = keepsake.conversation("c");
        private final KeepsakeChatMemory memory = keepsake.chatMemory("c");
        private final Map<ChatMessage, Set<String>> inHand = new IdentityHashMap<>();

        void act() {
            switch (random.nextInt(10)) {
                case 0, 1 -> hold(memory.messages());
                case 2 -> hold(conversation.messages());
                case 3 -> switchTo();
                case 4 -> setPart();
                case 5 -> {
                    if (random.nextInt(4) == 0) {
                        memory.clear();
                    }
                }
                case 6 -> addAgain();
                default -> add(message());
            }
        }

        private void add(ChatMessage message) {
            Set<String> before = ids();
            memory.add(message);
            Set<String> added = ids();
            added.removeAll(before);
            inHand.computeIfAbsent(message, any -> new HashSet<>()).addAll(added);
        }

        /** An application's constant, which is stored more than once. */
        private void addAgain() {
            if (!inHand.isEmpty()) {
                List<ChatMessage> all = new ArrayList<>(inHand.keySet());
                add(all.get(random.nextInt(all.size())));
            }
        }

        private void setPart() {
            List<ChatMessage> list = memory.messages();
            hold(list);
            if (list.size() > 1) {
                list.remove(random.nextInt(list.size()));
                memory.set(list);
            }
        }

        private void switchTo() {
            List<String> all = List.copyOf(ids());
            if (!all.isEmpty()) {
                conversation.switchTo(all.get(random.nextInt(all.size())));
            }
        }

        private void hold(List<ChatMessage> given) {
            List<LoggedMessage> shown = conversation.context().logged();
            assertThat(given)
                    .isEqualTo(shown.stream().map(LoggedMessage::message).toList());
            for (int i = 0; i < given.size(); i++) {
                inHand.computeIfAbsent(given.get(i), any -> new HashSet<>())
                        .add(shown.get(i).id());
            }
        }

        private Set<String> ids() {
            return conversation
                    .historyStream(HistoryQuery.oldest(100))
                    .map(LoggedMessage::id)
                    .collect(Collectors.toSet());
        }

        /** Returns how many ids were found. */
        int check() {
            int found = 0;
            List<LoggedMessage> shown = conversation.context().logged();
            for (Map.Entry<ChatMessage, Set<String>> held : inHand.entrySet()) {
                Optional<String> id = conversation.idOf(held.getKey());
                if (held.getValue().size() == 1) {
                    assertThat(id).isEqualTo(held.getValue().stream().findFirst());
                    found++;
                } else {
                    assertThat(id).isEqualTo(onlyEqual(shown, held.getKey()));
                }
                ChatMessage copy = copy(held.getKey());
                assertThat(conversation.idOf(copy)).isEqualTo(onlyEqual(shown, copy));
            }
            assertThat(conversation.idOf(user("never said"))).isEmpty();
            return found;
        }
    }

    private static Optional<String> onlyEqual(List<LoggedMessage> shown, ChatMessage message) {
        List<String> equal = shown.stream()
                .filter(logged -> logged.message().equals(message))
                .map(LoggedMessage::id)
                .toList();
        return equal.size() == 1 ? Optional.of(equal.get(0)) : Optional.empty();
    }

    private ChatMessage message() {
        String text = List.of("yes", "no", "ok").get(random.nextInt(3));
        return random.nextBoolean() ? user(text) : ai(text);
    }

    private static ChatMessage copy(ChatMessage message) {
        return message instanceof UserMessage user ? user(user.singleText()) : ai(((AiMessage) message).text());
    }

    @Test
    void an_instance_has_its_own_id_and_a_copy_that_of_the_only_equal_message_in_view() {
        int found = 0;
        for (int i = 0; i < Counts.of(50, 5_000); i++) {
            Chat chat = new Chat();
            for (int step = 0; step < 20; step++) {
                chat.act();
            }
            found += chat.check();
        }
        assertThat(found).isPositive();
    }
}
