package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.codec.MessageCodec;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Between Java's text and bytes. */
final class Text {

    static final MessageCodec CODEC = new MessageCodec();

    private Text() {}

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String of(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * An id to look up. An id that no memory can contain becomes one that no memory contains, so that it never matches
     * another id.
     */
    static String id(String id) {
        return id.indexOf('\0') < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(id)
                ? id
                : '\0' + CODEC.encodeText(id);
    }

    /** A time as text that has the same order as the time: seconds and microseconds in hexadecimal. */
    static String stamp(Instant time) {
        return String.format("%016x%05x", time.getEpochSecond() ^ Long.MIN_VALUE, time.getNano() / 1_000);
    }

    static Instant ofStamp(String stamp) {
        long seconds = Long.parseUnsignedLong(stamp.substring(0, 16), 16) ^ Long.MIN_VALUE;
        return Instant.ofEpochSecond(seconds, Integer.parseInt(stamp.substring(16), 16) * 1_000L);
    }

    static String hex(long number) {
        return String.format("%016x", number);
    }
}
