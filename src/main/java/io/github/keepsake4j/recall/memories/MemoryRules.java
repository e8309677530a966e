package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.message.InvalidInputException;
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
}
