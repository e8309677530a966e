package io.github.keepsake4j.log.file;

import io.github.keepsake4j.base.AfterFailure;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One open file, which exists. It is not a {@code FileChannel}, because an interrupt of one thread would close the
 * channel for all threads. It is opened for writing only when it is written, since opening would create a file that was
 * just deleted. Thread-safe.
 */
class Disk implements Closeable {

    /** Opens files, and counts the bytes that are read and written. A test replaces it by a full disk. */
    static class Opener {

        /** The bytes that were read and written. */
        final LongAdder read = new LongAdder();

        final LongAdder written = new LongAdder();

        Disk open(Path path) throws IOException {
            return new Disk(path, this);
        }
    }

    /** Goes through the whole lines of a file. */
    interface Visitor {
        void line(byte[] bytes, int start, int end, long offset) throws IOException;
    }

    /** The number of bytes before the end of the known part that identify a file. */
    private static final int TAIL = 64;

    private static final int CHUNK = 1 << 16;

    private final Path path;
    private final RandomAccessFile file;
    private final Opener opener;
    private @Nullable RandomAccessFile writer;

    Disk(Path path, Opener opener) throws IOException {
        this.path = path;
        this.file = new RandomAccessFile(path.toFile(), "r");
        this.opener = opener;
    }

    /** Reads all of a range. */
    final byte[] read(long position, int length) throws IOException {
        byte[] bytes = new byte[length];
        if (read(position, bytes) < length) {
            throw new EOFException("the file ends before byte " + (position + length));
        }
        return bytes;
    }

    /** Fills an array up to the end of the file. Returns the number of bytes. */
    final int read(long position, byte[] into) throws IOException {
        return read(position, into, 0, into.length);
    }

    private int read(long position, byte[] into, int from, int to) throws IOException {
        int filled = from;
        synchronized (file) {
            file.seek(position);
            int got = 0;
            while (filled < to && got >= 0) {
                filled += got;
                got = filled == to ? 0 : file.read(into, filled, to - filled);
            }
        }
        opener.read.add(filled - from);
        return filled - from;
    }

    /**
     * Goes through the whole lines of a range.
     *
     * @param from where a line begins
     * @param to where to stop
     * @return where the last line ends; less than {@code to} if an incomplete line follows
     */
    final long lines(long from, long to, Visitor visitor) throws IOException {
        byte[] buffer = new byte[(int) Math.min(CHUNK, to - from)];
        int filled = 0;
        long offset = from;
        while (offset + filled < to) {
            if (filled == buffer.length) {
                buffer = Arrays.copyOf(buffer, Math.multiplyExact(buffer.length, 2));
            }
            int got = read(offset + filled, buffer, filled, (int) Math.min(buffer.length, to - offset));
            if (got == 0) {
                break;
            }
            int start = 0;
            for (int i = filled; i < filled + got; i++) {
                if (buffer[i] == '\n') {
                    visitor.line(buffer, start, i, offset + start);
                    start = i + 1;
                }
            }
            filled += got - start;
            System.arraycopy(buffer, start, buffer, 0, filled);
            offset += start;
        }
        return offset;
    }

    /** Returns a checksum of the bytes before a place. */
    final int tail(long end) throws IOException {
        byte[] bytes = new byte[(int) Math.min(TAIL, end)];
        int length = read(end - bytes.length, bytes);
        CRC32C sum = new CRC32C();
        sum.update(bytes, 0, length);
        return (int) sum.getValue();
    }

    void write(long position, byte[] bytes) throws IOException {
        synchronized (file) {
            RandomAccessFile out = writer();
            out.seek(position);
            out.write(bytes);
        }
        opener.written.add(bytes.length);
    }

    /** Writes a range again unchanged, so that the next {@link #force} brings it to the device. */
    final void rewrite(long from, long to) throws IOException {
        for (long at = from; at < to; at += CHUNK) {
            write(at, read(at, (int) Math.min(CHUNK, to - at)));
        }
    }

    /** Appends to the end of the known part. If this fails, no part of it stays. */
    final void append(long end, byte[] bytes) throws IOException {
        try {
            write(end, bytes);
        } catch (IOException e) {
            // If this fails too, the rest is an incomplete line, which is moved away later.
            AfterFailure.run(e, () -> truncate(end));
            throw e;
        }
    }

    final long length() throws IOException {
        return file.length();
    }

    final void truncate(long length) throws IOException {
        synchronized (file) {
            writer().setLength(length);
        }
    }

    /** Waits until everything that any process has written has reached the device. Other threads may read meanwhile. */
    void force() throws IOException {
        RandomAccessFile out;
        synchronized (file) {
            out = writer();
        }
        out.getFD().sync();
    }

    private RandomAccessFile writer() throws IOException {
        if (writer == null) {
            writer = new RandomAccessFile(path.toFile(), "rw");
        }
        return writer;
    }

    @Override
    public final void close() throws IOException {
        synchronized (file) {
            file.close();
            if (writer != null) {
                writer.close();
            }
        }
    }
}
