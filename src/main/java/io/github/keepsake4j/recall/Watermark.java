package io.github.keepsake4j.recall;

/**
 * How far an index has come with a memory.
 *
 * @param epoch the memory's epoch in which the indexed messages were read
 * @param sequence the sequence of the last message that was read; all before it were read too
 */
public record Watermark(long epoch, long sequence) {}
