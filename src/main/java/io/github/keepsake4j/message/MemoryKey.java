package io.github.keepsake4j.message;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * The key of one memory: a tenant and the ids of its scope. Keys are values: keys with equal ids are equal. Each id is
 * arbitrary data (any Unicode text of 1 to {@value Ids#MAX_BYTES} bytes of UTF-8, without NUL) and is always escaped
 * before it becomes part of a path or of SQL.
 */
public sealed interface MemoryKey permits ConversationKey, NodeKey {

    /**
     * Returns the tenant that the memory belongs to.
     *
     * @return the tenant's id
     */
    String tenant();

    /**
     * Returns the canonical text form of this key. Two keys have the same form only if they are equal. The form
     * contains only ASCII letters, digits and {@code - . _ ~ % /}, so that it can be used in logs and error messages.
     * It is stored (as a hash), so it never changes.
     *
     * @return the scope and the percent-encoded ids, joined by {@code /}
     */
    String canonical();

    /**
     * Reads a canonical text form.
     *
     * @param canonical the form, as {@link #canonical()} returns it
     * @return the key
     * @throws InvalidInputException if it is not a canonical form, or an id in it breaks a rule
     */
    static MemoryKey parse(String canonical) {
        String[] ids = canonical.split("/", -1);
        for (int i = 1; i < ids.length; i++) {
            ids[i] = decode(ids[i]);
        }
        if (ids.length == 5 && ids[0].equals("node")) {
            return NodeKey.of(ids[1], ids[2], ids[3], ids[4]);
        }
        if (ids.length == 3 && ids[0].equals("conversation")) {
            return ConversationKey.of(ids[1], ids[2]);
        }
        throw new InvalidInputException(
                "key", "is not the canonical form of a key; pass a text that canonical() returned");
    }

    /** The JDK's decoder is for HTML forms, where a plus is a space. */
    private static String decode(String id) {
        try {
            return URLDecoder.decode(id.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new InvalidInputException(
                    "key", "is not the canonical form of a key; pass a text that canonical() returned");
        }
    }

    /**
     * Percent-encodes an id as in RFC 3986: every byte of its UTF-8 form that is not an unreserved character.
     *
     * @param id an id that was checked
     * @return ASCII text without {@code /}
     */
    static String encode(String id) {
        if (id.chars().allMatch(MemoryKey::isUnreserved)) {
            return id;
        }
        // The JDK's encoder is for HTML forms. It differs from RFC 3986 in these three characters.
        String form = URLEncoder.encode(id, StandardCharsets.UTF_8);
        return form.replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static boolean isUnreserved(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '.'
                || c == '_'
                || c == '~';
    }
}
