package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tombstones of erased memories, in objects whose names are hashes. The document of an erased memory is deleted,
 * since its name contains ids. A tombstone's epoch never falls.
 */
record Tombstones(Bucket bucket, ObjectNames names) {

    private static final Logger LOG = LoggerFactory.getLogger(Tombstones.class);
    private static final int ATTEMPTS = 40;

    /** A tombstone and its object's etag; null if there is no object. */
    private record Found(Tombstone tombstone, @Nullable String etag) {}

    /**
     * A tombstone as it is stored, with the hash of the tenant whose memory was erased, or null if it does not contain
     * the hash.
     */
    private record Stored(long epoch, long revision, List<String> writes, @Nullable String tenant) {}

    /**
     * Returns the tombstone of a memory, {@link Tombstone#NONE} if there is none.
     *
     * @throws UnreadableDataException if it cannot be read
     */
    Tombstone of(String what, String document) {
        return find(what, document).tombstone();
    }

    private Found find(String what, String document) {
        return find(what, names.tombstone(document), names.owner(document));
    }

    private Found find(String what, String name, @Nullable String tenant) {
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            return new Found(Tombstone.NONE, null);
        }
        Stored stored;
        Tombstone tombstone;
        try {
            stored = RawJson.MAPPER.readValue(content.bytes(), Stored.class);
            tombstone = new Tombstone(stored.epoch(), stored.revision(), stored.writes());
        } catch (IOException | RuntimeException e) {
            throw new UnreadableDataException(
                    what + " cannot be read: its tombstone " + name + " is damaged. Erase the memory again", null);
        }
        if (tenant != null && stored.tenant() != null && !stored.tenant().equals(Ids.sha256(tenant))) {
            throw ObjectNames.mismatch(what);
        }
        return new Found(tombstone, content.etag());
    }

    /**
     * Stores a tombstone, unless there is one of the same epoch or a newer one.
     *
     * @return the tombstone that is stored
     */
    Tombstone put(String what, String document, Tombstone tombstone) {
        String name = names.tombstone(document);
        String owner = names.owner(document);
        String hash = owner == null ? null : Ids.sha256(owner);
        Stored stored = new Stored(tombstone.epoch(), tombstone.revision(), tombstone.writes(), hash);
        byte[] bytes = RawJson.write(stored).getBytes(StandardCharsets.UTF_8);
        String etag = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (bucket.putIf(what, name, etag, bytes).etag() != null) {
                return tombstone;
            }
            Found there = findDamaged(what, document);
            if (there.etag() != null && there.tombstone().epoch() >= tombstone.epoch()) {
                return there.tombstone();
            }
            etag = there.etag();
        }
        throw new StorageUnavailableException(
                what + ": other writers were first, and the erasure is not complete. Try again", null);
    }

    /** A damaged tombstone is overwritten, since it contains no usable data. */
    private Found findDamaged(String what, String document) {
        try {
            return find(what, document);
        } catch (UnreadableDataException e) {
            Bucket.Found found = bucket.get(what, names.tombstone(document), null);
            return new Found(Tombstone.NONE, found instanceof Bucket.Content content ? content.etag() : null);
        }
    }

    private void checkTenant(String what, String name, String tenant) {
        try {
            find(what, name, tenant);
        } catch (UnreadableDataException e) {
            LOG.debug("{}: a damaged tombstone is removed", what);
        }
    }

    /**
     * Deletes a tenant's tombstones that are older than a time of the server's clock.
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
                    checkTenant(what, object.name(), tenant);
                    bucket.deleteIf(what, object.name(), object.etag());
                    removed++;
                }
            }
        }
        return removed;
    }
}
