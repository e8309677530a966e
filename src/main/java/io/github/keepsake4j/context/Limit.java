package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Context.Overflow;
import io.github.keepsake4j.context.Context.Overflow.Part;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.context.Turn.Cut;
import io.github.keepsake4j.context.Turn.Round;
import io.github.keepsake4j.context.Turn.Standing;
import io.github.keepsake4j.context.WindowStart.Sized;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a context fit one limit. First it removes whole turns, oldest first, but never the newest turn. Then it removes
 * the newest turn's oldest tool rounds, but never the last round.
 *
 * <p>A message that was removed never comes back. Therefore sizes include hidden messages too, and a cut depends only
 * on the sizes after it and on places in the log ({@link WindowStart}), which later messages do not change. Pinned turns
 * take at most half of the room, the oldest first. The room for pinned turns stays reserved for them.
 *
 * @param weight returns how much a message counts
 * @param limit the limit, in the weight's unit
 * @param step how much more than necessary may be removed at once, in the same unit; 0 to remove no more than necessary
 * @param reason the reason to record for removed messages
 */
record Limit(Weight weight, long limit, long step, Reason reason) {

    /** Returns how much a message counts against a limit. */
    @FunctionalInterface
    interface Weight {
        long of(Turn turn, LoggedMessage message);
    }

    /**
     * Applies the limit.
     *
     * @param context the context
     * @param fixed what counts in addition to the turns, including the system message and the summary
     */
    Context apply(Context context, long fixed) {
        List<Turn> turns = context.turns();
        if (turns.isEmpty()) {
            return context.withTurns(turns, overflow(context, fixed, null));
        }
        int newest = turns.size() - 1;
        Sizes sizes = sizes(context, fixed);
        boolean[] leftOut = sizes.leftOut();
        boolean[] pinned = sizes.pinned();
        long free = sizes.free();
        long[] places = sizes.places();
        long start = WindowStart.find(sizes.things(), free, step, context.unread());
        List<Turn> cut = new ArrayList<>();
        for (int t = 0; t < newest; t++) {
            boolean gone = places[t] < start || leftOut[t];
            cut.add(turns.get(t).cut(new Cut(gone ? reason : null, gone, 0, !pinned[t])));
        }
        Turn last = turns.get(newest);
        Cut ofLast = leftOut[newest]
                ? Cut.whole(reason)
                : places[newest] >= start
                        ? new Cut(null, false, 0, !pinned[newest])
                        : shorten(last, pinned[newest], free, context.unread());
        cut.add(last.cut(ofLast));
        boolean lost = ofLast.whole() && isOpen(context, last);
        return context.withTurns(cut, overflow(context, fixed, lost ? last : null));
    }

    /**
     * Returns the place of the thing at which the limit is exceeded, counted from the newest on.
     *
     * @param uncertain whether a message whose turn's beginning was not read may count less than it seems
     * @return the place, or 0 if what was read does not exceed the limit for sure
     */
    long shownFrom(Context context, long fixed, Predicate<LoggedMessage> uncertain) {
        if (context.turns().isEmpty()) {
            return 0;
        }
        // Calls that wait do not count if their turn failed, which only its user message tells.
        Set<LoggedMessage> unanswered = EndedBadly.unanswered(context.headless());
        long certain = context.placedHeadless().stream()
                .filter(placed -> uncertain.test(placed.message()) || unanswered.contains(placed.message()))
                .mapToLong(placed -> placed.place() + 1)
                .max()
                .orElse(0);
        Sizes sizes = sizes(context, fixed);
        // Without a step, this is directly behind the thing that exceeds the limit.
        long start = WindowStart.find(sizes.things(), sizes.free(), 0, certain);
        return start > certain ? Math.min(start - 1, lastRound(context, sizes)) : 0;
    }

    /**
     * Returns the place of the newest turn's last round that is not hidden. The round stays while larger calls after it
     * wait for their results.
     *
     * @return the place; 0 if the round may be unread; {@link Long#MAX_VALUE} if there is none, or no room for it
     */
    private long lastRound(Context context, Sizes sizes) {
        int newest = context.turns().size() - 1;
        Turn turn = context.turns().get(newest);
        boolean pinned = sizes.pinned()[newest];
        if (room(turn, pinned, sizes.free()) < 0) {
            return Long.MAX_VALUE;
        }
        List<Round> rounds = turn.rounds();
        for (int r = rounds.size() - 1; r >= (pinned ? turn.pinnedRounds() : 0); r--) {
            if (rounds.get(r).hidden() == null && rounds.get(r).sequence() >= context.unread()) {
                return rounds.get(r).sequence();
            }
        }
        return turn.user().sequence() < context.unread() ? 0 : Long.MAX_VALUE;
    }

