package io.github.keepsake4j.cli;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A stream that counts the bytes that were read of it. Not thread-safe. */
final class MeasuredInput extends FilterInputStream {

    private final long size;
    private long read;

    /**
     * Creates a stream.
     *
     * @param in the stream behind
     * @param size the number of its bytes, or 0 if it is not known
     */
    MeasuredInput(InputStream in, long size) {
        super(in);
        this.size = size;
    }

    @Override
    public int read() throws IOException {
        int next = super.read();
        read += next < 0 ? 0 : 1;
        return next;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = super.read(bytes, offset, length);
        read += Math.max(0, count);
        return count;
    }

    /** Returns the number of bytes that were read. */
    long position() {
        return read;
    }

    /** Returns the number of all bytes, or 0 if it is not known. */
    long size() {
        return size;
    }
}
