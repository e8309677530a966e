package io.github.keepsake4j.component;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.MessageCodec;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Converts messages to and from the JSON of OpenAI's API: {@code role}, {@code content}, {@code tool_calls}. Pure
 * functions.
 */
final class MessageJson {

    private static final String DATA = "data:";
    private static final String BASE64 = ";base64,";
    private static final MessageCodec CODEC = new MessageCodec();

    private MessageJson() {}

    // ---- reading

    static ChatMessage read(JsonFields json) {
        String role = json.neededText("role");
        return switch (role) {
            case "user" -> user(json);
            case "assistant" -> assistant(json);
            case "system" -> system(json);
            case "tool" -> tool(json);
            default -> throw json.wrong("role", "must be user, assistant, system or tool");
        };
    }

    private static UserMessage user(JsonFields json) {
        json.only(Set.of("role", "content", "name"));
        return UserMessage.builder()
                .name(json.text("name"))
                .contents(contents(json))
                .build();
    }

    private static AiMessage assistant(JsonFields json) {
        json.only(Set.of("role", "content", "tool_calls"));
        List<ToolExecutionRequest> calls =
                json.objects("tool_calls").stream().map(MessageJson::call).toList();
        String text = json.has("content") || calls.isEmpty() ? text(json) : null;
        return AiMessage.builder().text(text).toolExecutionRequests(calls).build();
    }

    private static ToolExecutionRequest call(JsonFields json) {
        json.only(Set.of("id", "type", "function", "index"));
        if (json.has("type") && !"function".equals(json.text("type"))) {
            throw json.wrong("type", "must be \"function\"");
        }
        JsonFields function = json.neededObject("function");
        function.only(Set.of("name", "arguments"));
        return ToolExecutionRequest.builder()
                .id(json.neededText("id"))
                .name(function.neededText("name"))
                .arguments(function.neededText("arguments"))
                .build();
    }

    private static SystemMessage system(JsonFields json) {
        json.only(Set.of("role", "content"));
        String text = text(json);
        if (text.isBlank()) {
            throw json.wrong("content", "must not be blank");
        }
        return SystemMessage.from(text);
    }

    /** The name of the tool may be absent, as in OpenAI's JSON. Then the name of the call is used. */
    private static ToolExecutionResultMessage tool(JsonFields json) {
        json.only(Set.of("role", "content", "tool_call_id", "name"));
        return ToolExecutionResultMessage.builder()
                .id(json.neededText("tool_call_id"))
                .toolName(json.text("name"))
                .contents(contents(json))
                .build();
    }

    private static String text(JsonFields json) {
        StringBuilder text = new StringBuilder();
        List<Content> contents = contents(json);
        for (int i = 0; i < contents.size(); i++) {
            if (!(contents.get(i) instanceof TextContent part)) {
                throw json.wrong("content[" + i + "].type", "must be \"text\" in this role");
            }
            text.append(part.text());
        }
        return text.toString();
    }

    private static List<Content> contents(JsonFields json) {
        if (json.values().get("content") instanceof List<?>) {
            List<Content> parts =
                    json.objects("content").stream().map(MessageJson::part).toList();
            if (parts.isEmpty()) {
                throw json.wrong("content", "must not be empty");
            }
            return parts;
        }
        return List.of(TextContent.from(json.neededText("content")));
    }

    private static Content part(JsonFields json) {
        String type = json.neededText("type");
        if (type.equals("text")) {
            json.only(Set.of("type", "text"));
            return TextContent.from(json.neededText("text"));
        }
        if (type.equals("image_url")) {
            json.only(Set.of("type", "image_url"));
            JsonFields image = json.neededObject("image_url");
            image.only(Set.of("url", "detail"));
            return ImageContent.from(image(image), detail(image));
        }
        throw json.wrong("type", "must be \"text\" or \"image_url\"");
    }

    private static Image image(JsonFields json) {
        String url = json.neededText("url");
        int base64 = url.indexOf(BASE64);
        if (url.startsWith(DATA) && base64 > 0) {
            return Image.builder()
                    .mimeType(url.substring(DATA.length(), base64))
                    .base64Data(url.substring(base64 + BASE64.length()))
                    .build();
        }
        try {
            URI uri = new URI(url);
            if (uri.isAbsolute()) {
                return Image.builder().url(uri).build();
            }
        } catch (URISyntaxException e) {
            // The exception quotes the input, so it is not passed on.
            throw json.wrong("url", "is not a URL");
        }
        throw json.wrong("url", "must be an absolute URL, or a data URL in base64");
    }

    private static DetailLevel detail(JsonFields image) {
        String detail = image.text("detail");
        return detail == null
                ? DetailLevel.AUTO
                : Stream.of(DetailLevel.values())
                        .filter(level -> MemoryInput.name(level).equals(detail))
                        .findFirst()
                        .orElseThrow(() -> image.wrong("detail", "must be low, high or auto"));
    }

    // ---- writing

    static JsonObject write(ChatMessage message) {
        JsonObject json = new JsonObject();
        if (message instanceof UserMessage user) {
            return json.with("role", "user")
                    .with("content", content(user.contents()))
                    .withPresent("name", user.name());
        }
        if (message instanceof AiMessage ai) {
            List<JsonObject> calls =
                    ai.toolExecutionRequests().stream().map(MessageJson::write).toList();
            return json.with("role", "assistant")
                    .with("content", ai.text())
                    .withPresent("tool_calls", calls.isEmpty() ? null : calls);
        }
        if (message instanceof SystemMessage system) {
            return json.with("role", "system").with("content", system.text());
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return json.with("role", "tool")
                    .with("tool_call_id", result.id())
                    .withPresent("name", result.toolName())
                    .with("content", content(result.contents()));
        }
        // OpenAI's JSON has no form for it.
        return json.with("role", "custom").with("content", CODEC.encode(message));
    }

    private static JsonObject write(ToolExecutionRequest call) {
        JsonObject function =
                new JsonObject().with("name", text(call.name())).with("arguments", text(call.arguments()));
        return new JsonObject()
                .with("id", text(call.id()))
                .with("type", "function")
                .with("function", function);
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static Object content(List<Content> contents) {
        return contents.size() == 1 && contents.get(0) instanceof TextContent text
                ? text.text()
                : contents.stream().map(MessageJson::part).toList();
    }

    private static JsonObject part(Content content) {
        if (content instanceof ImageContent image) {
            JsonObject url = new JsonObject()
                    .with("url", url(image.image()))
                    .with("detail", MemoryInput.name(image.detailLevel()));
            return new JsonObject().with("type", "image_url").with("image_url", url);
        }
        return new JsonObject()
                .with("type", "text")
                .with(
                        "text",
                        content instanceof TextContent text
                                ? text.text()
                                : "[" + MemoryInput.name(content.type()) + "]");
    }

    private static String url(Image image) {
        return image.url() != null
                ? image.url().toString()
                : DATA + text(image.mimeType()) + BASE64 + text(image.base64Data());
    }
}
