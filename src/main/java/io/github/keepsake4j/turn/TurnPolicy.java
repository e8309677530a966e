package io.github.keepsake4j.turn;

/** What happens when a turn begins while another turn of the same conversation is going on, in this process or another. */
public enum TurnPolicy {
    /** Both go on and both are kept, in order of arrival; a model may be asked before the other turn's answer is there. */
    KEEP,

    /** The later turn fails with a {@link TurnConflictException} before anything is written. */
    REJECT,

    /** The later turn waits until the other one is over, so that its model sees the other one's answer. */
    WAIT
}
