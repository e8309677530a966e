package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.context.Turn.Cut;
import io.github.keepsake4j.context.Turn.Round;
import io.github.keepsake4j.context.Turn.Standing;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a context fit one limit: whole turns go first, oldest first, never the newest; then the newest turn's oldest
 * tool rounds, never the last.
 *
 * <p>An older message never comes back. So sizes count what is hidden too, and a cut depends only on sizes behind it and
 * on places in the log ({@link Places}), which no later message changes. Pinned turns take at most half the room, the
 * oldest first, and the room that they would take stays theirs.
 *
 * @param weight what a message counts
 * @param limit the limit, in the weight's unit
 * @param step how much more than needed may go at once, in the same unit; 0 for no more than needed
 * @param reason what to say of messages that go
 */
record Limit(Weight weight, long limit, long step, Reason reason) {

    /** What a message counts against a limit. */
    @FunctionalInterface
    interface Weight {
        long of(Turn turn, LoggedMessage message);
    }

    /**
     * Applies the limit.
     *
     * @param context the context
     * @param fixed what counts beside the turns, the system message and the summary included
     */
    Context apply(Context context, long fixed) {
        long room = limit - fixed;
        List<Turn> turns = context.turns();
        if (turns.isEmpty()) {
            return context.withTurns(turns, context.overflow() || isOver(context, room));
        }
        int newest = turns.size() - 1;
        boolean[] pinned = new boolean[turns.size()];
        long free = room - reservePins(turns, room, pinned);
        Places places = Places.of(context);
        long start = places.start(weigh(context, pinned, places), free, step, context.unread());
        List<Turn> cut = new ArrayList<>();
        for (int t = 0; t < newest; t++) {
            boolean gone = places.of(t) < start;
            cut.add(turns.get(t).cut(new Cut(gone ? reason : null, gone, 0, !pinned[t])));
        }
        Cut last = places.of(newest) >= start
                ? new Cut(null, false, 0, !pinned[newest])
                : shorten(turns.get(newest), pinned[newest], free, context.unread());
        cut.add(turns.get(newest).cut(last));
        boolean lost = last.whole() && isOpen(context, turns.get(newest));
        return context.withTurns(cut, context.overflow() || isOver(context, room) || lost);
    }

    /** Where nothing of the turn was read but its beginning, it is open only if results came last, whose calls are unread. */
    private static boolean isOpen(Context context, Turn turn) {
        return (turn.rounds().isEmpty() && turn.user().sequence() < context.unread())
                ? context.repaired().stream().anyMatch(omission -> omission.reason() == Reason.ORPHAN_RESULT)
                : !turn.closed();
    }

    private static boolean isOver(Context context, long room) {
        return room < 0 && (context.system() != null || context.summary() != null || context.reserved() > 0);
    }

    /** Decides which pinned parts stay, and returns the room that is kept for pinned parts. */
    private long reservePins(List<Turn> turns, long room, boolean[] stays) {
        long most = Math.max(0, room / 2);
        long total = 0;
        int newest = turns.size() - 1;
        for (int t = 0; t < newest; t++) {
            if (turns.get(t).pinned() != Turn.NOT_PINNED) {
                total += pinnedSize(turns.get(t));
                stays[t] = total <= most;
            }
        }
        long reserved = Math.min(most, total);
        if (turns.get(newest).pinned() != Turn.NOT_PINNED) {
            long size = pinnedSize(turns.get(newest));
            stays[newest] = reserved + size <= most;
            reserved += stays[newest] ? size : 0;
        }
        return reserved;
    }

    /** The newest turn is over the limit by itself: its oldest rounds go, or, if that is not enough, all of it. */
    private Cut shorten(Turn turn, boolean pinned, long free, long unread) {
        List<Round> rounds = turn.rounds();
        int first = pinned ? Math.min(turn.pinned(), rounds.size()) : 0;
        long room = free - (pinned ? 0 : weight.of(turn, turn.user()));
        Places places = Places.of(turn);
        int read = first;
        while (read < rounds.size() && places.of(read) < unread) {
            // It stands before a gap, where newer rounds may be.
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
        List<Places.Sized> sizes = new ArrayList<>();
        for (int r = first; r < rounds.size(); r++) {
            sizes.add(new Places.Sized(places.of(r), size(turn, rounds.get(r))));
        }
        long start = places.start(sizes, room, step, unread);
        int from = read;
        while (from < last && places.of(from) < start) {
            from++;
        }
        return new Cut(reason, false, from, !pinned);
    }

    /**
     * Whether the turn once was closed by an answer while what was last shown of it was over the limit. Then it left, and
     * does not come back when more follows or late results arrive, as when turns interleave.
     */
    private boolean hasLeft(Turn turn, List<Round> rounds, long room) {
        for (int a = 0; a < rounds.size(); a++) {
            if (!rounds.get(a).isAnswer()) {
                continue;
            }
            if (size(turn, rounds.get(a)) > room) {
                return true;
            }
            long closed = done(rounds.get(a));
            long reopened =
                    a + 1 < rounds.size() ? rounds.get(a + 1).messages().get(0).sequence() : Long.MAX_VALUE;
            long newerDone = Long.MAX_VALUE;
            for (int r = a; r >= 0; r--) {
                if (!canBeShown(rounds.get(r))) {
                    continue;
                }
                long last = Math.max(closed, done(rounds.get(r)));
                if (last < Math.min(newerDone, reopened) && size(turn, rounds.get(r)) > room) {
                    return true;
                }
                newerDone = Math.min(newerDone, last);
            }
        }
        return false;
    }

    /** An answer before calls was shown until they came. */
    private static boolean canBeShown(Round round) {
        return round.hidden() == null || round.hidden() == Reason.ANSWER_BEFORE_CALL;
    }

    /** When the last of the round's messages came. */
    private static long done(Round round) {
        return round.messages().stream()
                .mapToLong(LoggedMessage::sequence)
                .max()
                .orElse(0);
    }

    private List<Places.Sized> weigh(Context context, boolean[] pinned, Places places) {
        List<Places.Sized> sizes = new ArrayList<>();
        List<Turn> turns = context.turns();
        long place = 0;
        for (LoggedMessage message : context.headless()) {
            // It belongs to a turn that began before; a user message never does, so it counts as part of a round.
            // A result counts where its calls stand, as it did when the turn's beginning was still read.
            place = message.message() instanceof ToolExecutionResultMessage ? place : message.sequence();
            sizes.add(new Places.Sized(place, weight.of(turns.get(0), message)));
        }
        for (int t = 0; t < turns.size(); t++) {
            Turn turn = turns.get(t);
            if (turn.standing() == Standing.BEGINNING) {
                continue;
            }
            int first = 0;
            if (pinned[t]) {
                first = Math.min(turn.pinned(), turn.rounds().size());
            } else {
                sizes.add(new Places.Sized(places.of(t), weight.of(turn, turn.user())));
            }
            for (int r = first; r < turn.rounds().size(); r++) {
                Round round = turn.rounds().get(r);
                sizes.add(new Places.Sized(places.within(t, round), size(turn, round)));
            }
        }
        return sizes;
    }

    private long pinnedSize(Turn turn) {
        long size = weight.of(turn, turn.user());
        for (Round round :
                turn.rounds().subList(0, Math.min(turn.pinned(), turn.rounds().size()))) {
            size += size(turn, round);
        }
        return size;
    }

    private long size(Turn turn, Round round) {
        return round.messages().stream()
                .mapToLong(message -> weight.of(turn, message))
                .sum();
    }
}
