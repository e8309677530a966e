package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;

/**
 * How far an index has come with a memory.
 *
 * @param epoch the memory's epoch in which the indexed messages were read
 * @param sequence the sequence of the last message that was read; all messages before it were read too
 */
public record Watermark(long epoch, long sequence) {

    /**
     * Checks that an index continues.
     *
     * @param before the watermark before this one, or null for the beginning
     * @throws InvalidInputException if this watermark is not behind it
     */
    public void checkBehind(@Nullable Watermark before) {
        if (before != null && (before.epoch != epoch || before.sequence > sequence)) {
            throw new InvalidInputException(
                    "after", "must be behind " + before + " and have the same epoch, is " + this);
        }
    }
}
