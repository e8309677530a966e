package io.github.keepsake4j.log.s3;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.text.MessageText;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of a message that a plain reader sees. A message's references to files are its attribute {@code files}, a list of
 * maps with the fields of the document.
 *
 * @param role the role's name
 * @param content its text, maybe empty
 * @param files references to files, as JSON
 */
record PlainMessage(String role, String content, String files) {

    static final String NO_FILES = "[]";

    private static final String FILES = "files";
    private static final TypeReference<List<Object>> LIST = new TypeReference<>() {};

    static PlainMessage of(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return new PlainMessage("system", system.text(), NO_FILES);
        }
        if (message instanceof UserMessage user) {
            return new PlainMessage(
                    "user",
                    MessageText.of(user.contents()),
                    files(user.attributes().get(FILES), user.contents(), "user"));
        }
        if (message instanceof AiMessage ai) {
            String text = ai.text() == null ? "" : ai.text();
            return new PlainMessage("assistant", text, files(ai.attributes().get(FILES), List.of(), "assistant"));
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return new PlainMessage(
                    "tool",
                    MessageText.of(result.contents()),
                    files(result.attributes().get(FILES), result.contents(), "tool"));
        }
        return new PlainMessage("custom", "", NO_FILES);
    }

    /**
     * Returns the type of a message. A model does not see a message of an unknown role or a blank system message,
     * because LangChain4j has none.
     */
    static ChatMessageType type(String role, String content) {
        return switch (role) {
            case "system" -> content.isBlank() ? ChatMessageType.CUSTOM : ChatMessageType.SYSTEM;
            case "user" -> ChatMessageType.USER;
            case "assistant" -> ChatMessageType.AI;
            case "tool" -> ChatMessageType.TOOL_EXECUTION_RESULT;
            default -> ChatMessageType.CUSTOM;
        };
    }

    /** Returns the message of a program that writes only these fields. */
    ChatMessage toMessage() {
        return switch (type(role, content)) {
            case SYSTEM -> SystemMessage.from(content);
            case USER ->
                UserMessage.builder()
                        .addContent(TextContent.from(content))
                        .attributes(attributes())
                        .build();
            case AI ->
                AiMessage.builder().text(content).attributes(attributes()).build();
            case TOOL_EXECUTION_RESULT ->
                ToolExecutionResultMessage.builder()
                        .contents(List.of(TextContent.from(content)))
                        .attributes(attributes())
                        .build();
            default -> {
                Map<String, Object> fields = attributes();
                fields.put("type", role);
                fields.put("content", content);
                yield new UnknownMessage(fields);
            }
        };
    }

    /** Returns whether two messages are equal, regardless of the formatting of their files' JSON. */
    boolean says(PlainMessage other) {
        return role.equals(other.role)
                && content.equals(other.content)
                && (files.equals(other.files) || references().equals(other.references()));
    }

    private Map<String, Object> attributes() {
        Map<String, Object> attributes = new LinkedHashMap<>();
        List<Object> references = references();
        if (!references.isEmpty()) {
            attributes.put(FILES, references);
        }
        return attributes;
    }

    private List<Object> references() {
        try {
            return files.equals(NO_FILES) ? List.of() : RawJson.MAPPER.readValue(files, LIST);
        } catch (JsonProcessingException e) {
            throw new UnreadableDataException("its files are not JSON" + RawJson.place(e), null);
        }
    }

    /** Returns the message's references, and references to those of its contents that have a URL. */
    private static String files(@Nullable Object attribute, List<Content> contents, String belongsTo) {
        List<Object> files = new ArrayList<>();
        if (attribute instanceof List<?> list && list.stream().allMatch(file -> file instanceof Map && isJson(file))) {
            files.addAll(list);
        }
        for (Content content : contents) {
            InlineContent inline = InlineContent.of(content);
            URI url = inline == null ? null : inline.url();
            if (url != null) {
                Map<String, Object> file = new LinkedHashMap<>();
                file.put(
                        "type",
                        content instanceof PdfFileContent
                                ? "document"
                                : content.type().name().toLowerCase(Locale.ROOT));
                file.put("transfer_method", "remote_url");
                file.put("url", url.toString());
                file.put("belongs_to", belongsTo);
                files.add(file);
            }
        }
        return files.isEmpty() ? NO_FILES : RawJson.write(files);
    }

    /** Returns whether a value can be written as JSON and read back unchanged. */
    private static boolean isJson(@Nullable Object value) {
        if (value instanceof List<?> list) {
            return list.stream().allMatch(PlainMessage::isJson);
        }
        if (value instanceof Map<?, ?> map) {
            return map.keySet().stream().allMatch(String.class::isInstance)
                    && map.values().stream().allMatch(PlainMessage::isJson);
        }
        return value == null
                || value instanceof String
                || value instanceof Boolean
                || value instanceof Integer
                || (value instanceof Double number && Double.isFinite(number));
    }
}
