package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.stream.Stream;

/** Short names for messages that tests use often. */
public final class Dialogue {

    private Dialogue() {}

    public static UserMessage user(String text) {
        return UserMessage.from(text);
    }

    public static AiMessage ai(String text) {
        return AiMessage.from(text);
    }

    /** Creates an assistant message that calls "tool" once for each id. */
    public static AiMessage calls(String... ids) {
        return AiMessage.from(Stream.of(ids).map(id -> call(id, "tool", "{}")).toList());
    }

    public static ToolExecutionRequest call(String id, String name, String arguments) {
        return ToolExecutionRequest.builder()
                .id(id)
                .name(name)
                .arguments(arguments)
                .build();
    }

    public static ToolExecutionResultMessage result(String id) {
        return ToolExecutionResultMessage.from(id, "tool", "result of " + id);
    }

    /** Returns the first thousand messages of the history. */
    public static List<ChatMessage> history(Conversation conversation) {
        return conversation.history(HistoryQuery.oldest(1000)).messages().stream()
                .map(LoggedMessage::message)
                .toList();
    }

    /** Returns LangChain4j's window of this many messages over a store. */
    public static MessageWindowChatMemory window(Object id, int messages, ChatMemoryStore store) {
        return MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(messages)
                .chatMemoryStore(store)
                .build();
    }
}
