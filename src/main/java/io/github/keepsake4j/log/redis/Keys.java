package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.stream.Stream;

/**
 * The keys in Redis. The part in braces decides the slot. It is a hash, because ids may contain braces and be long. A
 * memory's hash begins with its tenant's, as in the other stores.
 */
record Keys(String prefix) {

    private static final int HALF = 24;

    /** 96 bits of the tenant and 96 bits of the memory. */
    static String hash(MemoryKey key) {
        return tenantHash(key.tenant()) + half(key.canonical());
    }

    List<byte[]> memory(MemoryKey key) {
        return keys(hash(key), "m", "v", "s");
    }

    List<byte[]> tenant(String tenant) {
        return keys(tenantHash(tenant), "t", "n", "a", "l");
    }

    /** Returns the id of the list of the memories with a text by a metadata name. */
    static String list(String name, String value) {
        return Ids.sha256(MemoryKey.encode(name) + "/" + MemoryKey.encode(value))
                .substring(0, 16);
    }

    private List<byte[]> keys(String hash, String... parts) {
        return Stream.of(parts)
                .map(part -> Text.bytes(prefix + "{" + hash + "}:" + part))
                .toList();
    }

    private static String tenantHash(String tenant) {
        return half(MemoryKey.encode(tenant));
    }

    private static String half(String text) {
        return Ids.sha256(text).substring(0, HALF);
    }
}
