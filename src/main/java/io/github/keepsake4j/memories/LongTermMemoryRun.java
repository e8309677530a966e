package io.github.keepsake4j.memories;

import java.util.List;

/**
 * The report of a creator.
 *
 * @param end why it ended
 * @param made the stored memories, oldest first
 * @param problems the reasons why parts of an answer or messages were skipped; never text of messages
 */
public record LongTermMemoryRun(End end, List<MadeMemory> made, List<String> problems) {

    /** Why a creator ended. */
    public enum End {
        /** All due memories were created. Possibly none were due. */
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
    public LongTermMemoryRun {
        made = List.copyOf(made);
        problems = List.copyOf(problems);
    }
}
