package io.github.keepsake4j.recall.memories;

/**
 * A passage that was processed.
 *
 * @param number its number, from 1, unique among the steps of one kind of memories of a discussion
 * @param parent the number of the step that it continues, or 0 for the beginning of the conversation
 * @param passage the passage
 */
public record Step(long number, long parent, Passage passage) {}
