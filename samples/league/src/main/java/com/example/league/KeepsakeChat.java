package com.example.league;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import java.util.ArrayList;
import java.util.List;

/** Keepsake4j behind LangChain4j's {@code AiServices}. */
final class KeepsakeChat implements Chat {

    /** How the AI service is built. */
    enum Service {
        /** By LangChain4j's builder. */
        PLAIN,
        /** By {@link Keepsake#aiServices}. */
        ATTACHED
    }

    private static final int BATCH = 200;

    private final MessageLog log;
    private final Keepsake keepsake;
    private final LangChain4jModel.Assistant assistant;

    KeepsakeChat(MessageLog log, int window, Service service) {
        this.log = log;
        this.keepsake = Keepsake.builder().messageLog(log).maxMessages(window).build();
        this.assistant = service == Service.PLAIN
                ? LangChain4jModel.assistant(keepsake.chatMemoryProvider())
                : LangChain4jModel.assistant(keepsake.aiServices(LangChain4jModel.Assistant.class));
    }

    @Override
    public void fill(String conversation, int messages) {
        for (int at = 0; at < messages; at += BATCH) {
            List<ChatMessage> batch = new ArrayList<>();
            for (int i = at; i < Math.min(messages, at + BATCH); i++) {
                batch.add(LangChain4jModel.filled(i));
            }
            keepsake.chatMemory(conversation).add(batch);
        }
    }

    @Override
    public String ask(String conversation, String question) {
        return assistant.chat(conversation, question);
    }

    @Override
    public List<String> shown(String conversation) {
        return keepsake.conversation(conversation).messages().stream()
                .map(LangChain4jModel::text)
                .toList();
    }

    @Override
    public List<String> stored(String conversation) {
        return keepsake.conversation(conversation)
                .historyStream(HistoryQuery.oldest(1_000))
                .map(each -> LangChain4jModel.text(each.message()))
                .toList();
    }

    @Override
    public void close() {
        log.close();
    }
}
