package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.message.VideoContent;
import dev.langchain4j.data.pdf.PdfFile;
import dev.langchain4j.data.video.Video;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Large inline contents (images, sounds, videos and PDF files as base64), each in an object of its own beside the document.
 * The object is named by the hash of what it holds, so the same content is stored once for each memory, and whoever writes
 * it again writes the same. In the message stands a mark that is no base64. Erasing the memory erases them too.
 */
final class MovedContents {

    private static final Logger LOG = LoggerFactory.getLogger(MovedContents.class);

    private static final Pattern MARK = Pattern.compile("keepsake-content:([0-9a-f]{64})");

    /** Each of them is large, and they go when the heap gets tight. */
    private static final int RECENT = 64;

    private final Bucket bucket;
    private final ObjectNames names;
    private final long above;
    private final Recent<String> recent = new Recent<>(RECENT);

    /**
     * Moves what is larger than a size.
     *
     * @param above how many characters of base64 stay in the message
     */
    MovedContents(Bucket bucket, ObjectNames names, long above) {
        this.bucket = bucket;
        this.names = names;
        this.above = above;
    }

    /** The append with marks in place of large contents, which are written before: a mark always stands for something. */
    Append move(MemoryKey key, Append append) {
        if (above == Long.MAX_VALUE) {
            return append;
        }
        Change move = base64 -> base64.length() <= above ? base64 : moved(key, base64);
        List<NewMessage> messages = append.messages().stream()
                .map(one -> new NewMessage(
                        one.id(), mapped(one.message(), move), one.tokens(), one.tokenCounter(), one.createdAt()))
                .toList();
        return new Append(
                append.parent(), messages, append.expected(), append.epoch(), append.view(), append.importing());
    }

    Tail restore(MemoryKey key, Tail tail) {
        return new Tail(
                tail.head(),
                tail.epoch(),
                tail.revision(),
                restore(key, tail.messages()),
                restore(key, tail.oldest()),
                restore(key, tail.system()),
                restore(key, tail.user()),
                tail.view(),
                tail.summary(),
                tail.complete(),
                tail.missingParent());
    }

    List<LoggedMessage> restore(MemoryKey key, List<LoggedMessage> messages) {
        return messages.stream().map(message -> restored(key, message)).toList();
    }

    private @Nullable LoggedMessage restore(MemoryKey key, @Nullable LoggedMessage message) {
        return message == null ? null : restored(key, message);
    }

    private LoggedMessage restored(MemoryKey key, LoggedMessage logged) {
        ChatMessage message = mapped(logged.message(), base64 -> restored(key, base64));
        return message == logged.message()
                ? logged
                : new LoggedMessage(
                        logged.id(),
                        logged.parentId(),
                        logged.sequence(),
                        message,
                        logged.tokens(),
                        logged.tokenCounter(),
                        logged.createdAt());
    }

    private String moved(MemoryKey key, String base64) {
        String hash = hash(base64);
        String name = name(key, hash);
        // Even if it was there a moment ago: another process may have erased the memory.
        bucket.put("Memory " + key, name, base64.getBytes(StandardCharsets.UTF_8));
        recent.put(name, base64);
        return "keepsake-content:" + hash;
    }

    /** What a mark stands for; null if it is not there any more, and anything else as it is. */
    private @Nullable String restored(MemoryKey key, String base64) {
        Matcher mark = MARK.matcher(base64);
        if (!mark.matches()) {
            return base64;
        }
        String name = name(key, mark.group(1));
        String known = recent.get(name);
        if (known != null) {
            return known;
        }
        if (bucket.get("Memory " + key, name, null) instanceof Bucket.Content content) {
            String found = new String(content.bytes(), StandardCharsets.UTF_8);
            recent.put(name, found);
            return found;
        }
        LOG.warn("Memory {}: a content that was moved out of a message is not there; a placeholder is shown", key);
        return null;
    }

    private String name(MemoryKey key, String hash) {
        return ObjectNames.content(names.document(key), hash);
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Maps base64 to other base64; null makes a placeholder. The same message if nothing changes. */
    @FunctionalInterface
    private interface Change {
        @Nullable
        String of(String base64);
    }

    private static ChatMessage mapped(ChatMessage message, Change change) {
        if (message instanceof UserMessage user) {
            List<Content> contents = mapped(user.contents(), change);
            return contents.equals(user.contents())
                    ? message
                    : user.toBuilder().contents(contents).build();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            List<Content> contents = mapped(result.contents(), change);
            return contents.equals(result.contents())
                    ? message
                    : result.toBuilder().contents(contents).build();
        }
        return message;
    }

    private static List<Content> mapped(List<Content> contents, Change change) {
        return contents.stream().map(content -> mapped(content, change)).toList();
    }

    private static Content mapped(Content content, Change change) {
        String before = base64(content);
        if (before == null) {
            return content;
        }
        String base64 = change.of(before);
        if (base64 == null) {
            return TextContent.from("[" + content.type().name().toLowerCase(Locale.ROOT) + ": not available]");
        }
        return base64.equals(before) ? content : with(content, base64);
    }

    private static @Nullable String base64(Content content) {
        if (content instanceof ImageContent image) {
            return image.image().base64Data();
        }
        if (content instanceof AudioContent audio) {
            return audio.audio().base64Data();
        }
        if (content instanceof VideoContent video) {
            return video.video().base64Data();
        }
        return content instanceof PdfFileContent pdf ? pdf.pdfFile().base64Data() : null;
    }

    private static Content with(Content content, String base64) {
        if (content instanceof ImageContent of) {
            Image image = of.image();
            return ImageContent.from(
                    Image.builder()
                            .url(image.url())
                            .base64Data(base64)
                            .mimeType(image.mimeType())
                            .revisedPrompt(image.revisedPrompt())
                            .build(),
                    of.detailLevel());
        }
        if (content instanceof AudioContent of) {
            Audio audio = of.audio();
            return AudioContent.from(Audio.builder()
                    .url(audio.url())
                    .binaryData(audio.binaryData())
                    .base64Data(base64)
                    .mimeType(audio.mimeType())
                    .build());
        }
        if (content instanceof VideoContent of) {
            Video video = of.video();
            return VideoContent.from(Video.builder()
                    .url(video.url())
                    .base64Data(base64)
                    .mimeType(video.mimeType())
                    .build());
        }
        PdfFile pdf = ((PdfFileContent) content).pdfFile();
        return PdfFileContent.from(PdfFile.builder()
                .url(pdf.url())
                .base64Data(base64)
                .mimeType(pdf.mimeType())
                .build());
    }
}
