package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * A digest of a memory. Two memories with equal fingerprints are equal in all parts that are copied.
 *
 * @param memories 1, or 0 for a memory that does not exist
 * @param messages the number of messages
 * @param sha256 the SHA-256 of its lines, in hexadecimal digits
 */
record Fingerprint(long memories, long messages, String sha256) {

    static Fingerprint of(MessageLog log, MemoryKey key) {
        return MemoryLines.write(log, key, progress -> {}, line -> {});
    }

    /** A digest of lines. */
    static final class Digest {

        private final MessageDigest sha256 = Ids.sha256();

        void add(String line) {
            add(line.getBytes(StandardCharsets.UTF_8));
        }

        void add(byte[] line) {
            sha256.update(line);
            sha256.update((byte) '\n');
        }

        String hex() {
            return HexFormat.of().formatHex(sha256.digest());
        }
    }
}
