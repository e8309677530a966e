package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a memory lies in its bucket. Ids are percent-encoded, so that none of them can leave its place or meet another's;
 * what an encoding never holds ({@code !}) marks the hash that stands for names that are too long.
 *
 * @param prefix stands before every name; empty, or ends in a slash
 * @param defaultTenant the tenant whose names carry no tenant
 */
record ObjectNames(String prefix, String defaultTenant) {

    /** S3 allows 1,024 bytes; what lies beside a document has a longer name than the document. */
    private static final int MAX_LENGTH = 900;

    private static final int MAX_PREFIX = 300;
    private static final int MAX_TENANT = 300;
    private static final String SUFFIX = ".json";

    ObjectNames {
        Ids.check("defaultTenant", defaultTenant);
        if (prefix.getBytes(StandardCharsets.UTF_8).length > MAX_PREFIX) {
            throw new InvalidInputException("prefix", "is longer than " + MAX_PREFIX + " bytes of UTF-8");
        }
        if (!prefix.isEmpty() && !prefix.endsWith("/")) {
            prefix += "/";
        }
    }

    /** The document of a memory. */
    String document(MemoryKey key) {
        String root = key instanceof NodeKey ? nodes(key.tenant()) : conversations(key.tenant());
        String name = root + ids(key) + SUFFIX;
        return name.getBytes(StandardCharsets.UTF_8).length <= MAX_LENGTH
                ? name
                : root + "!" + hash(key.canonical()) + SUFFIX;
    }

    /** What an object with a document's cleared messages is called. */
    static String kept(String document, String id) {
        return besides(document) + "kept-" + id;
    }

    /** What an object with a content that was moved out of a document is called. */
    static String content(String document, String hash) {
        return besides(document) + "content-" + hash;
    }

    /** How the names of all objects beside a document begin; no document's name goes on like this, whatever its ids. */
    static String besides(String document) {
        return document + "!";
    }

    /** Whether a document's name says whose it is. */
    static boolean isHashed(String document) {
        return document.charAt(document.lastIndexOf('/') + 1) == '!';
    }

    /** Below these lie all documents of a tenant. */
    List<String> roots(String tenant) {
        return List.of(nodes(tenant), conversations(tenant));
    }

    /** Whether an object below a tenant's roots is a document of this log. */
    boolean isDocument(String tenant, String name) {
        return name.endsWith(SUFFIX) && (isHashed(name) || key(tenant, name) != null);
    }

    /** The memory that a name tells of, or null if it tells of none. */
    @Nullable
    MemoryKey key(String tenant, String name) {
        if (!name.endsWith(SUFFIX)) {
            return null;
        }
        try {
            MemoryKey key = decoded(tenant, name.substring(0, name.length() - SUFFIX.length()));
            return key != null && document(key).equals(name) ? key : null;
        } catch (IllegalArgumentException | InvalidInputException e) {
            return null;
        }
    }

    private @Nullable MemoryKey decoded(String tenant, String name) {
        if (name.startsWith(nodes(tenant))) {
            String[] ids = name.substring(nodes(tenant).length()).split("/", -1);
            return ids.length == 3 ? NodeKey.of(tenant, decode(ids[0]), decode(ids[1]), decode(ids[2])) : null;
        }
        return name.startsWith(conversations(tenant))
                ? ConversationKey.of(
                        tenant, decode(name.substring(conversations(tenant).length())))
                : null;
    }

    private String nodes(String tenant) {
        return tenantPart(tenant) + "node_memory/";
    }

    private String conversations(String tenant) {
        return tenantPart(tenant) + "conversation_memory/";
    }

    private String tenantPart(String tenant) {
        if (tenant.equals(defaultTenant)) {
            return prefix;
        }
        String encoded = encode(tenant);
        return prefix + "tenants/" + (encoded.length() <= MAX_TENANT ? encoded : "!" + hash(tenant)) + "/";
    }

    private static String ids(MemoryKey key) {
        return key instanceof NodeKey node
                ? encode(node.appId()) + "/" + encode(node.conversationId()) + "/" + encode(node.nodeId())
                : encode(((ConversationKey) key).conversationId());
    }

    /** An id of dots alone would be a step in a path. */
    private static String encode(String id) {
        String encoded = MemoryKey.encode(id);
        return encoded.chars().allMatch(c -> c == '.') ? encoded.replace(".", "%2E") : encoded;
    }

    /** Takes what {@link #encode} makes; of all else the caller finds that it encodes to something different. */
    private static String decode(String encoded) {
        byte[] bytes = new byte[encoded.length()];
        int length = 0;
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%' && i + 2 < encoded.length()) {
                bytes[length++] = (byte) HexFormat.fromHexDigits(encoded, i + 1, i + 3);
                i += 2;
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** SHA-256 in hexadecimal digits. */
    static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
