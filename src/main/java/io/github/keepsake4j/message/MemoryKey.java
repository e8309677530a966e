package io.github.keepsake4j.message;

import java.nio.charset.StandardCharsets;

/**
 * The name of one memory: a tenant and the ids of its scope. Keys are values: equal ids give equal keys. Ids are data
 * (any Unicode, 1 to {@value Ids#MAX_BYTES} bytes of UTF-8 each, no NUL): they never become a path or SQL unescaped.
 */
public sealed interface MemoryKey permits ConversationKey, NodeKey {

    /**
     * Returns the tenant that the memory belongs to.
     *
     * @return the tenant's id
     */
    String tenant();

    /**
     * Returns the one text form of this key. Two keys have the same form only if they are equal; it holds ASCII
     * letters, digits, {@code - . _ ~ % /} only, so that it can stand in logs and errors. This form is stored (as a
     * hash), so it never changes.
     *
     * @return the scope and the percent-encoded ids, joined by {@code /}
     */
    String canonical();

    /**
     * Percent-encodes one id (RFC 3986: everything but unreserved characters, by its UTF-8 bytes).
     *
     * @param id an id that was checked
     * @return ASCII text that holds no {@code /}
     */
    static String encode(String id) {
        StringBuilder encoded = new StringBuilder(id.length() + 16);
        for (byte b : id.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            boolean unreserved = c < 128 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0);
            if (unreserved) {
                encoded.append(c);
            } else {
                encoded.append('%')
                        .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
                        .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
            }
        }
        return encoded.toString();
    }
}
