package io.github.keepsake4j.memories;

import java.util.List;

/**
 * What a creator did.
 *
 * @param end why it ended
 * @param made what was stored, oldest first
 * @param problems why parts of an answer were skipped, and which messages are passed by; never text of messages
 */
public record MemoryRun(End end, List<MadeMemory> made, List<String> problems) {

    /** Why a creator ended. */
    public enum End {
        /** All that is due is made. Perhaps nothing was due. */
        UP_TO_DATE,

        /** The conversation has fewer than three messages. */
        TOO_SHORT,

        /** Another creator is at work on this discussion. */
        BUSY,

        /** The workflow returned nothing. The next run tries the same messages again. */
        BLANK,

        /** There is no discussion, so nothing is persisted. */
        STATELESS
    }

    /** Copies the lists. */
    public MemoryRun {
        made = List.copyOf(made);
        problems = List.copyOf(problems);
    }
}
