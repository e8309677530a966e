package io.github.keepsake4j.log.s3;

import java.util.List;

/**
 * What an erasure leaves of a memory: numbers that let a writer that began before find out, and the random ids of the newest
 * writes, so that one of them whose answer was lost is recognized. It tells no id of the memory.
 *
 * @param epoch the epoch that the erasure began, or 1 if there was none
 * @param revision the revision at the erasure
 * @param writes see {@link Document#writes()}
 */
record Tombstone(long epoch, long revision, List<String> writes) {

    /** The tombstone of a memory that was never erased. */
    static final Tombstone NONE = new Tombstone(1, 1, List.of());

    /** A number that each erasure raises must stay far from where it would begin anew. No number of ours gets near to this. */
    private static final long LAST = 1L << 53;

    /** Takes a number that is missing for the first one, and refuses one that cannot be raised. */
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
     * Tells whether this erasure came before a document was created by a writer that had not seen it. A mark of the same epoch is
     * this erasure's own, or that of another one which is to have the next epoch.
     */
    boolean overtook(KeepsakeField created) {
        return epoch > created.epoch()
                || (created.isErasing() && epoch == created.epoch() && !writes.equals(created.writes()));
    }

    /** Returns the memory that begins anew. */
    Document document() {
        return Document.empty(epoch, revision, writes);
    }
}
