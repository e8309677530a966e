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
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
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

    private static final String PREFIX = "keepsake-content:";
    private static final Pattern MARK = Pattern.compile(PREFIX + "([0-9a-f]{64})");

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
        return with(
                append,
                append.messages().stream()
                        .map(one -> with(one, mapped(one.message(), move)))
                        .toList());
    }

    /**
     * The append with messages that are stored already as they are stored: another process, or this one before it was
     * configured anew, may have moved other contents of the same message.
     *
     * @param moved what {@link #move} made of it
     * @param stored all that is stored
     * @return equal to {@code moved} if it makes no difference
     */
    Append asStored(MemoryKey key, Append append, Append moved, Supplier<State> stored) {
        if (append.messages().stream().noneMatch(one -> holdsContent(one.message()))) {
            return moved;
        }
        Map<String, Entry> byId = new HashMap<>();
        stored.get().entries().forEach(entry -> byId.put(entry.id(), entry));
        List<NewMessage> messages = new ArrayList<>();
        for (int i = 0; i < append.messages().size(); i++) {
            NewMessage sent = append.messages().get(i);
            Entry there = byId.get(sent.id());
            messages.add(
                    there != null && isStoredAs(key, sent, there)
                            ? with(sent, decoded(there))
                            : moved.messages().get(i));
        }
        return with(append, messages);
    }

    private boolean isStoredAs(MemoryKey key, NewMessage sent, Entry there) {
        return mapped(decoded(there), base64 -> restored(key, base64)).equals(sent.message());
    }

    private static ChatMessage decoded(Entry entry) {
        return Element.PAYLOADS.decode().apply(entry.payload());
    }

    /**
     * Removes what was moved out of messages that an erasure then refused: it may have looked for contents before they were
     * there.
     *
     * @param refused what was refused
     * @param stored what is stored now, whose contents stay
     */
    void removeRefused(MemoryKey key, List<Append> refused, Supplier<State> stored) {
        Set<String> marks = new LinkedHashSet<>();
        for (Append append : refused) {
            append.messages()
                    .forEach(one -> mapped(one.message(), base64 -> {
                        if (MARK.matcher(base64).matches()) {
                            marks.add(base64);
                        }
                        return base64;
                    }));
        }
        if (marks.isEmpty()) {
            return;
        }
        try {
            for (Entry entry : stored.get().entries()) {
                marks.removeIf(entry.payload()::contains);
            }
            for (String mark : marks) {
                bucket.delete("Memory " + key, name(key, mark.substring(PREFIX.length())));
            }
        } catch (KeepsakeException e) {
            LOG.warn("Memory {}: contents of refused messages could not be removed; erase it again", key, e);
        }
    }

    Tail restore(MemoryKey key, Tail tail) {
        return new Tail(
                tail.position(),
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
        return logged.withMessage(mapped(logged.message(), base64 -> restored(key, base64)));
    }

    private String moved(MemoryKey key, String base64) {
        String hash = ObjectNames.hash(base64);
        String name = name(key, hash);
        byte[] bytes = base64.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > bucket.maxBytes()) {
            throw new InvalidInputException(
                    "messages",
                    "hold a content for memory " + key + " that is larger than the limit of " + bucket.maxBytes()
                            + " bytes; nothing was appended");
        }
        // Even if it was there a moment ago: another process may have erased the memory.
        bucket.put("Memory " + key, name, bytes);
        recent.put(name, base64);
        return PREFIX + hash;
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

    /** The hashes of the contents that were moved out of a stored message. */
    static List<String> hashes(String payload) {
        return MARK.matcher(payload).results().map(mark -> mark.group(1)).toList();
    }

    private static NewMessage with(NewMessage of, ChatMessage message) {
        return new NewMessage(of.id(), message, of.tokens(), of.tokenCounter(), of.createdAt());
    }

    private static Append with(Append of, List<NewMessage> messages) {
        return new Append(of.parent(), messages, of.epoch(), of.revision(), of.expected(), of.view(), of.importing());
    }

    private String name(MemoryKey key, String hash) {
        return ObjectNames.content(names.document(key), hash);
    }

    /** Maps base64 to other base64; null makes a placeholder. The same message if nothing changes. */
    @FunctionalInterface
    private interface Change {
        @Nullable
        String of(String base64);
    }

    private static boolean holdsContent(ChatMessage message) {
        boolean[] holds = new boolean[1];
        mapped(message, base64 -> {
            holds[0] = true;
            return base64;
        });
        return holds[0];
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
