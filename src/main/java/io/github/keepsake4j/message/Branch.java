package io.github.keepsake4j.message;

import java.time.Instant;

/**
 * One branch of a memory's tree of messages, named by its newest message.
 *
 * @param leafId the id of the branch's newest message, which has no children
 * @param length the number of messages from the root to the leaf, including the leaf
 * @param lastMessageAt the time when the leaf was appended, in UTC with microsecond precision
 * @param current whether the head is this branch's leaf
 */
public record Branch(String leafId, long length, Instant lastMessageAt, boolean current) {}
