package io.github.keepsake4j.recall;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.retriever.ContentRetriever;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Recall in AI services whose window shows the last two messages only. */
class RecallInAiServicesTest {

    interface Chat {
        String chat(@MemoryId String user, @dev.langchain4j.service.UserMessage String text);
    }

    private final Script model = new Script("Fine.");
    private final MessageLog log = new InMemoryMessageLog();
    private final Keepsake keepsake = Keepsake.builder()
            .messageLog(log)
            .index(new InMemoryMessageIndex())
            .strategy(SlidingWindow.withMaxMessages(4))
            .build();

    /** Returns a service of LangChain4j alone that recalls. */
    private Chat retrieving() {
        return AiServices.builder(Chat.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .contentRetriever(keepsake.recall().retriever(RecallOptions.standard()))
                .build();
    }

    @Test
    void a_retriever_adds_what_the_window_does_not_show() {
        Chat chat = retrieving();
        chat.chat("alice", "My parrot is called Coco");
        chat.chat("bob", "My parrot is called Rex");
        chat.chat("alice", "It rains");
        chat.chat("alice", "It still rains");

        chat.chat("alice", "What did I say my parrot was called?");
        assertThat(text(model.lastMessages()))
                .contains("What did I say my parrot was called?", "user: My parrot is called Coco")
                .doesNotContain("Rex");

        // LangChain4j stores the question with what was retrieved for it. Only the question is found.
        chat.chat("alice", "Let us talk of something else");
        chat.chat("alice", "The weather is better now");
        List<ChatMessage> stored = keepsake.conversation("alice").history(HistoryQuery.newest(100)).messages().stream()
                .map(message -> message.message())
                .toList();
        assertThat(stored)
                .filteredOn(message -> message.toString().contains("<recalled-messages>"))
                .isNotEmpty();
        Recalled recalled = keepsake.recall()
                .find(
                        Scope.memory(keepsake.conversation("alice").key()),
                        "Coco",
                        RecallOptions.standard().withNeighbours(0));
        assertThat(recalled.passages().get(0).message().message())
                .isEqualTo(UserMessage.from("My parrot is called Coco"));
        assertThat(recalled.passages().stream()
                        .map(passage -> RecalledText.of(
                                passage, RecallOptions.standard().zone())))
                .filteredOn(passage -> passage.contains("Coco"))
                .hasSize(1);
        assertThat(keepsake.search()
                        .find(Scope.tenant(keepsake.conversation("alice").key().tenant()), "Coco")
                        .hits())
                .hasSize(1);
    }

    /** What was said behind the question, or on the branch that a turn leaves, is not of its branch. */
    @Test
    void a_turn_that_goes_on_elsewhere_recalls_only_what_is_before_it() {
        Chat chat = recalling();
        Conversation conversation = keepsake.conversation("alice");
        chat.chat("alice", "My parrot is called Coco");
        String answer = newest(conversation);
        String early = conversation.questionOf(answer).orElseThrow().id();
        chat.chat("alice", "My cat is called Tom");
        String cat = newest(conversation);
        for (int i = 0; i < 4; i++) {
            chat.chat("alice", "It rains " + i);
        }
        chat.chat("alice", "Which animals are called what?");
        assertThat(text(model.lastMessages())).contains("Coco", "Tom");

        conversation.regenerate(
                cat, question -> chat.chat("alice", "What is my parrot called, and my cat, and the rain?"));
        assertThat(text(model.lastMessages())).contains("Coco").doesNotContain("rains");
        conversation.edit(early, UserMessage.from("x"), question -> chat.chat("alice", "Is my parrot called Coco?"));
        assertThat(text(model.lastMessages())).doesNotContain("My parrot", "Tom");
    }

    /** A named branch is no part of the current one. */
    @Test
    void a_turn_on_a_named_branch_recalls_what_was_said_there_and_before() {
        Chat chat = recalling();
        Conversation conversation = keepsake.conversation("alice");
        chat.chat("alice", "My parrot is called Coco");
        conversation.turn(Turn.on("tab"), () -> chat.chat("alice", "My fish is called Blub"));
        for (int i = 0; i < 60; i++) {
            conversation.turn(Turn.on("tab"), () -> chat.chat("alice", "It snows"));
        }
        chat.chat("alice", "My cat is called Tom");
        for (int i = 0; i < 4; i++) {
            chat.chat("alice", "It rains");
        }
        String asked = "What are my parrot and my fish and my cat called?";
        conversation.turn(Turn.on("tab"), () -> chat.chat("alice", asked));
        assertThat(text(model.lastMessages())).contains("Coco", "Blub").doesNotContain("Tom");
        chat.chat("alice", asked);
        assertThat(text(model.lastMessages())).contains("Coco", "Tom").doesNotContain("Blub");
    }

    @Test
    void what_another_thread_clears_during_a_turn_is_not_recalled() {
        ContentRetriever retriever = keepsake.recall().retriever(RecallOptions.standard());
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(query -> {
                    if (query.text().startsWith("What")) {
                        CompletableFuture.runAsync(
                                        () -> keepsake.chatMemory("alice").clear())
                                .join();
                    }
                    return retriever.retrieve(query);
                })
                .build();
        chat.chat("alice", "My parrot is called Coco");
        for (int i = 0; i < 4; i++) {
            chat.chat("alice", "It rains");
        }
        chat.chat("alice", "Is my parrot called Coco?");
        assertThat(text(model.lastMessages())).contains("user: My parrot");
        chat.chat("alice", "What is my parrot called?");
        assertThat(text(model.lastMessages())).doesNotContain("Coco");
    }

    /** A turn of a memory of the same name in another log tells nothing of this one. */
    @Test
    void a_turn_of_another_log_does_not_bound_a_recall() {
        Keepsake archive = Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .index(new InMemoryMessageIndex())
                .maxMessages(1)
                .build();
        archive.chatMemory("alice").add(UserMessage.from("My horse is called Zorro"), UserMessage.from("It rains"));
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(archive.recall().retriever(RecallOptions.standard()))
                .build();
        chat.chat("alice", "x");
        String question = keepsake.conversation("alice")
                .questionOf(newest(keepsake.conversation("alice")))
                .orElseThrow()
                .id();
        keepsake.conversation("alice")
                .edit(question, UserMessage.from("y"), asked -> chat.chat("alice", "Is my horse called Zorro?"));
        assertThat(text(model.lastMessages())).contains("user: My horse is called Zorro");
    }

    private Chat recalling() {
        return keepsake.aiServices(Chat.class)
                .chatModel(model)
                .contentRetriever(keepsake.recall().retriever(RecallOptions.standard()))
                .build();
    }

    private static String newest(Conversation conversation) {
        return conversation.branch(1).messages().get(0).id();
    }

    @Test
    void what_another_retriever_found_is_not_found_in_the_memory() {
        Chat chat = AiServices.builder(Chat.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .contentRetriever(query -> List.of(Content.from("The office opens at nine"), Content.from("Ask Zoe")))
                .build();
        chat.chat("alice", "When may I come with my parrot?");
        assertThat(text(model.lastMessages())).contains("The office opens at nine");

        Scope scope = Scope.memory(keepsake.conversation("alice").key());
        assertThat(keepsake.search().find(scope, "office nine Zoe").hits()).isEmpty();
        assertThat(keepsake.search().find(scope, "parrot").hits()).hasSize(1);
        assertThat(keepsake.recall()
                        .find(
                                scope,
                                "When does the office open?",
                                RecallOptions.standard().withNeighbours(0))
                        .passages())
                .isEmpty();

        // Nor is it recalled with the question, and to ask again does not add it twice.
        String recalled = keepsake
                .recall()
                .find(
                        scope,
                        "parrot",
                        RecallOptions.standard().withNeighbours(0).shownTo(ConversationKey.of("default", "none")))
                .passages()
                .stream()
                .map(passage ->
                        RecalledText.of(passage, RecallOptions.standard().zone()))
                .collect(Collectors.joining());
        assertThat(recalled).contains("When may I come with my parrot?").doesNotContain("office");
        String answerId = keepsake.conversation("alice")
                .history(HistoryQuery.newest(1))
                .messages()
                .get(0)
                .id();
        keepsake.conversation("alice").regenerate(answerId, question -> {
            assertThat(question).isEqualTo(UserMessage.from("When may I come with my parrot?"));
            return chat.chat("alice", question.singleText());
        });
        assertThat(text(model.lastMessages())).containsOnlyOnce("The office opens at nine");
    }

    @Test
    void a_tool_looks_up_what_the_window_does_not_show() {
        Chat chat = AiServices.builder(Chat.class)
                .chatModel(model)
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .tools(keepsake.recall().tool(RecallOptions.standard()))
                .build();
        chat.chat("alice", "My parrot is called Coco");
        chat.chat("bob", "My parrot is called Rex");
        chat.chat("alice", "It rains");
        chat.chat("alice", "It still rains");
        assertThat(model.requests.get(0).toolSpecifications()).singleElement().satisfies(tool -> assertThat(
                        tool.parameters().properties().keySet())
                .containsExactly("question"));

        model.says(AiMessage.from(call("1", "recall", "{\"question\": \"parrot's name\", \"memoryId\": \"bob\"}")));
        chat.chat("alice", "And the parrot?");

        assertThat(model.lastMessages())
                .filteredOn(ToolExecutionResultMessage.class::isInstance)
                .singleElement()
                .satisfies(result -> assertThat(((ToolExecutionResultMessage) result).text())
                        .contains("user: My parrot is called Coco")
                        .doesNotContain("Rex"));
    }

    @Test
    void what_the_window_shows_is_not_added() {
        Chat chat = retrieving();
        chat.chat("alice", "My parrot is called Coco");
        chat.chat("alice", "What is my parrot called?");

        assertThat(text(model.lastMessages())).doesNotContain("<recalled-messages>");
    }

    private static String text(List<ChatMessage> messages) {
        return messages.toString();
    }
}
