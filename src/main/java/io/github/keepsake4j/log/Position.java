package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * The position of a memory. Two equal positions show the same messages. While epoch and revision are unchanged, the
 * head only moves forward, by appends under it. So the messages behind an older head of the same revision are those
 * that were added since.
 *
 * @param epoch the epoch in force; it grows when the memory is erased
 * @param revision the revision in force; it grows when a change other than an append under the head affects readers: a
 * view is set, the head is moved, or messages are appended elsewhere
 * @param head the id of the newest message of the current branch, or null if the memory has no messages
 */
public record Position(long epoch, long revision, @Nullable String head) {

    /** The position of a memory that was never written. */
    public static final Position NONE = new Position(1, 1, null);

    /**
     * Returns whether this position and another differ at most by appends under the head.
     *
     * @param other the other position
     * @return whether epoch and revision are the same
     */
    public boolean isSameRevision(Position other) {
        return epoch == other.epoch && revision == other.revision;
    }
}
