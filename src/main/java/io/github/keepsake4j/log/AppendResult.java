package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an append.
 *
 * @param previousHead the head before the append, or null if there was none; the current head if the batch was a replay
 * @param position the position after the append
 * @param lastSequence the sequence of the batch's last message, or 0 if nothing was appended
 * @param replayed whether the batch was already stored, so that nothing changed
 */
public record AppendResult(@Nullable String previousHead, Position position, long lastSequence, boolean replayed) {

    /**
     * Returns the head after the append.
     *
     * @return the message id, or null if there is none
     */
    public @Nullable String head() {
        return position.head();
    }

    /**
     * Returns the epoch in force.
     *
     * @return the epoch; see {@link Position#epoch()}
     */
    public long epoch() {
        return position.epoch();
    }

    /**
     * Returns the revision in force.
     *
     * @return the revision; see {@link Position#revision()}
     */
    public long revision() {
        return position.revision();
    }
}
