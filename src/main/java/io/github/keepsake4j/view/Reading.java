package io.github.keepsake4j.view;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of a memory that a caller has seen, by a read or by a list that it set. It has no messages, so it does not
 * keep them in the heap. Immutable.
 *
 * @param position where the memory was
 * @param newest the highest sequence that was read. A message with a higher sequence that is not in {@code shown} is
 *     unknown to the caller
 * @param shown the messages that the memory showed, in order
 * @param running the newest turn's last round, if it waits for tool results. It is the end of {@code shown} but was not
 *     returned, because a model must not see calls without results. A list without it does not drop it
 * @param anchor the sequence of the anchor of the view that was in force, or 0
 * @param cut whether older messages are not shown, so that a branch from here would have room to show them again
 * @param summary the message that the summary shown before the rest covers up to, or null
 * @param whole whether {@code shown} has all messages that the memory showed at the position, each in its stored form.
 *     False if a strategy selected the messages, or if another writer changed the memory while the list was set
 */
public record Reading(
        Position position,
        long newest,
        List<StoredPosition> shown,
        List<StoredPosition> running,
        long anchor,
        boolean cut,
        @Nullable String summary,
        boolean whole) {

    /**
     * Returns whether the newest turn waits for tool results.
     *
     * @return whether there are calls that are not shown yet
     */
    public boolean isRunning() {
        return !running.isEmpty();
    }

    /**
     * Returns the ids of the messages that the memory showed, in order.
     *
     * @return the ids
     */
    public List<String> ids() {
        return shown.stream().map(StoredPosition::id).toList();
    }

    /**
     * Returns the ids of messages that the memory showed and that are behind a sequence.
     *
     * @param sequence the sequence
     * @return the ids, in order
     */
    public List<String> idsBehind(long sequence) {
        return shown.stream()
                .filter(place -> place.sequence() > sequence)
                .map(StoredPosition::id)
                .toList();
    }

    /** Returns the messages of a read that the caller of this reading does not know. */
    List<StoredPosition> unknownOf(List<LoggedMessage> messages, long known) {
        Set<String> ids = new HashSet<>(ids());
        return StoredPosition.of(messages.stream()
                .filter(message -> message.sequence() > known && !ids.contains(message.id()))
                .toList());
    }

    /** Creates the reading of a read without a strategy, which shows all messages. */
    static Reading of(Tail tail) {
        return of(tail, tail.messages(), List.of(), !tail.complete(), tail.complete());
    }

    /**
     * Creates the reading of a read from which a strategy selected messages.
     *
     * @param shown the selected messages, followed by those of the running round
     * @param running the messages of the running round
     * @param known the sequence up to which the caller knows all messages
     */
    static Reading of(Tail tail, Context context, List<LoggedMessage> shown, List<LoggedMessage> running, long known) {
        boolean cut = !tail.complete()
                || context.omitted().stream()
                        .anyMatch(omission ->
                                omission.reason() == Reason.MESSAGE_LIMIT || omission.reason() == Reason.TOKEN_LIMIT);
        Reading all = of(tail, shown, StoredPosition.of(running), cut, false);
        return known >= all.newest
                ? all
                : new Reading(all.position, known, all.shown, all.running, all.anchor, cut, all.summary, false);
    }

    /** Creates the reading of an emptied memory. Messages that arrive later are unknown to the caller. */
    static Reading empty(Position position, long newest) {
        return new Reading(position, newest, List.of(), List.of(), 0, true, null, false);
    }

    /**
     * Returns the reading after an append that makes a memory show the caller's list. The append was made for exactly
     * this position.
     */
    Reading after(ListEdit edit, Append append, AppendResult result) {
        if (!Objects.equals(result.previousHead(), position.head())) {
            return showing(edit, edit.places(append, result));
        }
        return new Reading(
                result.position(),
                Math.max(newest, result.lastSequence()),
                edit.places(append, result),
                running,
                anchor,
                true,
                edit.summary(),
                whole);
    }

    /**
     * Returns this reading with the given list after other writers have changed the memory. The position does not
     * change, so the next call compares with their changes.
     */
    Reading showing(ListEdit edit, List<StoredPosition> places) {
        return new Reading(position, newest, places, running, anchor, true, edit.summary(), false);
    }

    /** Returns this reading at a later position whose list is the caller's. Nothing in it is unknown to the caller. */
    Reading seenAgain(Reading now) {
        return new Reading(
                now.position,
                Math.max(newest, now.newest),
                now.shown,
                running,
                now.anchor,
                now.cut,
                now.summary,
                false);
    }

    /** Returns this reading for a list that also has messages of a reading that is not {@link #whole}. */
    Reading ofSelected() {
        return new Reading(position, newest, shown, running, anchor, cut, summary, false);
    }

    private static Reading of(
            Tail tail, List<LoggedMessage> shown, List<StoredPosition> running, boolean cut, boolean whole) {
        View view = tail.view();
        Summary summary = tail.summary();
        long anchor = view == null ? 0 : view.anchorSequence();
        long newest = Stream.concat(tail.messages().stream(), shown.stream())
                .mapToLong(LoggedMessage::sequence)
                .reduce(anchor, Math::max);
        return new Reading(
                tail.position(),
                newest,
                StoredPosition.of(shown),
                running,
                anchor,
                cut,
                summary != null ? summary.coversUpTo() : view == null ? null : view.summary(),
                whole);
    }

    static List<LoggedMessage> running(Context context) {
        List<ContextTurn> turns = context.turns();
        List<ContextTurn.Round> rounds =
                turns.isEmpty() ? List.of() : turns.get(turns.size() - 1).rounds();
        ContextTurn.Round last = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1);
        return last != null && last.hidden() == Reason.UNANSWERED_CALL ? last.messages() : List.of();
    }
}
