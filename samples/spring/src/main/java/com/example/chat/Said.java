package com.example.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A message as the page shows it.
 *
 * @param text what was said; of a question, the user's own words
 * @param sent the text that a model gets, if it is another one
 * @param calls the tools that an answer calls
 * @param tool the tool whose result this is, or null
 * @param outcome how it ended if it did not end well, or null
 */
record Said(
        String id,
        String parentId,
        long sequence,
        ChatMessageType type,
        String text,
        String sent,
        List<Call> calls,
        String tool,
        Instant at,
        int tokens,
        Outcome outcome) {

    /** The longest beginning of a text in a list. */
    static final int BEGINNING = 300;

    record Call(String name, String arguments) {}

    static Said of(LoggedMessage logged) {
        ChatMessage message = logged.message();
        String sent = text(message);
        String own = message instanceof UserMessage ? logged.userText() : sent;
        String text = own == null ? "" : own;
        return new Said(
                logged.id(),
                logged.parentId(),
                logged.sequence(),
                message.type(),
                text,
                text.equals(sent) ? null : sent,
                message instanceof AiMessage answer
                        ? answer.toolExecutionRequests().stream()
                                .map(call -> new Call(call.name(), call.arguments()))
                                .toList()
                        : List.of(),
                message instanceof ToolExecutionResultMessage result ? result.toolName() : null,
                logged.createdAt(),
                logged.tokens(),
                logged.outcome());
    }

    /** Returns a copy for a list: with the beginning of a text, and nothing else of what was said. */
    Said with(String other) {
        return with(other, BEGINNING, tokens);
    }

    Said with(String other, int most, int size) {
        int end = Math.min(most, other.length());
        // Cuts no character in two.
        String beginning = end == other.length()
                ? other
                : other.substring(0, Character.isHighSurrogate(other.charAt(end - 1)) ? end - 1 : end) + "…";
        return new Said(id, parentId, sequence, type, beginning, null, calls, tool, at, size, outcome);
    }

    /** Returns the text of a message. Other contents are named. */
    static String text(ChatMessage message) {
        String text = "";
        if (message instanceof AiMessage answer) {
            text = answer.text();
        } else if (message instanceof ToolExecutionResultMessage result) {
            text = result.text();
        } else if (message instanceof SystemMessage system) {
            text = system.text();
        } else if (message instanceof UserMessage user) {
            text = user.contents().stream()
                    .map(content -> content instanceof TextContent part ? part.text() : "[" + content.type() + "]")
                    .collect(Collectors.joining("\n"));
        }
        return text == null ? "" : text;
    }
}
