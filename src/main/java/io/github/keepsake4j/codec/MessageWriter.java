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
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts one message to plain JSON values. Classes are compared exactly, because a subclass would be read back as its
 * parent class, without the state that it added.
 */
final class MessageWriter {

    private static final Set<Class<? extends ChatMessage>> WRITTEN = Set.of(
            SystemMessage.class,
            UserMessage.class,
            AiMessage.class,
            ToolExecutionResultMessage.class,
            CustomMessage.class,
            UnknownMessage.class);

    private MessageWriter() {}

    /** Returns whether a message is stored without loss. A subclass may have more than its class. */
    static boolean canWrite(ChatMessage message) {
        return WRITTEN.contains(message.getClass());
    }

    static JsonObject write(ChatMessage message) {
        if (!canWrite(message)) {
            throw new InvalidInputException(
                    "message",
                    "is of a class that cannot be stored without loss: "
                            + message.getClass().getTypeName());
        }
        if (message instanceof UnknownMessage unknown) {
            return unknown(unknown);
        }
        JsonObject json = new JsonObject().with("v", MessageCodec.VERSION);
        if (message instanceof SystemMessage system) {
            json.with("type", "SYSTEM").with("text", system.text());
        } else if (message instanceof UserMessage user) {
            json.with("type", "USER").withPresent("name", user.name()).with("contents", contents(user.contents()));
        } else if (message instanceof AiMessage ai) {
            json.with("type", "AI")
                    .withPresent("text", ai.text())
                    .withPresent("thinking", ai.thinking())
                    .withAny("toolExecutionRequests", toolExecutionRequests(ai.toolExecutionRequests()));
        } else if (message instanceof ToolExecutionResultMessage result) {
            json.with("type", "TOOL_EXECUTION_RESULT")
                    .withPresent("id", result.id())
                    .withPresent("toolName", result.toolName())
                    .with("contents", contents(result.contents()))
                    .withPresent("isError", result.isError());
        } else {
            json.with("type", "CUSTOM");
        }
        Map<String, Object> attributes = MessageAttributes.of(message);
        return attributes.isEmpty() ? json : json.with("attributes", AttributeWriter.tagged(attributes));
    }

    private static JsonObject unknown(UnknownMessage message) {
        if (!(message.attributes().get("type") instanceof String)) {
            throw new InvalidInputException("type", "must be a String in an unknown message");
        }
        JsonObject json = new JsonObject();
        json.putAll(AttributeWriter.plain(message.attributes()));
        return json;
    }

    private static List<Object> toolExecutionRequests(List<ToolExecutionRequest> requests) {
        JsonPath path = JsonPath.of("toolExecutionRequests");
        List<Object> list = new ArrayList<>();
        for (ToolExecutionRequest given : requests) {
            ToolExecutionRequest request = needed(given, path.index(list.size()));
            list.add(new JsonObject()
                    .withPresent("id", request.id())
                    .withPresent("name", request.name())
                    .withPresent("arguments", request.arguments()));
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

    private static JsonObject content(Content content, JsonPath path) {
        Class<?> type = content.getClass();
        JsonObject json = new JsonObject();
        if (type == TextContent.class) {
            json.with("type", "TEXT").with("text", ((TextContent) content).text());
        } else if (type == ImageContent.class) {
            ImageContent image = (ImageContent) content;
            json.with("type", "IMAGE")
                    .with("image", Media.json(image.image(), path.field("image")))
                    .with("detailLevel", image.detailLevel().name());
        } else if (type == AudioContent.class) {
            JsonPath place = path.field("audio");
            json.with("type", "AUDIO")
                    .with("audio", Media.json(needed(((AudioContent) content).audio(), place), place));
        } else if (type == VideoContent.class) {
            JsonPath place = path.field("video");
            json.with("type", "VIDEO")
                    .with("video", Media.json(needed(((VideoContent) content).video(), place), place));
        } else if (type == PdfFileContent.class) {
            JsonPath place = path.field("pdfFile");
            json.with("type", "PDF")
                    .with("pdfFile", Media.json(needed(((PdfFileContent) content).pdfFile(), place), place));
        } else {
            throw new InvalidInputException(
                    path.toString(), "is of a class that cannot be stored without loss: " + type.getTypeName());
        }
        return json;
    }

    private static <T> T needed(@Nullable T value, JsonPath path) {
        if (value == null) {
            throw new InvalidInputException(path.toString(), "must not be null");
        }
        return value;
    }
}
