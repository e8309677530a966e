package io.github.keepsake4j.codec;

import static io.github.keepsake4j.codec.Media.string;

import com.fasterxml.jackson.core.JsonGenerator;
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
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes one message. Classes are compared exactly, because a subclass would be read back as its parent class, without
 * the state that it added.
 */
final class MessageWriter {

    private final JsonGenerator out;

    MessageWriter(JsonGenerator out) {
        this.out = out;
    }

    void write(ChatMessage message) throws IOException {
        Class<?> type = message.getClass();
        if (type == UnknownMessage.class) {
            unknown((UnknownMessage) message);
            return;
        }
        out.writeStartObject();
        out.writeNumberField("v", MessageCodec.VERSION);
        if (type == SystemMessage.class) {
            out.writeStringField("type", "SYSTEM");
            out.writeStringField("text", ((SystemMessage) message).text());
        } else if (type == UserMessage.class) {
            user((UserMessage) message);
        } else if (type == AiMessage.class) {
            ai((AiMessage) message);
        } else if (type == ToolExecutionResultMessage.class) {
            toolResult((ToolExecutionResultMessage) message);
        } else if (type == CustomMessage.class) {
            out.writeStringField("type", "CUSTOM");
            attributes(((CustomMessage) message).attributes());
        } else {
            throw new InvalidInputException(
                    "message", "is of a class that cannot be stored without loss: " + type.getTypeName());
        }
        out.writeEndObject();
    }

    private void unknown(UnknownMessage message) throws IOException {
        if (!(message.attributes().get("type") instanceof String)) {
            throw new InvalidInputException("type", "must be a String in an unknown message");
        }
        AttributeWriter.plain(out).write(message.attributes(), null);
    }

    private void user(UserMessage message) throws IOException {
        out.writeStringField("type", "USER");
        string(out, "name", message.name());
        contents(message.contents());
        attributes(message.attributes());
    }

    private void ai(AiMessage message) throws IOException {
        out.writeStringField("type", "AI");
        string(out, "text", message.text());
        string(out, "thinking", message.thinking());
        if (message.hasToolExecutionRequests()) {
            toolExecutionRequests(message.toolExecutionRequests());
        }
        attributes(message.attributes());
    }

    private void toolExecutionRequests(List<ToolExecutionRequest> requests) throws IOException {
        out.writeArrayFieldStart("toolExecutionRequests");
        JsonPath path = JsonPath.of("toolExecutionRequests");
        for (int i = 0; i < requests.size(); i++) {
            ToolExecutionRequest request = needed(requests.get(i), path.index(i));
            out.writeStartObject();
            string(out, "id", request.id());
            string(out, "name", request.name());
            string(out, "arguments", request.arguments());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void toolResult(ToolExecutionResultMessage message) throws IOException {
        out.writeStringField("type", "TOOL_EXECUTION_RESULT");
        string(out, "id", message.id());
        string(out, "toolName", message.toolName());
        contents(message.contents());
        Boolean isError = message.isError();
        if (isError != null) {
            out.writeBooleanField("isError", isError);
        }
        attributes(message.attributes());
    }

    private void contents(List<Content> contents) throws IOException {
        out.writeArrayFieldStart("contents");
        JsonPath path = JsonPath.of("contents");
        for (int i = 0; i < contents.size(); i++) {
            Content content = needed(contents.get(i), path.index(i));
            out.writeStartObject();
            content(content, path.index(i));
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void content(Content content, JsonPath path) throws IOException {
        Class<?> type = content.getClass();
        if (type == TextContent.class) {
            out.writeStringField("type", "TEXT");
            out.writeStringField("text", ((TextContent) content).text());
        } else if (type == ImageContent.class) {
            ImageContent image = (ImageContent) content;
            out.writeStringField("type", "IMAGE");
            out.writeFieldName("image");
            Media.write(out, image.image(), path.field("image"));
            out.writeStringField("detailLevel", image.detailLevel().name());
        } else if (type == AudioContent.class) {
            out.writeStringField("type", "AUDIO");
            out.writeFieldName("audio");
            JsonPath place = path.field("audio");
            Media.write(out, needed(((AudioContent) content).audio(), place), place);
        } else if (type == VideoContent.class) {
            out.writeStringField("type", "VIDEO");
            out.writeFieldName("video");
            JsonPath place = path.field("video");
            Media.write(out, needed(((VideoContent) content).video(), place), place);
        } else if (type == PdfFileContent.class) {
            out.writeStringField("type", "PDF");
            out.writeFieldName("pdfFile");
            JsonPath place = path.field("pdfFile");
            Media.write(out, needed(((PdfFileContent) content).pdfFile(), place), place);
        } else {
            throw new InvalidInputException(
                    path.toString(), "is of a class that cannot be stored without loss: " + type.getTypeName());
        }
    }

    private void attributes(Map<String, Object> attributes) throws IOException {
        if (!attributes.isEmpty()) {
            out.writeFieldName("attributes");
            AttributeWriter.tagged(out).write(attributes, JsonPath.of("attributes"));
        }
    }

    private static <T> T needed(@Nullable T value, JsonPath path) {
        if (value == null) {
            throw new InvalidInputException(path.toString(), "must not be null");
        }
        return value;
    }
}
