package io.github.keepsake4j.memories;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.text.MessageText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Returns the hashes by which a message is found again. They are stored, so they never change. Pure functions. */
final class MessageHashes {

    private static final MessageCodec CODEC = new MessageCodec();

    private MessageHashes() {}

    /** Returns the SHA-256 of a message's text, as WilmerAI stores it. */
    static String of(ChatMessage message) {
        return Ids.sha256(MessageText.of(message));
    }

    /** Returns digits that distinguish the versions of a prompt. */
    static String shortHash(String text) {
        return Ids.sha256(text).substring(0, 8);
    }

    /**
     * Returns the chained hash of each message: of its type, its text, its images and other contents, its tool calls and the
     * chained hash of the message before it.
     */
    static List<String> chain(List<SourceMessage> messages) {
        List<String> chain = new ArrayList<>(messages.size());
        String before = "";
        for (SourceMessage source : messages) {
            before = link(before, source.message());
            chain.add(before);
        }
        return List.copyOf(chain);
    }

    private static String link(String before, ChatMessage message) {
        StringBuilder texts = new StringBuilder();
        add(texts, before);
        add(texts, message.type().name());
        add(texts, MessageText.of(message));
        if (message instanceof UserMessage user) {
            List<Content> others = user.contents().stream()
                    .filter(content -> !(content instanceof TextContent))
                    .toList();
            if (!others.isEmpty()) {
                add(texts, CODEC.encode(UserMessage.from(others)));
            }
        }
        if (message instanceof AiMessage ai) {
            for (ToolExecutionRequest call : ai.toolExecutionRequests()) {
                add(texts, Objects.requireNonNullElse(call.name(), ""));
                add(texts, Objects.requireNonNullElse(call.arguments(), ""));
            }
        }
        return Ids.sha256(texts.toString());
    }

    /** Adds a text after its length, so that different lists of texts never give the same bytes. */
    private static void add(StringBuilder texts, String text) {
        texts.append(text.getBytes(StandardCharsets.UTF_8).length).append(':').append(text);
    }
}
