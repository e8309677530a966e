package io.github.keepsake4j.message;

import java.time.Instant;
import java.util.List;

/**
 * One branch of a memory's tree of messages, named by its newest message.
 *
 * @param leafId the id of the branch's newest message, which has no children
 * @param firstOwnId the id of the branch's oldest message that no other branch has. It follows the message at which the
 * branches fork, so a reader can distinguish the branches by it. If the memory has one branch, it is the root
 * @param length the number of messages from the root to the leaf, including the leaf
 * @param lastMessageAt the time when the leaf was appended, in UTC with microsecond precision
 * @param current whether the head is this branch's leaf
 * @param names the names of the named branches that end in the leaf, in order
 */
public record Branch(
        String leafId, String firstOwnId, long length, Instant lastMessageAt, boolean current, List<String> names) {

    /** Copies the names. */
    public Branch {
        names = List.copyOf(names);
    }
}
