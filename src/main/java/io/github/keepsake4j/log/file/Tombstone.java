package io.github.keepsake4j.log.file;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rest of an erased memory, until it is written again. If a file of an older epoch is beside it, the deletion was
 * interrupted.
 *
 * @param epoch the epoch in force
 * @param revision the revision in force
 * @param erasedAt when it was erased
 */
record Tombstone(long epoch, long revision, Instant erasedAt) {

    /** The value for a memory that was never written. */
    static final Tombstone NEVER = new Tombstone(1, 1, Instant.EPOCH);

    /** Returns the tombstone of a memory, or null if there is none. */
    static @Nullable Tombstone read(Path path) throws IOException {
        byte[] bytes = SmallFiles.read(path);
        if (bytes == null) {
            return null;
        }
        try {
            JsonFields json = Contents.fields(bytes);
            return new Tombstone(json.neededNumber("epoch"), json.neededNumber("revision"), json.neededTime("at"));
        } catch (BadLineException e) {
            throw new UnreadableDataException(
                    "The tombstone " + path + " of an erased memory cannot be read: " + e.problem()
                            + ". Nothing was changed. Restore it, or delete it if no work from before the erasure "
                            + "is still running");
        }
    }

    byte[] bytes() {
        String json = PlainJson.write(new JsonObject()
                        .with("epoch", epoch)
                        .with("revision", revision)
                        .with("at", erasedAt.toString()))
                + "\n";
        return json.getBytes(StandardCharsets.US_ASCII);
    }

    void write(Path path, boolean force) throws IOException {
        SmallFiles.replace(path, bytes(), force);
    }

    /** Returns whether a tombstone is older than a time. A tombstone beside a file is still needed. */
    static boolean isOld(Path path, Instant erasedBefore) throws IOException {
        Tombstone tombstone = read(path);
        if (tombstone == null || !tombstone.erasedAt().isBefore(erasedBefore)) {
            return false;
        }
        return !Names.in(Objects.requireNonNull(path.getParent())).containsKey(Names.hashOf(path));
    }
}
