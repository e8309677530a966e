package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.langchain4j.store.memory.chat.InMemoryChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.component.MemoryComponent;
import io.github.keepsake4j.component.MemoryInput;
import io.github.keepsake4j.component.MemoryOutput;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.transfer.LangChain4jExport;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.util.List;

/** The code in README, compiled and run. A test compares the parts between the markers with README. */
final class ReadmeExample {

    private static final int TURNS = 60;

    interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    private ReadmeExample() {}

    static String run(ChatModel model, Path directory) {
        // example begins
        // Before: LangChain4j's window. Its store forgets what leaves the window.
        ChatMemoryStore store = new InMemoryChatMemoryStore();
        ChatMemoryProvider before = id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(20)
                .chatMemoryStore(store)
                .build();

        // After: a window of the same size over a log that keeps every message.
        MessageLog log = JdbcMessageLog.sqlite(directory.resolve("chat.db"));
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(SlidingWindow.withMaxMessages(20))
                .build();
        ChatMemoryProvider after = keepsake.chatMemoryProvider();

        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(after)
                .build();
        assistant.chat("alice", "My name is Alice.");

        Conversation conversation = keepsake.conversation("alice");
        List<ChatMessage> seen = conversation.messages(); // what the model sees
        HistoryPage page = conversation.history(HistoryQuery.newest(200)); // everything that was said
        List<Branch> branches = conversation.branches(); // regenerated answers are branches
        // example ends
        check(seen.size() == 2 && page.messages().size() == 2 && branches.size() == 1, "the first turn is there");

        // example begins
        List<ChatMessage> said =
                page.messages().stream().map(LoggedMessage::message).toList();
        String json = LangChain4jExport.toJson(said);
        // example ends
        check(ChatMessageDeserializer.messagesFromJson(json).equals(said), "LangChain4j reads its own JSON");

        moved(log, store);

        Keepsake other = Keepsake.builder().messageLog(log).tenant("other").build();
        wrong(other, model);
        component(directory);

        Assistant stock = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(before)
                .build();
        stock.chat("alice", "My name is Alice.");
        for (int turn = 2; turn <= TURNS; turn++) {
            stock.chat("alice", "Turn " + turn);
            assistant.chat("alice", "Turn " + turn);
        }
        String figures = "before: %d shown, %d stored; after: %d shown, %d in the history"
                .formatted(
                        before.get("alice").messages().size(),
                        store.getMessages("alice").size(),
                        after.get("alice").messages().size(),
                        conversation
                                .history(HistoryQuery.newest(200))
                                .messages()
                                .size());
        log.close();
        return figures;
    }

    private static void moved(MessageLog log, ChatMemoryStore store) {
        store.updateMessages("bob", List.of(UserMessage.from("I am Bob.")));
        // example begins
        Keepsake moved = Keepsake.builder()
                .messageLog(log)
                .importFrom(store) // any ChatMemoryStore
                .build();
        // example ends
        check(moved.chatMemory("bob").messages().equals(store.getMessages("bob")), "Bob is remembered");
    }

    private static void wrong(Keepsake keepsake, ChatModel model) {
        String question = "What is my name?";
        // example begins
        Assistant assistant =
                keepsake.aiServices(Assistant.class).chatModel(model).build();
        assistant.chat("alice", question);
        LoggedMessage answer =
                keepsake.conversation("alice").branch(1).messages().get(0);

        // Another answer to the same question. It becomes the current one, and the old one stays in the history.
        String another = keepsake.conversation("alice")
                .turn(Turn.regenerate(answer.id()), () -> assistant.chat("alice", question));
        // example ends
        List<LoggedMessage> history =
                keepsake.conversation("alice").history(HistoryQuery.oldest(10)).messages();
        check(history.size() == 3 && another.equals("I do not know you yet."), "one question has two answers");
    }

    private static void component(Path directory) {
        // example begins
        MemoryComponent memory = MemoryComponent.builder()
                .backend("in_memory", InMemoryMessageLog::new) // the default
                .backend("file", () -> FileMessageLog.in(directory.resolve("sessions")))
                .build();
        memory.run(MemoryInput.add("sess_123", UserMessage.from("What is Python?")));
        memory.run(MemoryInput.add("sess_123", AiMessage.from("Python is a programming language.")));
        MemoryOutput output = memory.run(MemoryInput.get("sess_123").withMaxMessages(20)); // messages, counts, summary

        // The same with JSON, as a low-code host passes it.
        String json = memory.run("{\"action\": \"get\", \"session_id\": \"sess_123\", \"max_messages\": 20}");
        // example ends
        check(output.messageCount() == 2 && json.equals(output.toJson()), "both return the same");
        memory.close();
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("does not hold: " + what);
        }
    }
}
