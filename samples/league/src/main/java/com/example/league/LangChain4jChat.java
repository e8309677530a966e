package com.example.league;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.util.List;
import java.util.stream.IntStream;

/** LangChain4j's own window behind its {@code AiServices}. */
final class LangChain4jChat implements Chat {

    private final ChatMemoryStore store;
    private final int window;
    private final LangChain4jModel.Assistant assistant;

    LangChain4jChat(ChatMemoryStore store, int window) {
        this.store = store;
        this.window = window;
        this.assistant = LangChain4jModel.assistant(id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(window)
                .chatMemoryStore(store)
                .build());
    }

    @Override
    public void fill(String conversation, int messages) {
        List<ChatMessage> kept = IntStream.range(Math.max(0, messages - window), messages)
                .mapToObj(LangChain4jModel::filled)
                .toList();
        store.updateMessages(conversation, kept);
    }

    @Override
    public String ask(String conversation, String question) {
        return assistant.chat(conversation, question);
    }

    @Override
    public List<String> shown(String conversation) {
        return stored(conversation);
    }

    @Override
    public List<String> stored(String conversation) {
        return store.getMessages(conversation).stream()
                .map(LangChain4jModel::text)
                .toList();
    }

    @Override
    public void close() {}
}
