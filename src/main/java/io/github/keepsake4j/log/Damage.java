package io.github.keepsake4j.log;

import org.jspecify.annotations.Nullable;

/**
 * One thing that {@link MessageLog#check} found damaged in a memory.
 *
 * @param kind the kind of the damaged part
 * @param sequence the sequence of the damaged message, or of the message that a view or summary belongs to; null if there
 *     is none
 * @param messageId the id of that message, or null if there is none
 * @param problem a sentence that describes the problem; never the text of a message
 */
public record Damage(Kind kind, @Nullable Long sequence, @Nullable String messageId, String problem) {

    /** The largest number of entries that a check returns. */
    public static final int MAX_REPORTED = 1_000;

    /** The parts that can be damaged. */
    public enum Kind {
        /** The memory as a whole: it cannot be read, or its row is missing or wrong. */
        MEMORY,

        /** The head: it names a missing message, or does not agree with the message that it names. */
        HEAD,

        /** The sequence: messages are missing, or their numbers are wrong. */
        SEQUENCE,

        /** A message's place in the tree: its parent is missing, or it does not continue its parent. */
        TREE,

        /** A message's content: it cannot be read. */
        MESSAGE,

        /** A view: it cannot be read, or names a missing message. */
        VIEW,

        /** A summary: it cannot be read, or covers up to a missing message. */
        SUMMARY,

        /** A named branch: its newest message is missing. */
        REFERENCE
    }
}
