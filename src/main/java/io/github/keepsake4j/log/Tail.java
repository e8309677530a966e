package io.github.keepsake4j.log;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The newest part of a branch.
 *
 * @param head the memory's head, or null if it has no messages
 * @param epoch the epoch in force
 * @param revision see {@link AppendResult#revision()}
 * @param messages the messages that were asked for, oldest first
 * @param oldest the oldest messages of the same branch (behind {@link ReadQuery#after()}, if that is given), oldest first:
 *     as many as {@link ReadQuery#alsoOldest} asked for, or all where there are fewer; empty if it was not asked. Some or
 *     all of them may stand in {@code messages} too; if these reach back to the root or to that ancestor, {@code oldest}
 *     is what they begin with
 * @param system the system message in force at the branch's end (behind {@link ReadQuery#after()}, if that is given), or
 *     null; it may be older than the messages
 * @param user the newest user message up to the same end, which began the newest turn, or null; it may be older than the
 *     messages
 * @param view the view in force on this branch, or null
 * @param summary the newest summary on this branch if {@link ReadQuery#toSummary()} asked for it, or null
 * @param complete whether nothing on the branch was left out: the messages reach back to the root, the ancestor to stop
 *     behind, or the summary
 * @param missingParent the id that the branch's oldest message names as its parent although it is not there, or null
 */
public record Tail(
        @Nullable String head,
        long epoch,
        long revision,
        List<LoggedMessage> messages,
        List<LoggedMessage> oldest,
        @Nullable LoggedMessage system,
        @Nullable LoggedMessage user,
        @Nullable View view,
        @Nullable Summary summary,
        boolean complete,
        @Nullable String missingParent) {

    /** Copies the parts. */
    public Tail {
        messages = List.copyOf(messages);
        oldest = List.copyOf(oldest);
    }

    /**
     * The tail of a memory without messages.
     *
     * @param epoch the epoch in force
     * @param revision see {@link AppendResult#revision()}
     * @return the tail
     */
    public static Tail empty(long epoch, long revision) {
        return new Tail(null, epoch, revision, List.of(), List.of(), null, null, null, null, true, null);
    }
}
