package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A model without a network. It knows only what the messages of a request contain. */
final class ScriptedModel implements ChatModel {

    private static final Pattern NAME = Pattern.compile("(?:My name is|You are) (\\w+)");
    private static final Pattern HOBBY = Pattern.compile("(?:I|you) keep (\\w+)");

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        String question = text(messages.get(messages.size() - 1));
        String name = find(NAME, messages);
        String hobby = find(HOBBY, messages);
        String answer;
        // What a retriever adds follows the question.
        if (question.lines().noneMatch(line -> line.endsWith("?"))) {
            answer = name == null ? "Tell me more." : "I see, " + name + ".";
        } else if (name == null) {
            answer = "I do not know you yet.";
        } else {
            answer = "You are " + name + (hobby == null ? "." : ", and you keep " + hobby + ".");
        }
        return ChatResponse.builder().aiMessage(AiMessage.from(answer)).build();
    }

    private static String find(Pattern pattern, List<ChatMessage> messages) {
        String found = null;
        for (ChatMessage message : messages) {
            Matcher matcher = pattern.matcher(text(message));
            if (matcher.find()) {
                found = matcher.group(1);
            }
        }
        return found;
    }

    private static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.singleText();
        }
        return message instanceof AiMessage ai ? ai.text() : "";
    }
}
