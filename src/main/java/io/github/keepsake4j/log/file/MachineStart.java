package io.github.keepsake4j.log.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The start of this machine. An index is not forced to the device, because it can be made again. While the machine runs, each
 * process sees what others wrote to it, even if they were killed. After a loss of power it may hold anything. So an index is
 * believed only by the start of the machine in which it was written.
 */
final class MachineStart {

    /** The length of an id in bytes. */
    static final int LENGTH = 16;

    private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");

    private static final byte[] CURRENT = current();

    private MachineStart() {}

    /** Returns the id of the current start; all zero if the system does not tell it. */
    static byte[] id() {
        return CURRENT.clone();
    }

    /** Returns whether the system tells. If not, each process makes an index again before it believes it. */
    static boolean isKnown() {
        return ByteBuffer.wrap(CURRENT).getLong() != 0;
    }

    private static byte[] current() {
        try {
            String id = Files.readString(LINUX, StandardCharsets.US_ASCII).strip();
            return Arrays.copyOf(Names.sha256(id.getBytes(StandardCharsets.US_ASCII)), LENGTH);
        } catch (IOException e) {
            return new byte[LENGTH];
        }
    }
}
