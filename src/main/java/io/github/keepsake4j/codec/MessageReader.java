package io.github.keepsake4j.codec;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads one message from its JSON object. Only known fields are looked up, so all other fields are ignored. */
record MessageReader(JsonFields json) {

    ChatMessage read() {
        return switch (json.neededText("type")) {
            case "SYSTEM" -> system();
            case "USER" ->
                UserMessage.builder()
                        .name(json.text("name"))
                        .contents(contents())
                        .attributes(attributes())
                        .build();
            case "AI" ->
                AiMessage.builder()
                        .text(json.text("text"))
                        .thinking(json.text("thinking"))
                        .toolExecutionRequests(toolExecutionRequests())
                        .attributes(attributes())
                        .build();
            case "TOOL_EXECUTION_RESULT" ->
                ToolExecutionResultMessage.builder()
                        .id(json.text("id"))
                        .toolName(json.text("toolName"))
                        .contents(contents())
                        .isError(json.flag("isError"))
                        .attributes(attributes())
                        .build();
            case "CUSTOM" -> CustomMessage.from(attributes());
            default -> new UnknownMessage(nonNullView(json.values()));
        };
    }

    private SystemMessage system() {
        String text = json.neededText("text");
        // LangChain4j's constructor trims the text. isBlank() would refuse a text of wide spaces, which the constructor
        // accepts.
        if (text.trim().isEmpty()) {
            throw json.wrong("text", "is blank, but a system message must have text");
        }
        return SystemMessage.from(text);
    }

    /** Reads the contents. LangChain4j's older JSON has a single text instead of contents. */
    private List<Content> contents() {
        if (!json.has("contents")) {
            return List.of(TextContent.from(json.neededText("text")));
        }
        List<JsonFields> items = json.objects("contents");
        if (items.isEmpty()) {
            throw json.wrong("contents", "is empty");
        }
        return items.stream().map(MessageReader::content).toList();
    }

    private static Content content(JsonFields json) {
        String type = json.neededText("type");
        return switch (type) {
            case "TEXT" -> TextContent.from(json.neededText("text"));
            case "IMAGE" ->
                ImageContent.from(Media.readImage(json.neededObject("image")), detailLevel(json.text("detailLevel")));
            case "AUDIO" -> AudioContent.from(Media.readAudio(json.neededObject("audio")));
            case "VIDEO" -> VideoContent.from(Media.readVideo(json.neededObject("video")));
            case "PDF" -> PdfFileContent.from(Media.readPdfFile(json.neededObject("pdfFile")));
            default -> TextContent.from("[unsupported content: " + JsonPath.printable(type) + "]");
        };
    }

    /**
     * Returns the detail level of a name. A missing name means LangChain4j's own default. For the level of a newer
     * version, the choice is left to the model.
     */
    private static DetailLevel detailLevel(@Nullable String name) {
        if (name == null) {
            return DetailLevel.LOW;
        }
        return Stream.of(DetailLevel.values())
                .filter(level -> level.name().equals(name))
                .findFirst()
                .orElse(DetailLevel.AUTO);
    }

    private List<ToolExecutionRequest> toolExecutionRequests() {
        return json.objects("toolExecutionRequests").stream()
                .map(request -> ToolExecutionRequest.builder()
                        .id(request.text("id"))
                        .name(request.text("name"))
                        .arguments(request.text("arguments"))
                        .build())
                .toList();
    }

    private Map<String, Object> attributes() {
        JsonFields attributes = json.object("attributes");
        if (attributes == null) {
            return Map.of();
        }
        // JSON without a version is LangChain4j's own, which has no tagged attributes.
        return nonNullView(
                json.has("v") ? AttributeReader.read(attributes.values(), json.at("attributes")) : attributes.values());
    }

    /**
     * Returns the map under the type that LangChain4j's signatures use. LangChain4j's maps may contain nulls, but its
     * signatures do not say so.
     */
    @SuppressWarnings({"unchecked", "NullAway"})
    private static Map<String, Object> nonNullView(Map<String, @Nullable Object> map) {
        return (Map<String, Object>) (Map<?, ?>) map;
    }
}
