package io.github.keepsake4j.view;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a caller has seen of a memory, by a read or by a list that it set itself, without the messages: the caller decides
 * how long those live. Immutable.
 *
 * @param position where the memory was
 * @param newest the highest sequence that was read: a message of a higher one that is not in {@code shown} is unknown to
 *     the caller
 * @param shown what the memory showed, in order
 * @param running the newest turn's last round, if it waits for tool results. It is in {@code shown} but was not given out:
 *     a model must not see calls without results, but a list without them does not mean to drop them
 * @param anchor the sequence of the anchor of the view that was in force, or 0
 * @param cut whether something older is not shown, so that a branch from here would have room to show it again
 * @param summary the message up to which the summary covers that is shown before the rest, or null
 */
public record Reading(
        Position position,
        long newest,
        List<Place> shown,
        List<Place> running,
        long anchor,
        boolean cut,
        @Nullable String summary) {

    /**
     * Tells whether the newest turn waits for tool results.
     *
     * @return whether calls are there that are not shown yet
     */
    public boolean isRunning() {
        return !running.isEmpty();
    }

    /**
     * Puts a summary before what was shown.
     *
     * @param coversUpTo the id of the message that it covers up to, or null for none
     * @return a copy
     */
    public Reading behindSummary(@Nullable String coversUpTo) {
        return new Reading(position, newest, shown, running, anchor, cut, coversUpTo);
    }

    /** The messages of a read that the caller of this one does not know. */
    List<Place> unknownOf(List<LoggedMessage> messages, long known) {
        Set<String> ids = new HashSet<>();
        shown.forEach(place -> ids.add(place.id()));
        return Place.of(messages.stream()
                .filter(message -> message.sequence() > known && !ids.contains(message.id()))
                .toList());
    }

    /** Notes a read without a strategy: all that the memory shows. */
    static Reading of(Tail tail) {
        return of(tail, tail.messages(), List.of(), !tail.complete());
    }

    /** Notes a read of which a strategy selected a part. */
    static Reading of(Tail tail, Context context) {
        boolean cut = !tail.complete()
                || context.omitted().stream()
                        .anyMatch(omission -> omission.reason() == Context.Reason.MESSAGE_LIMIT
                                || omission.reason() == Context.Reason.TOKEN_LIMIT);
        List<LoggedMessage> running = running(context);
        List<LoggedMessage> all = new ArrayList<>(context.logged());
        all.addAll(running);
        return of(tail, all, Place.of(running), cut);
    }

    /** Notes that a memory was emptied. The messages that arrive from now on are unknown to the caller. */
    static Reading empty(Position position, long newest) {
        return new Reading(position, newest, List.of(), List.of(), 0, true, null);
    }

    /** What a caller has seen once a memory shows its list, by a step from just where the caller saw the memory. */
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
                edit.summary());
    }

    /** The same, where others were first. The position stays, so that the next step looks at what they did. */
    Reading showing(ListEdit edit, List<Place> places) {
        return new Reading(position, newest, places, running, anchor, true, edit.summary());
    }

    /** The same, after a view was set that shows nothing. */
    Reading cleared(AppendResult result) {
        return new Reading(result.position(), newest, shown, running, anchor, cut, summary);
    }

    private static Reading of(Tail tail, List<LoggedMessage> shown, List<Place> running, boolean cut) {
        View view = tail.view();
        Summary summary = tail.summary();
        long anchor = view == null ? 0 : view.anchorSequence();
        long newest = Stream.concat(tail.messages().stream(), shown.stream())
                .mapToLong(LoggedMessage::sequence)
                .reduce(anchor, Math::max);
        return new Reading(
                tail.position(),
                newest,
                Place.of(shown),
                running,
                anchor,
                cut,
                summary != null ? summary.coversUpTo() : view == null ? null : view.summary());
    }

    static List<LoggedMessage> running(Context context) {
        List<Turn> turns = context.turns();
        List<Turn.Round> rounds =
                turns.isEmpty() ? List.of() : turns.get(turns.size() - 1).rounds();
        Turn.Round last = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1);
        return last != null && last.hidden() == Context.Reason.UNANSWERED_CALL ? last.messages() : List.of();
    }
}
