package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.TenantMismatchException;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of a memory's objects in its bucket. Ids are percent-encoded, so that no id can leave its place or collide
 * with another memory's. A {@code !}, which no encoding contains, marks the hash that replaces a name that is too long.
 *
 * <p>Documents are below a tenant's {@link Roots}. All other objects are outside of these, so that a list of documents
 * finds nothing else. They are named by the hash of the document's name, so that they contain no id.
 * {@code aside/objects/} has the objects of documents, {@code aside/quarantined/} names the memories with quarantined
 * bytes, and {@code aside/erased/} has the tombstones.
 *
 * @param prefix the beginning of every name; empty, or ends in a slash
 * @param defaultTenant the tenant whose names contain no tenant
 */
record ObjectNames(String prefix, String defaultTenant) {

    /**
     * The beginnings of the names of a tenant's documents. In the order of names, conversations come before nodes.
     *
     * @param tenant the beginning of all names of the tenant; empty, or ends in a slash
     * @param conversations the beginning of the names of conversations
     * @param nodes the beginning of the names of nodes
     */
    record Roots(String tenant, String conversations, String nodes) {

        /** Returns whether a name is below one of the roots of documents. */
        boolean hold(String name) {
            return name.startsWith(conversations) || name.startsWith(nodes);
        }
    }

    /** S3 allows 1,024 bytes. */
    private static final int MAX_LENGTH = 900;

    private static final int MAX_PREFIX = 300;
    private static final int MAX_TENANT = 300;
    private static final String SUFFIX = ".json";
    private static final Pattern DOCUMENT =
            Pattern.compile("(tenants/[^/]+/)?(conversation_memory|node_memory)/.+\\.json");

