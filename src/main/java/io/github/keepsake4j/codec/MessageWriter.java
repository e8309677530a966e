package io.github.keepsake4j.codec;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Converts one message to plain JSON values. Classes are compared exactly, because a subclass would be read back as its
 * parent class, without the state that it added.
 */
final class MessageWriter {

    private MessageWriter() {}

    static Map<String, @Nullable Object> write(ChatMessage message) {
        Class<?> type = message.getClass();
        if (type == UnknownMessage.class) {
            return unknown((UnknownMessage) message);
        }
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("v", MessageCodec.VERSION);
        if (type == SystemMessage.class) {
            json.put("type", "SYSTEM");
            json.put("text", ((SystemMessage) message).text());
        } else if (type == UserMessage.class) {
            UserMessage user = (UserMessage) message;
            json.put("type", "USER");
            Json.put(json, "name", user.name());
            json.put("contents", contents(user.contents()));
            attributes(json, user.attributes());
        } else if (type == AiMessage.class) {
            AiMessage ai = (AiMessage) message;
            json.put("type", "AI");
            Json.put(json, "text", ai.text());
            Json.put(json, "thinking", ai.thinking());
            if (ai.hasToolExecutionRequests()) {
                json.put("toolExecutionRequests", toolExecutionRequests(ai.toolExecutionRequests()));
            }
            attributes(json, ai.attributes());
        } else if (type == ToolExecutionResultMessage.class) {
            ToolExecutionResultMessage result = (ToolExecutionResultMessage) message;
            json.put("type", "TOOL_EXECUTION_RESULT");
            Json.put(json, "id", result.id());
            Json.put(json, "toolName", result.toolName());
            json.put("contents", contents(result.contents()));
            Json.put(json, "isError", result.isError());
            attributes(json, result.attributes());
        } else if (type == CustomMessage.class) {
            json.put("type", "CUSTOM");
            attributes(json, ((CustomMessage) message).attributes());
        } else {
            throw new InvalidInputException(
                    "message", "is of a class that cannot be stored without loss: " + type.getTypeName());
        }
        return json;
    }

    private static Map<String, @Nullable Object> unknown(UnknownMessage message) {
        if (!(message.attributes().get("type") instanceof String)) {
            throw new InvalidInputException("type", "must be a String in an unknown message");
        }
        return AttributeWriter.plain(message.attributes());
    }

    private static List<Object> toolExecutionRequests(List<ToolExecutionRequest> requests) {
        JsonPath path = JsonPath.of("toolExecutionRequests");
        List<Object> list = new ArrayList<>();
        for (ToolExecutionRequest given : requests) {
            ToolExecutionRequest request = needed(given, path.index(list.size()));
            Map<String, @Nullable Object> json = new LinkedHashMap<>();
            Json.put(json, "id", request.id());
            Json.put(json, "name", request.name());
            Json.put(json, "arguments", request.arguments());
            list.add(json);
        }
        return list;
    }

    private static List<Object> contents(List<Content> contents) {
        JsonPath path = JsonPath.of("contents");
        List<Object> list = new ArrayList<>();
        for (Content content : contents) {
            JsonPath place = path.index(list.size());
            list.add(content(needed(content, place), place));
        }
        return list;
    }

    private static Map<String, @Nullable Object> content(Content content, JsonPath path) {
        Class<?> type = content.getClass();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        if (type == TextContent.class) {
            json.put("type", "TEXT");
            json.put("text", ((TextContent) content).text());
        } else if (type == ImageContent.class) {
            ImageContent image = (ImageContent) content;
            json.put("type", "IMAGE");
            json.put("image", Media.json(image.image(), path.field("image")));
            json.put("detailLevel", image.detailLevel().name());
        } else if (type == AudioContent.class) {
            JsonPath place = path.field("audio");
            json.put("type", "AUDIO");
            json.put("audio", Media.json(needed(((AudioContent) content).audio(), place), place));
        } else if (type == VideoContent.class) {
            JsonPath place = path.field("video");
            json.put("type", "VIDEO");
            json.put("video", Media.json(needed(((VideoContent) content).video(), place), place));
        } else if (type == PdfFileContent.class) {
            JsonPath place = path.field("pdfFile");
            json.put("type", "PDF");
            json.put("pdfFile", Media.json(needed(((PdfFileContent) content).pdfFile(), place), place));
        } else {
            throw new InvalidInputException(
                    path.toString(), "is of a class that cannot be stored without loss: " + type.getTypeName());
        }
        return json;
    }

    private static void attributes(Map<String, @Nullable Object> json, Map<String, Object> attributes) {
        if (!attributes.isEmpty()) {
            json.put("attributes", AttributeWriter.tagged(attributes));
        }
    }

    private static <T> T needed(@Nullable T value, JsonPath path) {
        if (value == null) {
            throw new InvalidInputException(path.toString(), "must not be null");
        }
        return value;
    }
}
