package com.example.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.quarkiverse.langchain4j.ChatMemoryRemover;
import io.smallrye.mutiny.Multi;
import jakarta.enterprise.context.control.ActivateRequestContext;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.stream.Collectors;

/** What can be done with a conversation, by HTTP and on a command line. */
@Singleton
public class Chat {

    private static final int PAGE = 100;

    @Inject
    Assistant assistant;

    @Inject
    StreamingAssistant streaming;

    @Inject
    Keepsake keepsake;

    /** Returns an answer. A command has no request, which the service needs, so it gets one here. */
    @ActivateRequestContext
    public String say(String conversation, String text) {
        return assistant.chat(conversation, text);
    }

    /** Returns an answer word by word. */
    public Multi<String> stream(String conversation, String text) {
        return streaming.chat(conversation, text);
    }

    /** Hides what was said so far. Quarkus knows the conversation only if the same service has answered in it. */
    public void forget(String conversation) {
        ChatMemoryRemover.remove(streaming, conversation);
    }

    /** Returns all that the user ever said. */
    public String history(String conversation) {
        return keepsake.conversation(conversation)
                .historyStream(HistoryQuery.oldest(PAGE))
                .map(LoggedMessage::message)
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText())
                .collect(Collectors.joining(" | "));
    }
}
