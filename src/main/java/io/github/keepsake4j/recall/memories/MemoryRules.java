package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;

/** What every store refuses alike when it knows what is there. Pure functions. */
public final class MemoryRules {

    private MemoryRules() {}

    /**
     * Checks the step that {@link MemoryStore#moveTo} takes.
     *
     * @param key the discussion
     * @param progress its progress
     * @param step the step's number
     * @throws InvalidInputException if there is no such step
     */
    public static void checkStep(MemoryKey key, Progress progress, long step) {
        if (step != 0 && progress.step(step).isEmpty()) {
            throw new InvalidInputException("step", "discussion " + key + " has no step " + step);
        }
    }

    /**
     * Checks that a memory is new.
     *
     * @param key the discussion
     * @param memory the memory
     * @param isThere whether there is one with its id
     * @throws InvalidInputException if there is
     */
    public static void checkNew(MemoryKey key, MadeMemory memory, boolean isThere) {
        if (isThere) {
            throw new InvalidInputException("id", "memory " + memory.id() + " of discussion " + key + " is there");
        }
    }
}
