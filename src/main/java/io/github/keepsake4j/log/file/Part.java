package io.github.keepsake4j.log.file;

/** A range of bytes, in a file or in an array. */
record Part(long offset, int length) {

    /** Returns the start of a range within an array. */
    int start() {
        return Math.toIntExact(offset);
    }

    Part movedBy(long distance) {
        return new Part(offset + distance, length);
    }
}
