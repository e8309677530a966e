package io.github.keepsake4j.log.etag;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;

/** Objects with etags that are written only on a condition. The bucket can be made unreachable. */
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

    /** Writes only if there is no object, like {@code If-None-Match: *}. */
    boolean putIfAbsent(String name, byte[] bytes) throws IOException {
        reach();
        return blobs.putIfAbsent(name, blob(bytes)) == null;
    }

    /** Writes only if the object is the one that was read, like {@code If-Match}. */
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
