package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * What an append did.
 *
 * @param previousHead the head from before, or null if there was none; the current head if the batch was a replay
 * @param head the head from now on, or null if there is none
 * @param lastSequence the sequence of the batch's last message, or 0 if nothing was appended
 * @param epoch the epoch in force
 * @param revision changes whenever a view is set or the head is moved: as long as it stays and the previous head is the
 *     expected one, nobody changed what a reader sees
 * @param replayed whether the batch was there already, so that nothing changed
 */
public record AppendResult(
        @Nullable String previousHead,
        @Nullable String head,
        long lastSequence,
        long epoch,
        long revision,
        boolean replayed) {}
