package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * Where a memory is. Two equal positions show the same messages. Under the same epoch and revision the head only goes
 * forward, by appends under it; so the messages behind an older head of that revision are those that were added since.
 *
 * @param epoch the epoch in force; it grows when the memory is erased
 * @param revision grows whenever something other than an append under the head changes what a reader sees: a view is set,
 *     the head is moved, or messages are appended elsewhere
 * @param head the id of the newest message of the current branch, or null if the memory has no messages
 */
public record Position(long epoch, long revision, @Nullable String head) {

    /** The position of a memory that was never written. */
    public static final Position NONE = new Position(1, 1, null);

    /**
     * Returns whether only appends under the head lie between this position and another.
     *
     * @param other the other position
     * @return whether epoch and revision are the same
     */
    public boolean isSameRevision(Position other) {
        return epoch == other.epoch && revision == other.revision;
    }
}
