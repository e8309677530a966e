package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tombstones of erased memories, in objects whose names are hashes. The document of an erased memory is not there any
 * more, since its name tells ids. A tombstone's epoch never falls.
 */
final class Tombstones {

    private static final int ATTEMPTS = 40;

    /** A tombstone and its object's etag; null if there is no object. */
    private record Found(Tombstone tombstone, @Nullable String etag) {}

    private final Bucket bucket;
    private final ObjectNames names;

    Tombstones(Bucket bucket, ObjectNames names) {
        this.bucket = bucket;
        this.names = names;
    }

    /**
     * Returns the tombstone of a memory, {@link Tombstone#NONE} if there is none.
     *
     * @throws UnreadableDataException if it cannot be read
     */
    Tombstone of(String what, String document) {
        return find(what, document).tombstone();
    }

    private Found find(String what, String document) {
        String name = names.tombstone(document);
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            return new Found(Tombstone.NONE, null);
        }
        try {
            return new Found(RawJson.MAPPER.readValue(content.bytes(), Tombstone.class), content.etag());
        } catch (IOException | RuntimeException e) {
            throw new UnreadableDataException(
                    what + " cannot be read: the object " + name
                            + ", which an erasure left, is damaged. Erase it again",
                    null);
        }
    }

    /** Stores a tombstone, unless there is a newer one. */
    void put(String what, String document, Tombstone tombstone) {
        String name = names.tombstone(document);
        String etag = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (bucket.putIf(what, name, etag, tombstone.bytes()).etag() != null) {
                return;
            }
            Found there = findDamaged(what, document);
            if (there.etag() != null && there.tombstone().epoch() >= tombstone.epoch()) {
                return;
            }
            etag = there.etag();
        }
        throw new StorageUnavailableException(
                what + ": others were first; the erasure is not complete. Try again", null);
    }

    /** A damaged tombstone is written over: nothing can be learned from it. */
    private Found findDamaged(String what, String document) {
        try {
            return find(what, document);
        } catch (UnreadableDataException e) {
            return bucket.get(what, names.tombstone(document), null) instanceof Bucket.Content content
                    ? new Found(Tombstone.NONE, content.etag())
                    : new Found(Tombstone.NONE, null);
        }
    }

    /**
     * Deletes a tenant's tombstones that are older than a time of the server's.
     *
     * @return how many
     */
    long removeOlderThan(String what, String tenant, Instant limit) {
        long removed = 0;
        String prefix = names.tombstones(tenant);
        Bucket.Part part = new Bucket.Part(List.of(), true);
        String after = "";
        while (part.more()) {
            part = bucket.list(what, prefix, after, Bucket.LIST);
            for (Bucket.Listed object : part.objects()) {
                after = object.name();
                if (object.writtenAt().isBefore(limit)) {
                    bucket.deleteIf(what, object.name(), object.etag());
                    removed++;
                }
            }
        }
        return removed;
    }
}
