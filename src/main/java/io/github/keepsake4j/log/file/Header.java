package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/**
 * The first line of a memory's file.
 *
 * @param key the memory
 * @param number its place in the tenant's list
 * @param epoch the epoch in which the file began
 * @param revision the revision at the beginning
 * @param version the version of the format in which the file began
 * @param generation a random id, which distinguishes the file from others of the same name
 * @param createdAt when the memory was created
 * @param end where the line ends in the file
 */
record Header(
        MemoryKey key,
        long number,
        long epoch,
        long revision,
        long version,
        UUID generation,
        Instant createdAt,
        int end) {

    /** A length that no header reaches: four ids of 512 bytes, each of which may be escaped. */
    static final int MAX_LENGTH = 1 << 15;

    private static final int VERSION = 2;

    private static final int USUAL_LENGTH = 512;

    private static final byte[] OLD_BEGINNING = "{\"keepsake\":1,".getBytes(StandardCharsets.US_ASCII);

    static String write(MemoryKey key, long number, long epoch, long revision, Instant createdAt) {
        return PlainJson.write(RecordJson.put(new JsonObject().with("keepsake", VERSION), key)
                .with("number", number)
                .with("epoch", epoch)
                .with("revision", revision)
                .with("file", UUID.randomUUID().toString())
                .with("at", createdAt.toString()));
    }

    /** Reads the first line of a file. */
    static Header read(Disk data) throws IOException {
        byte[] beginning = new byte[USUAL_LENGTH];
        int length = data.read(0, beginning);
        if (length == beginning.length) {
            try {
                return read(beginning);
            } catch (BadLineException e) {
                // It may be longer than most.
                beginning = new byte[MAX_LENGTH];
                length = data.read(0, beginning);
            }
        }
        return read(Arrays.copyOf(beginning, length));
    }

    /** Converts a file of the previous version to this version, so that an older program refuses it. */
    static void raise(Disk data) throws IOException {
        byte[] beginning = data.read(0, OLD_BEGINNING.length);
        if (Arrays.equals(beginning, OLD_BEGINNING)) {
            beginning[beginning.length - 2] = '0' + VERSION;
            data.write(0, beginning);
        }
    }

    private static Header read(byte[] beginning) {
        int end = 0;
        while (end < beginning.length && beginning[end] != '\n') {
            end++;
        }
        if (end == beginning.length) {
            throw new BadLineException("it has no end");
        }
        JsonFields json = Contents.fields(beginning, 0, end);
        long version = json.neededNumber("keepsake");
        if (version < 1 || version > VERSION) {
            throw new BadLineException("it has version " + version + ", which this release does not know");
        }
        try {
            return new Header(
                    RecordJson.key(json),
                    json.neededNumber("number"),
                    json.neededNumber("epoch"),
                    json.neededNumber("revision"),
                    version,
                    UUID.fromString(json.neededText("file")),
                    json.neededTime("at"),
                    end + 1);
        } catch (IllegalArgumentException | InvalidInputException e) {
            throw new BadLineException("it names no memory");
        }
    }
}
