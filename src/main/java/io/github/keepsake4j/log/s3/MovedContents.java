package io.github.keepsake4j.log.s3;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.backend.MemoryTree.Payloads;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.SoftReference;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves large inline contents (images, sounds, videos and PDF files as base64) out of messages when they are encoded, and
 * puts them back when they are decoded. Each content is an object beside the document, and the message has a mark that
 * is not base64. The object's name is the hash of the epoch and the content. So the same content is stored once for
 * each memory, and an erasure, which removes the contents of its epoch, never removes those of the next one.
 */
final class MovedContents {

    private static final Logger LOG = LoggerFactory.getLogger(MovedContents.class);

    private static final String PREFIX = "keepsake-content:";
    private static final Pattern MARK = Pattern.compile(PREFIX + "([0-9a-f]{64})");
    private static final int RECENT = 64;

    private final Bucket bucket;
    private final ObjectNames names;
    private final long above;
    private final RecentlyUsed<String, SoftReference<String>> recent = new RecentlyUsed<>(RECENT);

    /**
     * Makes a mover.
     *
     * @param above the largest number of characters of base64 that stay in a message; {@link Long#MAX_VALUE} to move
     * nothing
     */
    MovedContents(Bucket bucket, ObjectNames names, long above) {
        this.bucket = bucket;
        this.names = names;
        this.above = above;
    }

    /** Returns payloads of a memory that is only read: contents are put back, and none is moved. */
    Payloads payloads(MemoryKey key) {
        return payloads(key, Element::encode);
    }

    private Payloads payloads(MemoryKey key, Function<Row, String> encode) {
        return new Payloads(encode, payload -> mapped(Element.decode(payload), base64 -> restored(key, base64)), true);
    }

    /**
     * Returns payloads of a memory that is changed.
     *
     * @param epoch the memory's epoch
     * @param moved receives the moved contents, by the names of their objects. They must be stored before the document,
     * so that a mark always names an existing object
     */
    Payloads payloads(MemoryKey key, long epoch, Map<String, byte[]> moved) {
        return above == Long.MAX_VALUE
                ? payloads(key)
                : payloads(key, row -> Element.encode(mapped(row, base64 -> moved(key, epoch, base64, moved))));
    }

    private String moved(MemoryKey key, long epoch, String base64, Map<String, byte[]> moved) {
        if (base64.length() <= above) {
            return base64;
        }
        String hash = Ids.sha256(epoch + ":" + base64);
        String name = name(key, hash);
        moved.put(name, base64.getBytes(StandardCharsets.UTF_8));
        recent.put(name, new SoftReference<>(base64));
        return PREFIX + hash;
    }

    /** Returns the content for a mark, or null if it no longer exists. Other texts are returned unchanged. */
    private @Nullable String restored(MemoryKey key, String base64) {
        Matcher mark = MARK.matcher(base64);
        if (!mark.matches()) {
            return base64;
        }
        String name = name(key, mark.group(1));
        SoftReference<String> known = recent.get(name);
        String content = known == null ? null : known.get();
        if (content == null
                && bucket.get("Memory " + key, name, null) instanceof Bucket.Content found
                && found.problem() == null) {
            content = new String(found.bytes(), StandardCharsets.UTF_8);
            recent.put(name, new SoftReference<>(content));
        }
        if (content == null) {
            LOG.warn("Memory {}: a content that was moved out of a message is missing; a placeholder is shown", key);
        }
        return content;
    }

    /** Returns the names of the objects of all contents that were moved out of a stored message. */
    List<String> objects(String document, String payload) {
        return MARK.matcher(payload)
                .results()
                .map(mark -> names.content(document, mark.group(1)))
                .toList();
    }

    private String name(MemoryKey key, String hash) {
        return names.content(names.document(key), hash);
    }

    private static Row mapped(Row row, Function<String, @Nullable String> mapping) {
        Asked asked = row.asked();
        UserMessage later = asked == null ? null : asked.later();
        return new Row(
                mapped(row.message(), mapping),
                null,
                asked == null || later == null
                        ? asked
                        : asked.withLater((UserMessage) mapped(later, mapping), asked.sentTokens()));
    }

    /** Maps each base64 of a message; null becomes a placeholder. */
    private static ChatMessage mapped(ChatMessage message, Function<String, @Nullable String> mapping) {
        if (message instanceof UserMessage user) {
            return user.toBuilder().contents(mapped(user.contents(), mapping)).build();
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return result.toBuilder()
                    .contents(mapped(result.contents(), mapping))
                    .build();
        }
        return message;
    }

    private static List<Content> mapped(List<Content> contents, Function<String, @Nullable String> mapping) {
        return contents.stream().map(content -> mapped(content, mapping)).toList();
    }

    private static Content mapped(Content content, Function<String, @Nullable String> mapping) {
        InlineContent inline = InlineContent.of(content);
        if (inline == null || inline.base64() == null) {
            return content;
        }
        String base64 = mapping.apply(inline.base64());
        if (base64 == null) {
            return TextContent.from("[" + content.type().name().toLowerCase(Locale.ROOT) + ": not available]");
        }
        return base64.equals(inline.base64()) ? content : inline.with().apply(base64);
    }
}
