package io.github.keepsake4j.memories;

/**
 * A long-term memory that was found.
 *
 * @param memory the memory
 * @param score how well it fits, more than 0; only the scores of one search can be compared
 */
public record FoundLongTermMemory(MadeMemory memory, double score) {}
