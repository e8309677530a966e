package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/** What every store refuses alike before it touches its storage. Pure functions. */
public final class MemoryRules {

    private MemoryRules() {}

    /**
     * Checks the kind of a track.
     *
     * @param kind the kind of memories
     * @throws InvalidInputException if it has no steps
     */
    public static void checkKind(MemoryKind kind) {
        if (kind == MemoryKind.SUMMARY) {
            throw new InvalidInputException("kind", "must be CHUNK or FACT; a summary is added by addSummary");
        }
    }

    /**
     * Checks what {@link MemoryStore#add} takes.
     *
     * @param kind the kind of memories
     * @param passage the passage
     * @param memories the memories
     * @throws InvalidInputException if a rule is broken
     */
    public static void checkAdd(MemoryKind kind, Passage passage, List<MadeMemory> memories) {
        checkKind(kind);
        if (kind == MemoryKind.CHUNK && memories.isEmpty()) {
            throw new InvalidInputException("memories", "must be one chunk or more, are none");
        }
        if (memories.isEmpty() && passage.equals(Passage.NONE)) {
            throw new InvalidInputException("memories", "must not be empty without a passage");
        }
        for (MadeMemory memory : memories) {
            if (memory.kind() != kind) {
                throw new InvalidInputException(
                        "memories", "must be of the kind " + kind + ", one is " + memory.kind());
            }
        }
    }

    /**
     * Checks what {@link MemoryStore#addSummary} takes.
     *
     * @param summary the summary
     * @throws InvalidInputException if it is of another kind
     */
    public static void checkSummary(MadeMemory summary) {
        if (summary.kind() != MemoryKind.SUMMARY) {
            throw new InvalidInputException("summary", "must be of the kind SUMMARY, is " + summary.kind());
        }
    }

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
