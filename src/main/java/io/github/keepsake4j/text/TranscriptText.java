package io.github.keepsake4j.text;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts messages to text for a summarizer. Each message begins at the margin with its speaker. All its further lines
 * are indented, so that no text can pretend to begin another message. Media are named, never inlined.
 */
public final class TranscriptText {

    private static final int MAX_NAME = 80;
    private static final int MAX_ARGUMENTS = 500;

    private static final Pattern LINE_BREAK = Pattern.compile("\\R");
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}&&[^\\n\\t]]");
    private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");
    private static final Pattern DATA_URI =
            Pattern.compile("data:([\\w.+-]++/[\\w.+-]++)?+[^,\\s]{0,100};base64,[\\w+/=%-]++");

    private TranscriptText() {}

    /**
     * Returns the messages as text. System messages are left out, because they are not part of the conversation.
     *
     * @param messages the messages
     * @param maxToolResult the maximum number of characters of a tool result
     * @return a text for each message
     */
    public static List<String> of(List<ChatMessage> messages, int maxToolResult) {
        return messages.stream()
                .filter(message -> !(message instanceof SystemMessage))
                .map(message -> entry(message, maxToolResult))
                .toList();
    }

    /** Returns a text in the form in which it may follow a label. */
    static String inside(String text) {
        return clean(text).replace("\n", "\n  ");
    }

    /**
     * Returns a text without control characters, unpaired surrogates and inlined data.
     *
     * @param text any text
     * @return the text that can be shown and stored
     */
    public static String clean(String text) {
        String lines = LINE_BREAK.matcher(text).replaceAll("\n");
        String plain =
                LONE_SURROGATE.matcher(CONTROL.matcher(lines).replaceAll(" ")).replaceAll("\uFFFD");
        return DATA_URI.matcher(plain).replaceAll(uri -> {
            String type = uri.group(1);
            return type == null ? "[data]" : "[data: " + type.replace("$", "") + "]";
        });
    }

    private static String entry(ChatMessage message, int maxToolResult) {
        if (message instanceof UserMessage user) {
            String name = user.name();
            String label = name == null || name.isBlank() ? "User: " : "User " + name(name) + ": ";
            return label + inside(contents(user.contents()));
        }
        if (message instanceof AiMessage ai) {
            return "Assistant: " + inside(answer(ai));
        }
        if (message instanceof ToolExecutionResultMessage result) {
            String failed = Boolean.TRUE.equals(result.isError()) ? " (error)" : "";
            return "Result of " + name(result.toolName()) + failed + ": "
                    + inside(TextShortener.ofChars(clean(contents(result.contents())), maxToolResult));
        }
        return "[a message of type " + message.type().name().toLowerCase(Locale.ROOT) + "]";
    }

    private static String answer(AiMessage ai) {
        List<String> parts = new ArrayList<>();
        if (ai.text() != null && !ai.text().isBlank()) {
            parts.add(ai.text());
        }
        if (ai.attributes().get(AiMessage.GENERATED_IMAGES_KEY) instanceof List<?> images) {
            for (Object image : images) {
                parts.add(image instanceof Image drawn ? image(drawn) : "[image]");
            }
        }
        for (ToolExecutionRequest call : ai.toolExecutionRequests()) {
            String arguments = call.arguments() == null ? "" : clean(call.arguments());
            parts.add("[calls " + name(call.name()) + ": " + TextShortener.ofChars(arguments, MAX_ARGUMENTS) + "]");
        }
        return String.join("\n", parts);
    }

    private static String contents(List<Content> contents) {
        return contents.stream().map(TranscriptText::content).collect(Collectors.joining("\n"));
    }

    private static String content(Content content) {
        if (content instanceof TextContent text) {
            return text.text();
        }
        if (content instanceof ImageContent image) {
            return image(image.image());
        }
        if (content instanceof AudioContent audio) {
            return medium("audio", audio.audio().url(), audio.audio().mimeType());
        }
        if (content instanceof VideoContent video) {
            return medium("video", video.video().url(), video.video().mimeType());
        }
        if (content instanceof PdfFileContent pdf) {
            return medium("pdf", pdf.pdfFile().url(), pdf.pdfFile().mimeType());
        }
        return "[" + content.type().name().toLowerCase(Locale.ROOT) + "]";
    }

    private static String image(Image image) {
        return medium("image", image.url(), image.mimeType());
    }

    /**
     * Only the last part of the path is named. The rest of a URL may grant access, and a data URL contains the medium
     * itself.
     */
    private static String medium(String kind, @Nullable URI url, @Nullable String mimeType) {
        String path = url == null || url.isOpaque() || url.getPath() == null ? "" : url.getPath();
        String file = path.substring(path.lastIndexOf('/') + 1);
        String shown = !file.isBlank() ? file : mimeType;
        return shown == null || shown.isBlank() ? "[" + kind + "]" : "[" + kind + ": " + name(shown) + "]";
    }

    /** Returns a short name on one line that cannot close the brackets around it. */
    private static String name(@Nullable String name) {
        if (name == null) {
            return "?";
        }
        String line = clean(name).replaceAll("[\\s:\\[\\]]+", " ").strip();
        return TextShortener.ofChars(line, MAX_NAME);
    }
}
