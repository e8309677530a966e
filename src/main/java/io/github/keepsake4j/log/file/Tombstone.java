package io.github.keepsake4j.log.file;

import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What stays of an erased memory, until it is written again. A file of an older epoch beside it was being deleted.
 *
 * @param epoch the epoch in force
 * @param revision the revision in force
 */
record Tombstone(long epoch, long revision) {

    /** What a memory has that was never written. */
    static final Tombstone NEVER = new Tombstone(1, 1);

    /** Returns the tombstone of a memory, or null if there is none. */
    static @Nullable Tombstone read(Names names) throws IOException {
        Path path = names.tombstone();
        byte[] bytes = SmallFiles.read(path);
        if (bytes == null) {
            return null;
        }
        try {
            Fields json = Fields.of(bytes);
            return new Tombstone(json.number("epoch"), json.number("revision"));
        } catch (BadLineException e) {
            throw new UnreadableDataException(
                    "The tombstone " + path + " of an erased memory cannot be read: " + e.problem()
                            + ". Nothing is written over it: restore it, or delete it if no work of before the erasure"
                            + " goes on",
                    null);
        }
    }

    void write(Names names, boolean force) throws IOException {
        String json = new JsonText()
                        .number("epoch", epoch)
                        .number("revision", revision)
                        .end() + "\n";
        SmallFiles.replace(names.tombstone(), json.getBytes(StandardCharsets.US_ASCII), force);
    }
}
