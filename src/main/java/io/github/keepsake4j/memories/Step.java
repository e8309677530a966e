package io.github.keepsake4j.memories;

/**
 * A passage that was processed, or that no memory could be made of so far.
 *
 * @param number its number, from 1, unique among the steps of one kind of memories of a discussion
 * @param parent the number of the step that it continues, or 0 for the beginning of the conversation
 * @param passage the passage
 * @param failures how many tries failed, or 0 if it was processed
 */
public record Step(long number, long parent, Passage passage, int failures) {

    /** After so many tries that failed a passage is passed by. */
    public static final int MAX_FAILURES = 5;

    /**
     * Returns whether the passage has no memories, and those behind it are processed.
     *
     * @return whether {@value #MAX_FAILURES} tries or more failed
     */
    public boolean isPassedBy() {
        return failures >= MAX_FAILURES;
    }

    /**
     * Returns the step after one more try that failed.
     *
     * @return the same step with one more failure
     */
    public Step failed() {
        return new Step(number, parent, passage, failures + 1);
    }
}
