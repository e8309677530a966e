package io.github.keepsake4j.log.s3;

import java.util.List;

/**
 * The rest of an erased memory: numbers by which a writer that began earlier recognizes the erasure, and the random ids
 * of the newest writes, by which a writer recognizes its write if the answer was lost. It contains no id of the memory.
 *
 * @param epoch the epoch that the erasure started, or 1 if there was none
 * @param revision the revision at the erasure
 * @param writes see {@link Document#writes()}
 */
record Tombstone(long epoch, long revision, List<String> writes) {

    /** The tombstone of a memory that was never erased. */
    static final Tombstone NONE = new Tombstone(1, 1, List.of());

    /**
     * The limit of a number that each erasure raises, far below an overflow. Numbers of this library never come near to
     * it.
     */
    private static final long LAST = 1L << 53;

    /** Replaces a missing number by the first one, and refuses one that cannot be raised. */
    Tombstone {
        epoch = number(epoch);
        revision = number(revision);
        writes = List.copyOf(writes);
    }

    /** Returns an epoch or a revision that was read. */
    static long number(long read) {
        if (read > LAST) {
            throw new IllegalArgumentException("an epoch or a revision is out of range");
        }
        return Math.max(1, read);
    }

    static Tombstone of(Document document) {
        return new Tombstone(document.state().epoch(), document.state().revision(), document.writes());
    }

    /**
     * Returns whether a writer that had not seen this erasure created the document afterwards. A mark of the same epoch
     * belongs to this erasure, or to another one that will get the next epoch.
     */
    boolean overtook(KeepsakeField created) {
        return epoch > created.epoch()
                || (created.erasing() && epoch == created.epoch() && !writes.equals(created.writes()));
    }

    /** Returns the next memory after the erasure. */
    Document document() {
        return Document.empty(epoch, revision, writes);
    }
}
