package com.example.conformance;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;

/**
 * LangChain4j's messages as Spring AI's and back. What Spring AI has no field for is put into a message's metadata. So a
 * message comes back equal if the repository keeps text, media, tool calls and metadata. Further texts and media by address are
 * left out.
 */
final class Messages {

    private static final String NAME = "name";
    private static final String THINKING = "thinking";
    private static final String ERROR = "isError";
    private static final String ATTRIBUTES = "attributes";

    private Messages() {}

    static Message toSpring(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return new org.springframework.ai.chat.messages.SystemMessage(system.text());
        } else if (message instanceof UserMessage user) {
            return user(user);
        } else if (message instanceof AiMessage answer) {
            return answer(answer);
        } else if (message instanceof ToolExecutionResultMessage result) {
            if (!result.hasSingleText()) {
                throw new IllegalArgumentException("Spring AI's tool responses are texts");
            }
            Map<String, Object> metadata = attributes(result.attributes());
            if (result.isError() != null) {
                metadata.put(ERROR, result.isError());
            }
            return ToolResponseMessage.builder()
                    .responses(List.of(
                            new ToolResponseMessage.ToolResponse(result.id(), result.toolName(), result.text())))
                    .metadata(metadata)
                    .build();
        }
        throw new IllegalArgumentException("Spring AI has no such message: " + message.type());
    }

    private static Message user(UserMessage user) {
        List<Media> media = new ArrayList<>();
        String text = null;
        for (Content content : user.contents()) {
            if (content instanceof TextContent one && text == null) {
                text = one.text();
            } else if (content instanceof ImageContent image && image.image().base64Data() != null) {
                media.add(Media.builder()
                        .mimeType(MimeType.valueOf(image.image().mimeType()))
                        .data(Base64.getDecoder().decode(image.image().base64Data()))
                        .build());
            }
        }
        Map<String, Object> metadata = attributes(user.attributes());
        if (user.name() != null) {
            metadata.put(NAME, user.name());
        }
        return org.springframework.ai.chat.messages.UserMessage.builder()
                .text(text == null ? "" : text)
                .media(media)
                .metadata(metadata)
                .build();
    }

    private static Message answer(AiMessage answer) {
        Map<String, Object> metadata = attributes(answer.attributes());
        if (answer.thinking() != null) {
            metadata.put(THINKING, answer.thinking());
        }
        return AssistantMessage.builder()
                .content(answer.text() == null ? "" : answer.text())
                .properties(metadata)
                .toolCalls(answer.toolExecutionRequests().stream()
                        .map(call ->
                                new AssistantMessage.ToolCall(call.id(), "function", call.name(), call.arguments()))
                        .toList())
                .build();
    }

    private static Map<String, Object> attributes(Map<String, Object> attributes) {
        Map<String, Object> metadata = new HashMap<>();
        if (!attributes.isEmpty()) {
            metadata.put(ATTRIBUTES, attributes);
        }
        return metadata;
    }

    static ChatMessage fromSpring(Message message) {
        if (message instanceof org.springframework.ai.chat.messages.SystemMessage system) {
            return SystemMessage.from(system.getText());
        } else if (message instanceof org.springframework.ai.chat.messages.UserMessage user) {
            List<Content> contents = new ArrayList<>(List.of(TextContent.from(user.getText())));
            for (Media media : user.getMedia()) {
                contents.add(ImageContent.from(
                        Base64.getEncoder().encodeToString(media.getDataAsByteArray()),
                        media.getMimeType().toString(),
                        ImageContent.DetailLevel.HIGH));
            }
            return UserMessage.builder()
                    .name((String) user.getMetadata().get(NAME))
                    .contents(contents)
                    .attributes(attributes(user))
                    .build();
        } else if (message instanceof AssistantMessage answer) {
            // Spring AI has no answer without a text.
            boolean hasText = !answer.getText().isEmpty() || !answer.hasToolCalls();
            return AiMessage.builder()
                    .text(hasText ? answer.getText() : null)
                    .thinking((String) answer.getMetadata().get(THINKING))
                    .toolExecutionRequests(answer.getToolCalls().stream()
                            .map(call -> ToolExecutionRequest.builder()
                                    .id(call.id())
                                    .name(call.name())
                                    .arguments(call.arguments())
                                    .build())
                            .toList())
                    .attributes(attributes(answer))
                    .build();
        }
        ToolResponseMessage responses = (ToolResponseMessage) message;
        if (responses.getResponses().isEmpty()) {
            return ToolExecutionResultMessage.from("lost", "lost", "lost");
        }
        ToolResponseMessage.ToolResponse response = responses.getResponses().get(0);
        return ToolExecutionResultMessage.builder()
                .id(response.id())
                .toolName(response.name())
                .text(response.responseData())
                .isError((Boolean) message.getMetadata().get(ERROR))
                .attributes(attributes(message))
                .build();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> attributes(Message message) {
        return (Map<String, Object>) message.getMetadata().getOrDefault(ATTRIBUTES, Map.of());
    }

    static List<Message> toSpring(List<ChatMessage> messages) {
        return messages.stream().map(Messages::toSpring).toList();
    }

    static List<ChatMessage> fromSpring(List<Message> messages) {
        return new ArrayList<>(messages.stream().map(Messages::fromSpring).toList());
    }
}
