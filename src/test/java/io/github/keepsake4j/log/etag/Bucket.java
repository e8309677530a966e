package io.github.keepsake4j.log.etag;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;

/** Objects with etags, written only on a condition; it can be unreachable. */
final class Bucket {

    /** An object's bytes, and the etag that changes with each write. */
    record Blob(byte[] bytes, String etag) {}

    private final ConcurrentSkipListMap<String, Blob> blobs = new ConcurrentSkipListMap<>();
    private volatile boolean broken;

    void setBroken(boolean broken) {
        this.broken = broken;
    }

    Optional<Blob> get(String name) throws IOException {
        reach();
        return Optional.ofNullable(blobs.get(name));
    }

    List<String> namesWith(String prefix) throws IOException {
        reach();
        return blobs.tailMap(prefix).keySet().stream()
                .takeWhile(name -> name.startsWith(prefix))
                .toList();
    }

    /** Like {@code If-None-Match: *}: writes only where nothing is. */
    boolean putIfAbsent(String name, byte[] bytes) throws IOException {
        reach();
        return blobs.putIfAbsent(name, blob(bytes)) == null;
    }

    /** Like {@code If-Match}: writes only over what was read. */
    boolean putIfMatch(String name, String etag, byte[] bytes) throws IOException {
        reach();
        Blob there = blobs.get(name);
        return there != null && there.etag().equals(etag) && blobs.replace(name, there, blob(bytes));
    }

    private static Blob blob(byte[] bytes) {
        return new Blob(bytes, UUID.randomUUID().toString());
    }

    private void reach() throws IOException {
        if (broken) {
            throw new IOException("unreachable");
        }
    }
}
