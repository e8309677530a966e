package io.github.keepsake4j.log;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The newest part of a branch.
 *
 * @param position where the memory is
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
        Position position,
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
     * Returns the tail of a memory without messages.
     *
     * @param position where the memory is
     * @return the tail
     */
    public static Tail empty(Position position) {
        return new Tail(position, List.of(), List.of(), null, null, null, null, true, null);
    }

    /**
     * Returns the memory's head.
     *
     * @return the message id, or null if the memory has no messages
     */
    public @Nullable String head() {
        return position.head();
    }

    /**
     * Returns the epoch in force.
     *
     * @return see {@link Position#epoch()}
     */
    public long epoch() {
        return position.epoch();
    }

    /**
     * Returns the revision in force.
     *
     * @return see {@link Position#revision()}
     */
    public long revision() {
        return position.revision();
    }

    /**
     * Adds a batch that was appended under the head.
     *
     * @param batch the messages
     * @param result the outcome of the append
     * @return the tail as a read would show it now, or null if another writer changed the memory in between
     */
    public @Nullable Tail after(List<NewMessage> batch, AppendResult result) {
        boolean isNext = !result.replayed()
                && position.isSameRevision(result.position())
                && Objects.equals(result.previousHead(), position.head());
        if (!isNext) {
            return null;
        }
        List<LoggedMessage> longer = new ArrayList<>(messages);
        LoggedMessage newestSystem = system;
        LoggedMessage newestUser = user;
        String parent = position.head();
        long sequence = result.lastSequence() - batch.size();
        for (NewMessage added : batch) {
            LoggedMessage logged = new LoggedMessage(
                    added.id(),
                    parent,
                    ++sequence,
                    added.message(),
                    added.tokens(),
                    added.tokenCounter(),
                    Instant.now());
            longer.add(logged);
            newestSystem = added.message() instanceof SystemMessage ? logged : newestSystem;
            newestUser = added.message() instanceof UserMessage ? logged : newestUser;
            parent = added.id();
        }
        return new Tail(
                result.position(),
                longer,
                oldestOf(longer),
                newestSystem,
                newestUser,
                view,
                summary,
                complete,
                missingParent);
    }

    /**
     * The oldest messages stay, unless they were all that there was: then they go on. How many a query asked for is not
     * known here, so a caller that wants n of them takes the first n.
     */
    private List<LoggedMessage> oldestOf(List<LoggedMessage> longer) {
        boolean reachNewest = !oldest.isEmpty()
                && !messages.isEmpty()
                && oldest.get(oldest.size() - 1)
                        .id()
                        .equals(messages.get(messages.size() - 1).id());
        if (!reachNewest) {
            return oldest;
        }
        List<LoggedMessage> all = new ArrayList<>(oldest);
        all.addAll(longer.subList(messages.size(), longer.size()));
        return all;
    }
}
