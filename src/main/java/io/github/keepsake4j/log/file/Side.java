package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.Usage;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * What an index knows of something beside the messages.
 *
 * @param seq the message that it belongs to; 0 if it was dropped or belongs to none
 * @param part where it is in the file
 * @param previous the side entry before it of the same kind, or 0
 * @param name the hash of a branch's name, or a day
 * @param usage the sum of a day
 */
record Side(long seq, Part part, int previous, long name, Usage usage) {

    static final int SIZE = 64;

    static Side at(long seq, Part part, int previous) {
        return new Side(seq, part, previous, 0, Usage.NONE);
    }

    Side movedTo(long other, Part otherPart) {
        return new Side(other, otherPart, previous, name, usage);
    }

    byte[] write() {
        ByteBuffer out = ByteBuffer.allocate(SIZE);
        out.putInt((int) seq)
                .putLong(part.offset())
                .putInt(part.length())
                .putInt(previous)
                .putLong(name);
        out.putLong(usage.input()).putLong(usage.output()).putLong(usage.cached());
        out.putInt(SIZE - Integer.BYTES, sum(out.array()));
        return out.array();
    }

    static Side read(byte[] bytes) throws BrokenIndexException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (in.getInt(SIZE - Integer.BYTES) != sum(bytes)) {
            throw new BrokenIndexException("a side entry is damaged");
        }
        return new Side(
                in.getInt(),
                new Part(in.getLong(), in.getInt()),
                in.getInt(),
                in.getLong(),
                new Usage(in.getLong(), in.getLong(), in.getLong()));
    }

    private static int sum(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, 0, SIZE - Integer.BYTES);
        return (int) sum.getValue();
    }
}
