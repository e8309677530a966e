package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The names of a memory's objects in its bucket. Ids are percent-encoded, so that no id can leave its place or meet another
 * memory's. A {@code !}, which no encoding holds, marks the hash that replaces a name that is too long.
 *
 * @param prefix the beginning of every name; empty, or ends in a slash
 * @param defaultTenant the tenant whose names carry no tenant
 */
record ObjectNames(String prefix, String defaultTenant) {

    /** S3 allows 1,024 bytes, and an object beside a document has a longer name than the document. */
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

    /** Returns the name of a memory's document. */
    String document(MemoryKey key) {
        String root = key instanceof NodeKey ? nodes(key.tenant()) : conversations(key.tenant());
        String name = root + ids(key) + SUFFIX;
        return name.getBytes(StandardCharsets.UTF_8).length <= MAX_LENGTH
                ? name
                : root + "!" + hash(key.canonical()) + SUFFIX;
    }

    /** Returns the name of an object with a document's cleared messages. */
    static String kept(String document, String id) {
        return besides(document) + "kept-" + id;
    }

    /** Returns the name of an object with a content that was moved out of a document. */
    static String content(String document, String hash) {
        return besides(document) + "content-" + hash;
    }

    /** Returns the beginning of the names of all objects beside a document. No document's name begins like this. */
    static String besides(String document) {
        return document + "!";
    }

    /** Tells whether a document's name is a hash, which does not tell the memory's ids. */
    static boolean isHashed(String document) {
        return document.charAt(document.lastIndexOf('/') + 1) == '!';
    }

    /** Returns the beginnings of the names of all documents of a tenant. */
    List<String> roots(String tenant) {
        return List.of(nodes(tenant), conversations(tenant));
    }

    /** Tells whether an object below a tenant's roots is a document of this log. */
    boolean isDocument(String tenant, String name) {
        return name.endsWith(SUFFIX) && (isHashed(name) || key(tenant, name) != null);
    }

    /** Returns the memory that a name tells of, or null if it tells of none. */
    @Nullable
    MemoryKey key(String tenant, String name) {
        String scope = name.startsWith(nodes(tenant)) ? "node/" : "conversation/";
        String root = name.startsWith(nodes(tenant)) ? nodes(tenant) : conversations(tenant);
        if (!name.startsWith(root) || !name.endsWith(SUFFIX)) {
            return null;
        }
        String ids = name.substring(root.length(), name.length() - SUFFIX.length());
        try {
            MemoryKey key = parse(scope + MemoryKey.encode(tenant) + "/" + ids);
            return document(key).equals(name) ? key : null;
        } catch (IllegalArgumentException | InvalidInputException e) {
            return null;
        }
    }

    /**
     * Returns the memory of a key's canonical form.
     *
     * @throws IllegalArgumentException if it is not one
     * @throws InvalidInputException if it holds an id that is not allowed
     */
    static MemoryKey parse(String canonical) {
        String[] ids = canonical.split("/", -1);
        for (int i = 1; i < ids.length; i++) {
            // The JDK decodes as HTML forms do, where a plus is a space.
            ids[i] = URLDecoder.decode(ids[i].replace("+", "%2B"), StandardCharsets.UTF_8);
        }
        if (ids.length == 5 && ids[0].equals("node")) {
            return NodeKey.of(ids[1], ids[2], ids[3], ids[4]);
        }
        if (ids.length == 3 && ids[0].equals("conversation")) {
            return ConversationKey.of(ids[1], ids[2]);
        }
        throw new IllegalArgumentException("no canonical form of a key");
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

    /** Encodes an id. One of dots alone would be a step in a path. */
    private static String encode(String id) {
        String encoded = MemoryKey.encode(id);
        return encoded.chars().allMatch(c -> c == '.') ? encoded.replace(".", "%2E") : encoded;
    }

    /** Returns the SHA-256 in hexadecimal digits. */
    static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