    private static final Pattern HASHED =
            Pattern.compile("(.*/)?(conversation_memory|node_memory)/![0-9a-f]{64}\\.json", Pattern.DOTALL);

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
        Roots roots = roots(key.tenant());
        String root = key instanceof NodeKey ? roots.nodes() : roots.conversations();
        String name = root + ids(key) + SUFFIX;
        return name.getBytes(StandardCharsets.UTF_8).length <= MAX_LENGTH
                ? name
                : root + "!" + Ids.sha256(key.canonical()) + SUFFIX;
    }

    /** Returns the name of an object with a document's cleared messages. */
    String kept(String document, String id) {
        return besides(document) + "kept-" + id;
    }

    /** Returns the name of an object with a content that was moved out of a document. */
    String content(String document, String hash) {
        return besides(document) + "content-" + hash;
    }

    /** Returns the beginning of the names of the objects with quarantined bytes. */
    String damaged(String document, String id) {
        return besides(document) + "damaged-" + id;
    }

    /** Returns the beginning of the names of all objects beside a document. */
    String besides(String document) {
        return prefix + "aside/objects/" + Ids.sha256(withoutPrefix(document)) + "/";
    }

    /** Returns the name of the object that names a memory with quarantined bytes. */
    String quarantined(String document) {
        return below("quarantined", tenantOf(document)) + Ids.sha256(withoutPrefix(document));
    }

    /** Returns the beginning of the names of these objects of a tenant. */
    String allQuarantined(String tenant) {
        return below("quarantined", withoutPrefix(roots(tenant).tenant()));
    }

    /** Returns the name of a document's tombstone. */
    String tombstone(String document) {
        return below("erased", tenantOf(document)) + Ids.sha256(withoutPrefix(document));
    }

    /** Returns the tenant whose documents have such a name, or null if the name contains only its hash. */
    @Nullable
    String owner(String document) {
        String tenant = tenantOf(document);
        if (tenant.isEmpty()) {
            return defaultTenant;
        }
        String encoded = tenant.split("/", -1)[1];
        return encoded.startsWith("!") ? null : decode(encoded);
    }

    /** Returns the error for data of another tenant. */
    static TenantMismatchException mismatch(String what) {
        return new TenantMismatchException(what
                + ": the bucket has data of another tenant under this name. It was neither returned nor changed. "
                + "Logs with different values of defaultTenant need different prefixes or buckets; without "
                + "defaultTenant, each tenant has its own names");
    }

    private String tenantOf(String document) {
        Matcher parts = DOCUMENT.matcher(withoutPrefix(document));
        return parts.matches() && parts.group(1) != null ? parts.group(1) : "";
    }

    /** Returns the name of the object that is created twice to test the server. */
    String probe() {
        return prefix + "aside/probe";
    }

    /** Returns the beginning of the names of a tenant's tombstones. */
    String tombstones(String tenant) {
        return below("erased", withoutPrefix(roots(tenant).tenant()));
    }

    private String below(String kind, String tenantPart) {
        return prefix + "aside/" + kind + "/" + Ids.sha256(tenantPart).substring(0, 16) + "/";
    }

    private String withoutPrefix(String name) {
        return name.substring(prefix.length());
    }

    /** Returns whether a document's name is a hash, which does not contain the memory's ids. */
    static boolean isHashed(String document) {
        return HASHED.matcher(document).matches();
    }

    /**
     * Returns whether an object has the name of a document, of any tenant. A tenant that is a hash does not contain its
     * ids.
     */
    boolean isDocument(String name) {
        return name.startsWith(prefix)
                && DOCUMENT.matcher(withoutPrefix(name)).matches()
                && (isHashed(name) || withoutPrefix(name).startsWith("tenants/!") || key(name) != null);
    }

    /** Returns the beginnings of the names of a tenant's documents. */
    Roots roots(String tenant) {
        String root = tenantPart(tenant);
        return new Roots(root, root + "conversation_memory/", root + "node_memory/");
    }

    /** Returns whether an object below a tenant's roots is a document of this log. */
    boolean isDocument(String tenant, String name) {
        return name.endsWith(SUFFIX) && (isHashed(name) || key(tenant, name) != null);
    }

    /** Returns the memory of a name, of any tenant, or null if the name does not contain it. */
    @Nullable
    MemoryKey key(String name) {
        try {
            String tenant = DOCUMENT.matcher(withoutPrefix(name)).matches() ? owner(name) : null;
            return tenant == null ? null : key(tenant, name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns the memory of a name, or null if the name does not contain it. */
    @Nullable
    MemoryKey key(String tenant, String name) {
        Roots roots = roots(tenant);
        String scope = name.startsWith(roots.nodes()) ? "node/" : "conversation/";
        String root = name.startsWith(roots.nodes()) ? roots.nodes() : roots.conversations();
        if (!name.startsWith(root) || !name.endsWith(SUFFIX)) {
            return null;
        }
        String ids = name.substring(root.length(), name.length() - SUFFIX.length());
        try {
            MemoryKey key = MemoryKey.parse(scope + MemoryKey.encode(tenant) + "/" + ids);
            return document(key).equals(name) ? key : null;
        } catch (InvalidInputException e) {
            return null;
        }
    }

    private String tenantPart(String tenant) {
        if (tenant.equals(defaultTenant)) {
            return prefix;
        }
        String encoded = encode(tenant);
        return prefix + "tenants/" + (encoded.length() <= MAX_TENANT ? encoded : "!" + Ids.sha256(tenant)) + "/";
    }

    private static String ids(MemoryKey key) {
        return key instanceof NodeKey node
                ? encode(node.appId()) + "/" + encode(node.conversationId()) + "/" + encode(node.nodeId())
                : encode(((ConversationKey) key).conversationId());
    }

    /** The JDK's decoder is for HTML forms, where a plus is a space. */
    private static String decode(String id) {
        return URLDecoder.decode(id.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Encodes an id. An id of only dots would be a step in a path. */
    private static String encode(String id) {
        String encoded = MemoryKey.encode(id);
        return encoded.chars().allMatch(c -> c == '.') ? encoded.replace(".", "%2E") : encoded;
    }
}
