package com.example.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.MessagePreview;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryInfo;

/** What a conversation is called: as the user named it, or else by its first question. */
final class Title {

    /** Messages that may come before the first question, such as a system message. */
    private static final int FIRST = 5;

    private Title() {}

    static String of(MemoryInfo info, Conversation conversation) {
        if (info.title() != null) {
            return info.title();
        }
        return conversation.history(HistoryQuery.oldest(FIRST)).messages().stream()
                .filter(logged -> logged.message() instanceof UserMessage)
                .findFirst()
                .map(question -> MessagePreview.of(question).text())
                .orElse("Without a question");
    }
}
