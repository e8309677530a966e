package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records which memories have quarantined bytes: unreadable bytes that were moved to other objects. The names of these
 * copies contain no ids and there is no document, so an erasure of a conversation would not find them without this
 * record. An erasure of the memory removes the record with the copies.
 */
record Quarantine(Bucket bucket, ObjectNames names) {

    /**
     * Records that copies of a document are made. A document with a hash as its name may not name its memory; then
     * nothing is recorded.
     */
    void note(String what, String document, @Nullable MemoryKey key) {
        if (key != null) {
            bucket.put(what, names.quarantined(document), key.canonical().getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Returns the tenant's memories with quarantined bytes. */
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
                                    + ", which names a memory with quarantined bytes, is damaged. Delete it and "
                                    + "erase that memory by its key",
                            null);
                }
            }
        }
        return keys;
    }
}
