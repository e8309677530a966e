package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.history;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Keepsakes;
import io.quarkiverse.langchain4j.runtime.aiservice.QuarkusAiServiceContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Containers with scopes. A service that belongs to a request keeps its memories by id, and empties them when the request
 * ends; of Quarkus this is known, and nothing is emptied. Quarkus replaces a list to put the system message first. It adds each message when it is there
 * (IMMEDIATE), or sets the whole list when a turn has succeeded (DEFERRED).
 */
class RequestScopeTest {

    private static final SystemMessage KIND = SystemMessage.from("Be kind");

    private final Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
    private final Conversation conversation = keepsake.conversation("c");

    /** The memories of a service for as long as its scope lasts. */
    private static final class Scope implements AutoCloseable {
        private final ChatMemoryProvider provider;
        private final Map<Object, ChatMemory> memories = new HashMap<>();

        Scope(ChatMemoryProvider provider) {
            this.provider = provider;
        }

        ChatMemory memory(Object id) {
            return memories.computeIfAbsent(id, provider::get);
        }

        @Override
        public void close() {
            memories.values().forEach(ChatMemory::clear);
        }
    }

    private static void immediately(ChatMemory memory, String question, String answer) {
        List<ChatMessage> list = memory.messages();
        if (!list.contains(KIND)) {
            list.add(0, KIND);
            memory.set(list);
        }
        memory.add(user(question));
        memory.messages();
        if (answer == null) {
            throw new IllegalStateException("out of order");
        }
        memory.add(ai(answer));
    }

    private static void deferred(ChatMemory memory, String question, String answer) {
        List<ChatMessage> list = memory.messages();
        if (!list.contains(KIND)) {
            list.add(0, KIND);
        }
        list.add(user(question));
        if (answer == null) {
            throw new IllegalStateException("out of order");
        }
        list.add(ai(answer));
        memory.set(list);
    }

    @Test
    void the_end_of_a_request_hides_its_messages_and_keeps_them() {
        for (int request = 1; request <= 3; request++) {
            try (Scope scope = new Scope(keepsake.chatMemoryProvider())) {
                immediately(scope.memory("c"), "question " + request, "answer " + request);
                assertThat(scope.memory("c").messages())
                        .containsExactly(KIND, user("question " + request), ai("answer " + request));
            }
            assertThat(conversation.messages()).isEmpty();
        }

        assertThat(history(conversation).stream().filter(message -> !message.equals(KIND)))
                .containsExactly(
                        user("question 1"),
                        ai("answer 1"),
                        user("question 2"),
                        ai("answer 2"),
                        user("question 3"),
                        ai("answer 3"));
        assertThat(conversation.branches()).extracting(Branch::current).contains(true);
    }

    @Test
    void when_quarkus_ends_a_scope_the_next_one_goes_on() {
        ChatMemoryProvider windows = id -> Dialogue.window(id, 9, keepsake.chatMemoryStore());
        Map.of("of the memory", keepsake.chatMemoryProvider(), "of the store", windows)
                .forEach((id, provider) -> {
                    QuarkusAiServiceContext first = new QuarkusAiServiceContext(provider);
                    first.memory(id).add(user("one"));
                    first.memory(id).add(ai("1"));
                    first.close();

                    QuarkusAiServiceContext second = new QuarkusAiServiceContext(provider);
                    assertThat(second.memory(id).messages()).containsExactly(user("one"), ai("1"));
                    second.removeChatMemoryIds(id);
                    assertThat(second.memory(id).messages()).isEmpty();
                    assertThat(history(keepsake.conversation(id))).containsExactly(user("one"), ai("1"));
                });
    }

    @Test
    void a_service_of_the_application_goes_on_and_each_message_is_stored_once() {
        Scope application = new Scope(keepsake.chatMemoryProvider());
        immediately(application.memory("c"), "one", "1");
        immediately(application.memory("c"), "two", "2");
        deferred(application.memory("c"), "three", "3");
        deferred(application.memory("c"), "four", "4");

        List<ChatMessage> all = List.of(
                KIND, user("one"), ai("1"), user("two"), ai("2"), user("three"), ai("3"), user("four"), ai("4"));
        assertThat(application.memory("c").messages()).isEqualTo(all);
        assertThat(history(conversation)).isEqualTo(all);
    }

    @Test
    void a_failed_turn_is_in_the_history_if_its_messages_are_added_immediately() {
        ChatMemory memory = keepsake.chatMemory("c");
        immediately(memory, "one", "1");
        EndingTurns.ignoring(any -> deferred(memory, "lost", null));
        assertThat(history(conversation)).containsExactly(KIND, user("one"), ai("1"));

        EndingTurns.ignoring(any -> immediately(memory, "kept", null));
        assertThat(history(conversation)).containsExactly(KIND, user("one"), ai("1"), user("kept"));
    }
}
