package io.github.keepsake4j.view;

import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One read of a memory as its caller saw it, without the messages themselves: whoever holds those decides how long they
 * live. Immutable.
 *
 * @param position where the memory was
 * @param newest the highest sequence that was read: a message of a higher one is unknown to the caller
 * @param shown what the caller was given, in order
 * @param running the newest turn's last round, if it waits for tool results. It is not given out, since a model must not
 *     see calls without results; but a list without it does not mean to drop it
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
        return of(tail, context.logged(), running(context), cut);
    }

    /** Notes that a memory was emptied. The messages that arrive from now on are unknown to the caller. */
    static Reading empty(Position position, long newest) {
        return new Reading(position, newest, List.of(), List.of(), 0, true, null);
    }

    /** The same, once the memory shows a list. The stored messages of it are known to the caller. */
    Reading showing(ListEdit edit) {
        List<Place> places = edit.items().stream()
                .map(ListEdit.Item::known)
                .filter(Objects::nonNull)
                .toList();
        return new Reading(position, newest, places, running, anchor, true, edit.summary());
    }

    /** The same, after a step of the caller. Its head stays: what was appended behind that is unknown to the caller. */
    Reading at(AppendResult result) {
        return new Reading(
                new Position(result.epoch(), result.revision(), position.head()),
                newest,
                shown,
                running,
                anchor,
                cut,
                summary);
    }

    private static Reading of(Tail tail, List<LoggedMessage> shown, List<LoggedMessage> running, boolean cut) {
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
                Place.of(running),
                anchor,
                cut,
                summary != null ? summary.coversUpTo() : view == null ? null : view.summary());
    }

    private static List<LoggedMessage> running(Context context) {
        List<Turn> turns = context.turns();
        List<Turn.Round> rounds =
                turns.isEmpty() ? List.of() : turns.get(turns.size() - 1).rounds();
        Turn.Round last = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1);
        return last != null && last.hidden() == Context.Reason.UNANSWERED_CALL ? last.messages() : List.of();
    }
}