    /**
     * What counts against the limit.
     *
     * @param places the place of each turn
     * @param leftOut for each turn whether it is left out because it alone is over the limit
     * @param pinned for each turn whether its pinned part stays
     * @param free the room beside the pinned parts
     * @param things what counts against this room
     */
    @SuppressWarnings("ArrayRecordComponent") // Only this class uses it.
    private record Sizes(long[] places, boolean[] leftOut, boolean[] pinned, long free, List<Sized> things) {}

    private Sizes sizes(Context context, long fixed) {
        List<Turn> turns = context.turns();
        long room = limit - fixed;
        boolean[] leftOut = new boolean[turns.size()];
        for (int t = 0; t < leftOut.length; t++) {
            leftOut[t] = isLeftOut(
                    context, turns.get(t), weight.of(turns.get(t), turns.get(t).user()), room);
        }
        boolean[] pinned = new boolean[turns.size()];
        long free = room - reservePins(turns, room, pinned);
        long[] places =
                WindowStart.places(turns.stream().mapToLong(turn -> turn.user().sequence()));
        return new Sizes(places, leftOut, pinned, free, weigh(context, pinned, leftOut, places));
    }

    /**
     * Returns whether a turn is a user message without an answer that is over the limit by itself. It is left out, and
     * the other turns are shown as if it were not there. Nothing can be added to it once another turn has begun.
     */
    private static boolean isLeftOut(Context context, Turn turn, long size, long room) {
        return turn.rounds().isEmpty()
                && size > room
                && turn.user().sequence() >= context.unread()
                && turn.pinned() == Turn.NOT_PINNED;
    }

    /**
     * Returns whether the turn is still open. If only the turn's beginning was read, the turn is open only if the
     * newest messages are results whose calls were not read.
     */
    private static boolean isOpen(Context context, Turn turn) {
        return (turn.rounds().isEmpty() && turn.user().sequence() < context.unread())
                ? context.repaired().stream().anyMatch(omission -> omission.reason() == Reason.ORPHAN_RESULT)
                : !turn.closed();
    }

    /** Returns what does not fit: the first thing that a limit of a combination has found. */
    private @Nullable Overflow overflow(Context context, long fixed, @Nullable Turn lost) {
        if (context.over() != null) {
            return context.over();
        }
        boolean anyFixed = !context.beside().isEmpty() || context.reserved() > 0;
        if (fixed > limit && anyFixed) {
            return new Overflow(Part.SYSTEM_MESSAGE, reason, limit, fixed, null);
        }
        if (lost == null) {
            return null;
        }
        long size = fixed + weight.of(lost, lost.user());
        for (int r = lost.rounds().size() - 1; r >= 0; r--) {
            if (lost.rounds().get(r).hidden() == null) {
                size += size(lost, lost.rounds().get(r));
                return new Overflow(
                        Part.LAST_ROUND,
                        reason,
                        limit,
                        size,
                        Fold.newest(List.of(lost)).id());
            }
        }
        return new Overflow(
                Part.QUESTION, reason, limit, size, Fold.newest(List.of(lost)).id());
    }

    /** Decides which pinned parts stay, and returns the room that is reserved for pinned parts. */
    private long reservePins(List<Turn> turns, long room, boolean[] stays) {
        long most = Math.max(0, room / 2);
        long total = 0;
        int newest = turns.size() - 1;
        for (int t = 0; t < newest; t++) {
            total += pinnedSize(turns.get(t));
            stays[t] = turns.get(t).pinned() != Turn.NOT_PINNED && total <= most;
        }
        long reserved = Math.min(most, total);
        if (turns.get(newest).pinned() != Turn.NOT_PINNED) {
            long size = pinnedSize(turns.get(newest));
            stays[newest] = reserved + size <= most;
            reserved += stays[newest] ? size : 0;
        }
        return reserved;
    }

