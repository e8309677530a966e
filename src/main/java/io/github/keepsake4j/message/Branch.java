package io.github.keepsake4j.message;

import java.time.Instant;

/**
 * One line of a memory's tree, named by its newest message.
 *
 * @param leafId the id of its newest message, which has no children
 * @param length how many messages lead from the root to the leaf, the leaf included
 * @param lastMessageAt when the leaf was appended, in microseconds of UTC
 * @param current whether the head is this branch's leaf
 */
public record Branch(String leafId, long length, Instant lastMessageAt, boolean current) {}
