package io.github.keepsake4j.message;

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
     * Percent-encodes an id as in RFC 3986: every byte of its UTF-8 form that is not an unreserved character.
     *
     * @param id an id that was checked
     * @return ASCII text without {@code /}
     */
    static String encode(String id) {
        if (id.chars().allMatch(MemoryKey::isUnreserved)) {
            return id;
        }
        // The JDK encodes as HTML forms do, which differ from RFC 3986 in these three characters.
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
