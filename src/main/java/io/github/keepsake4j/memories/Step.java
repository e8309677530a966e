package io.github.keepsake4j.memories;

/**
 * A passage that was processed, or whose tries failed so far.
 *
 * @param number its number, from 1, unique among the steps of one kind of memories of a discussion
 * @param parent the number of the step that it continues, or 0 for the beginning of the conversation
 * @param passage the passage
 * @param failures the number of failed tries, or 0 if it was processed
 */
public record Step(long number, long parent, Passage passage, int failures) {

    /** The number of failed tries after which a passage is skipped. */
    public static final int MAX_FAILURES = 5;

    /**
     * Returns whether the passage was skipped: it has no memories, and the passages behind it are processed.
     *
     * @return whether {@value #MAX_FAILURES} tries or more failed
     */
    public boolean isPassedBy() {
        return failures >= MAX_FAILURES;
    }

    /**
     * Returns the step with one more failed try.
     *
     * @return the same step with one more failure
     */
    public Step failed() {
        return new Step(number, parent, passage, failures + 1);
    }
}
