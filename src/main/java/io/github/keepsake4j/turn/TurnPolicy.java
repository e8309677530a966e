package io.github.keepsake4j.turn;

/**
 * The behavior of a turn that begins while another turn of the same conversation is in progress, in this process or
 * another.
 */
public enum TurnPolicy {
    /**
     * Both turns continue. Their messages are kept in order of arrival. A model may be called before the other turn's
     * answer exists. A model that is called after its tools have answered does not see the messages that the other turn
     * added since the tools were called.
     */
    KEEP,

    /** The later turn fails with a {@link TurnConflictException} before anything is written. */
    REJECT,

    /** The later turn waits until the other one is over, so that its model sees the other turn's answer. */
    WAIT
}
