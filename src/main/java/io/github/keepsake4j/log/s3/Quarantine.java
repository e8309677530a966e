package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells which memories have bytes that were moved aside because they could not be read. The names of these copies tell no ids
 * and there is no document any more, so an erasure of a conversation would not find them. An erasure of the memory takes this
 * with the copies.
 */
record Quarantine(Bucket bucket, ObjectNames names) {

    /** Notes that copies of a document are made. A document with a hash as its name may not tell its memory: that is not noted. */
    void note(String what, String document, @Nullable MemoryKey key) {
        if (key != null) {
            bucket.put(what, names.quarantined(document), key.canonical().getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Returns the tenant's memories with bytes that were moved aside. */
    List<MemoryKey> of(String tenant) {
        String what = "Tenant " + MemoryKey.encode(tenant);
        List<MemoryKey> keys = new ArrayList<>();
        for (Bucket.Listed object : bucket.list(what, names.allQuarantined(tenant))) {
            if (bucket.get(what, object.name(), null) instanceof Bucket.Content content) {
                try {
                    MemoryKey key = MemoryKey.parse(new String(content.bytes(), StandardCharsets.UTF_8));
                    if (!key.tenant().equals(tenant)) {
                        throw ObjectNames.mismatch(what);
                    }
                    keys.add(key);
                } catch (InvalidInputException e) {
                    throw new UnreadableDataException(
                            what + ": the object " + object.name()
                                    + " is damaged, which names a memory with bytes that were"
                                    + " moved aside. Delete it and erase that memory by its key",
                            null);
                }
            }
        }
        return keys;
    }
}