    /**
     * Shortens the newest turn, which exceeds the limit by itself. Its oldest rounds are removed or, if that is not
     * enough, the whole turn.
     */
    private Cut shorten(Turn turn, boolean pinned, long free, long unread) {
        List<Round> rounds = turn.rounds();
        int first = pinned ? turn.pinnedRounds() : 0;
        long room = room(turn, pinned, free);
        long[] places = WindowStart.places(rounds.stream().mapToLong(Round::sequence));
        int read = first;
        while (read < rounds.size() && places[read] < unread) {
            // The round is before a gap, which may contain newer rounds.
            read++;
        }
        int last = rounds.size() - 1;
        while (last >= read && rounds.get(last).hidden() != null) {
            last--;
        }
        boolean left = hasLeft(turn, rounds.subList(first, rounds.size()), room);
        if (room < 0 || left || (last >= read && size(turn, rounds.get(last)) > room)) {
            return new Cut(reason, true, 0, !pinned);
        }
        List<Sized> sizes = IntStream.range(first, rounds.size())
                .mapToObj(r -> new Sized(places[r], size(turn, rounds.get(r))))
                .toList();
        long start = WindowStart.find(sizes, room, step, unread);
        int from = read;
        while (from < last && places[from] < start) {
            from++;
        }
        return new Cut(reason, false, from, !pinned);
    }

    /** Returns the room for the rounds of the newest turn. */
    private long room(Turn turn, boolean pinned, long free) {
        return free - (pinned ? 0 : weight.of(turn, turn.user()));
    }

    /**
     * Returns whether the turn was already removed: an answer once closed it while the part of it that was last shown
     * exceeded the limit. Such a turn does not come back when more messages follow or late results arrive, as happens
     * when turns interleave.
     */
    private boolean hasLeft(Turn turn, List<Round> rounds, long room) {
        for (int a = 0; a < rounds.size(); a++) {
            if (!rounds.get(a).isAnswer()) {
                continue;
            }
            if (size(turn, rounds.get(a)) > room) {
                return true;
            }
            long closed = rounds.get(a).newest();
            long reopened = a + 1 < rounds.size() ? rounds.get(a + 1).sequence() : Long.MAX_VALUE;
            long newerDone = Long.MAX_VALUE;
            for (int r = a; r >= 0; r--) {
                if (!canBeShown(rounds.get(r))) {
                    continue;
                }
                long last = Math.max(closed, rounds.get(r).newest());
                if (last < Math.min(newerDone, reopened) && size(turn, rounds.get(r)) > room) {
                    return true;
                }
                newerDone = Math.min(newerDone, last);
            }
        }
        return false;
    }

    /** An answer before calls was shown until the calls were appended. */
    private static boolean canBeShown(Round round) {
        return round.hidden() == null || round.hidden() == Reason.ANSWER_BEFORE_CALL;
    }

    private List<Sized> weigh(Context context, boolean[] pinned, boolean[] leftOut, long[] places) {
        List<Sized> sizes = new ArrayList<>();
        List<Turn> turns = context.turns();
        // A headless message belongs to a turn that began earlier. It is never a user message, so it counts as part of
        // a round.
        context.placedHeadless()
                .forEach(placed -> sizes.add(new Sized(placed.place(), weight.of(turns.get(0), placed.message()))));
        for (int t = 0; t < turns.size(); t++) {
            Turn turn = turns.get(t);
            if (turn.standing() == Standing.BEGINNING || leftOut[t]) {
                continue;
            }
            if (!pinned[t]) {
                sizes.add(new Sized(places[t], weight.of(turn, turn.user())));
            }
            // A round counts between its turn and the next turn, even if it was moved there.
            long most = t + 1 < places.length ? Math.max(places[t], places[t + 1] - 1) : Long.MAX_VALUE;
            for (Round round : turn.rounds()
                    .subList(pinned[t] ? turn.pinnedRounds() : 0, turn.rounds().size())) {
                long place = Math.max(places[t], Math.min(round.sequence(), most));
                sizes.add(new Sized(place, size(turn, round)));
            }
        }
        return sizes;
    }

    /** Returns the size of a turn's pinned part, or 0 if no part is pinned. */
    private long pinnedSize(Turn turn) {
        return turn.pinned() == Turn.NOT_PINNED
                ? 0
                : weight.of(turn, turn.user())
                        + turn.rounds().stream()
                                .limit(turn.pinnedRounds())
                                .mapToLong(round -> size(turn, round))
                                .sum();
    }

    private long size(Turn turn, Round round) {
        long size = 0;
        for (LoggedMessage message : round.messages()) {
            size += weight.of(turn, message);
        }
        return size;
    }
}
