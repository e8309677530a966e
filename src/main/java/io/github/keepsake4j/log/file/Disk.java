package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.SmallFiles;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * One open file. It is no {@code FileChannel}, because the interruption of one thread would close that for all threads.
 * Thread-safe.
 */
class Disk implements Closeable {

    /** Opens files, and counts what is read from them and written to them. A test replaces it by a disk that is full. */
    static class Opener {

        /** The bytes that were read and written. */
        final LongAdder read = new LongAdder();

        final LongAdder written = new LongAdder();

        Disk open(Path path) throws IOException {
            return new Disk(path, this);
        }
    }

    private final RandomAccessFile file;
    private final Opener opener;

    Disk(Path path, Opener opener) throws IOException {
        SmallFiles.create(path);
        this.file = new RandomAccessFile(path.toFile(), "rw");
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

    /** Fills an array as far as the file goes. Returns the number of bytes. */
    final int read(long position, byte[] into) throws IOException {
        int filled = 0;
        synchronized (file) {
            file.seek(position);
            int got = 0;
            while (filled < into.length && got >= 0) {
                filled += got;
                got = file.read(into, filled, into.length - filled);
            }
        }
        opener.read.add(filled);
        return filled;
    }

    void write(long position, byte[] bytes) throws IOException {
        synchronized (file) {
            file.seek(position);
            file.write(bytes);
        }
        opener.written.add(bytes.length);
    }

    final long length() throws IOException {
        return file.length();
    }

    final void truncate(long length) throws IOException {
        synchronized (file) {
            file.setLength(length);
        }
    }

    /** Waits until everything that was written has reached the device. Others may read meanwhile. */
    void force() throws IOException {
        file.getFD().sync();
    }

    @Override
    public final void close() throws IOException {
        file.close();
    }
}
