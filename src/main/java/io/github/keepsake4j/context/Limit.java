package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Context.Overflow;
import io.github.keepsake4j.context.Context.Overflow.Part;
import io.github.keepsake4j.context.Context.Placed;
import io.github.keepsake4j.context.ContextTurn.Cut;
import io.github.keepsake4j.context.ContextTurn.Form;
import io.github.keepsake4j.context.ContextTurn.Round;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.context.WindowStart.Sized;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a context fit one limit. First it removes whole turns, oldest first, but never the newest turn. Then it
 * removes the newest turn's oldest tool rounds, but never the last round. Skipped turns ({@link SkippedTurns}) do not count.
 *
 * <p>A message that was removed never comes back. Therefore sizes include hidden messages too, and a cut depends only
 * on the sizes after it and on places in the log ({@link WindowStart}), which later messages do not change. Pinned turns
 * take at most half of the room, the oldest first. The room for pinned turns stays reserved for them.
 *
 * @param weight returns the weight of a message
 * @param limit the limit, in the weight's unit
 * @param fixed the weight in addition to the turns, including the system message and the summary
 * @param step the largest surplus that may be removed at once, in the same unit; 0 to remove no more than necessary
 * @param reason the reason to record for removed messages
 * @param shortened the tool results that are shown in another form, by the id of the stored ones
 */
record Limit(Weight weight, long limit, long fixed, long step, Reason reason, Map<String, ChatMessage> shortened) {

    /** The part of a limit that the question and the answer of a skipped turn may take: a quarter. */
    private static final int SHORT = 4;

    /** Returns the weight of a message in a limit. */
    @FunctionalInterface
    interface Weight {
        long of(ContextTurn turn, LoggedMessage message);
    }

    /** Returns the form in which this limit shows a turn that is over. */
    Form form(ContextTurn turn) {
        long room = limit - fixed;
        if (size(turn, turn.rounds()) <= room) {
            return Form.WHOLE;
        }
        int last = turn.rounds().size() - 1;
        return turn.closed()
                        && turn.rounds().get(last).hidden() == null
                        && size(turn, turn.rounds().subList(last, last + 1)) <= Math.min(mostShort(), room)
                ? Form.QUESTION_AND_ANSWER
                : Form.NOTHING;
    }

    /** Returns the space that a question and its answer may take. In a small window of messages, it is two messages. */
    private long mostShort() {
        return reason == Reason.MESSAGE_LIMIT ? Math.max(limit / SHORT, 2) : limit / SHORT;
    }

    /** Returns whether messages alone exceed the limit, regardless of their turn. */
    boolean isExceededBy(Context context, List<LoggedMessage> messages) {
        return !messages.isEmpty()
                && !context.turns().isEmpty()
                && messages.stream()
                                .mapToLong(message -> weight.of(context.turns().get(0), message))
                                .sum()
                        > limit - fixed;
    }

    /** Applies the limit to a context with its marks. */
    Context apply(Context context) {
        List<ContextTurn> turns = context.turns();
        List<Cut> cuts = cuts(context, context.counted());
        List<ContextTurn> cut = new ArrayList<>();
        int next = 0;
        for (ContextTurn turn : turns) {
            cut.add(turn.form() == Form.NOTHING ? turn : turn.cut(cuts.get(next++)));
        }
        ContextTurn newest = turns.isEmpty() ? null : turns.get(turns.size() - 1);
        boolean lost = newest != null
                && (newest.form() == Form.NOTHING
                        ? form(newest) == Form.NOTHING
                        : cuts.get(cuts.size() - 1).whole())
                && isOpen(context, newest);
        return context.shortening(shortened).withTurns(cut, overflow(context, lost ? newest : null));
    }

    private List<Cut> cuts(Context context, List<ContextTurn> turns) {
        if (turns.isEmpty()) {
            return List.of();
        }
        int newest = turns.size() - 1;
        Sizes sizes = sizes(context, turns);
        boolean[] pinned = sizes.pinned();
        long free = sizes.free();
        long[] places = sizes.places();
        long start = WindowStart.find(sizes.things(), free, step, context.unread());
        List<Cut> cuts = new ArrayList<>();
        for (int t = 0; t < newest; t++) {
            boolean gone = places[t] < start;
            cuts.add(new Cut(gone ? reason : null, gone, 0, !pinned[t]));
        }
        cuts.add(
                places[newest] >= start
                        ? new Cut(null, false, 0, !pinned[newest])
                        : shorten(turns.get(newest), pinned[newest], free, context.unread()));
        return cuts;
    }

    /**
     * Returns the place before which no message can be shown. Only turns that were read from their beginning determine
     * it: another turn may be skipped, or count less.
     *
     * @return the place, or 0 if more must be read to determine it
     */
    long shownFrom(Context context) {
        if (context.endsAtPassed()) {
            return context.unread();
        }
        List<ContextTurn> turns = context.counted();
        if (turns.isEmpty()
                || isUnknown(context, context.turns().get(context.turns().size() - 1))) {
            return 0;
        }
        long certain = certain(context, turns);
        Sizes sizes = sizes(context, turns);
        // A full window of messages or turns has no space left. With tokens or a step, more messages are needed.
        boolean isExact = step == 0 && reason == Reason.MESSAGE_LIMIT;
        long start = WindowStart.find(sizes.things(), isExact ? sizes.free() - 1 : sizes.free(), 0, certain);
        return start > certain ? Math.min(start - 1, lastRound(context, turns, sizes)) : 0;
    }

    /**
     * Returns the place before which it is not certain what counts. A turn whose beginning was not read may have failed, or
     * may be the newest one that is shown. It may also be shown behind a turn that went on while it ran. The newest turn's
     * user message may be before the messages that were read. The messages in between are unknown.
     */
    private static long certain(Context context, List<ContextTurn> turns) {
        long certain = context.unread();
        for (Placed headless : context.placedHeadless()) {
            LoggedMessage message = headless.message();
            certain = Math.max(certain, 1 + (message.question() == null ? headless.place() : message.sequence()));
        }
        long behind = certain;
        if (!context.read().headless().isEmpty()) {
            for (ContextTurn turn : turns) {
                certain = turn.user().sequence() < behind ? Math.max(certain, 1 + turn.newest()) : certain;
            }
        }
        return certain;
    }

    /** Returns whether a turn is over and its beginning was not read, so that it may be skipped. */
    private static boolean isUnknown(Context context, ContextTurn newest) {
        return newest.closed() && newest.place() < context.unread();
    }

    /**
     * Returns the place of the newest turn's last round that is not hidden. The round stays while larger calls after it
     * wait for their results.
     *
     * @return the place; 0 if the round may be unread; {@link Long#MAX_VALUE} if there is none, or no room for it
     */
    private long lastRound(Context context, List<ContextTurn> turns, Sizes sizes) {
        int newest = turns.size() - 1;
        ContextTurn turn = turns.get(newest);
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
        return turn.place() < context.unread() ? 0 : Long.MAX_VALUE;
    }

    /**
     * What counts against the limit.
     *
     * @param places the place of each turn
     * @param pinned for each turn whether its pinned part stays
     * @param free the room next to the pinned parts
     * @param things what counts against this room
     */
    @SuppressWarnings("ArrayRecordComponent") // Only this class uses it.
    private record Sizes(long[] places, boolean[] pinned, long free, List<Sized> things) {}

    private Sizes sizes(Context context, List<ContextTurn> turns) {
        long room = limit - fixed;
        boolean[] pinned = new boolean[turns.size()];
        long free = room - reservePins(turns, room, pinned);
        long[] places = WindowStart.places(turns.stream().mapToLong(ContextTurn::place));
        return new Sizes(places, pinned, free, weigh(context, turns, pinned, places));
    }

    /**
     * Returns whether the turn is still open. If only the turn's beginning was read, the turn is open only if the
     * newest messages are results whose calls were not read.
     */
    private static boolean isOpen(Context context, ContextTurn turn) {
        return (turn.rounds().isEmpty() && turn.place() < context.unread())
                ? context.read().repaired().stream().anyMatch(omission -> omission.reason() == Reason.ORPHAN_RESULT)
                : !turn.closed();
    }

    /** Returns the part that does not fit: the first one that a limit of a combination has found. */
    private @Nullable Overflow overflow(Context context, @Nullable ContextTurn lost) {
        if (context.over() != null) {
            return context.over();
        }
        boolean anyFixed =
                !context.opening().messages().isEmpty() || context.forms().reserved() > 0;
        if (fixed > limit && anyFixed) {
            return new Overflow(Part.SYSTEM_MESSAGE, reason, limit, fixed, null);
        }
        if (lost == null) {
            return null;
        }
        long size = fixed + weight.of(lost, lost.user());
        Part part = Part.QUESTION;
        for (int r = lost.rounds().size() - 1; r >= 0; r--) {
            if (lost.rounds().get(r).hidden() == null) {
                size += size(lost, lost.rounds().get(r));
                part = Part.LAST_ROUND;
                break;
            }
        }
        return new Overflow(
                part, reason, limit, size, Fold.newest(List.of(lost)).id());
    }

    /** Decides which pinned parts stay, and returns the room that is reserved for pinned parts. */
    private long reservePins(List<ContextTurn> turns, long room, boolean[] stays) {
        long most = Math.max(0, room / 2);
        long total = 0;
        int newest = turns.size() - 1;
        for (int t = 0; t < newest; t++) {
            total += pinnedSize(turns.get(t));
            stays[t] = turns.get(t).pinned() != ContextTurn.NOT_PINNED && total <= most;
        }
        long reserved = Math.min(most, total);
        if (turns.get(newest).pinned() != ContextTurn.NOT_PINNED) {
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
    private Cut shorten(ContextTurn turn, boolean pinned, long free, long before) {
        // A turn that was read from its beginning has no unread messages.
        long unread = turn.place() < before ? before : 0;
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
        if (room < 0 || (last >= read && size(turn, rounds.get(last)) > room)) {
            return new Cut(reason, true, 0, !pinned);
        }
        List<Sized> sizes = IntStream.range(first, rounds.size())
                .mapToObj(r -> new Sized(places[r], size(turn, rounds.get(r))))
                .toList();
        // A window of turns counts no rounds.
        boolean counts = sizes.stream().anyMatch(round -> round.size() > 0);
        long start = counts ? WindowStart.find(sizes, room, step, unread) : unread;
        int from = read;
        while (from < last && places[from] < start) {
            from++;
        }
        // If no round behind the pinned ones is removed, this limit does not decide about the pinned ones: another
        // limit may remove their pin.
        return from == first ? new Cut(null, false, 0, !pinned) : new Cut(reason, false, from, !pinned);
    }

    /** Returns the room for the rounds of the newest turn. */
    private long room(ContextTurn turn, boolean pinned, long free) {
        return free - (pinned ? 0 : weight.of(turn, turn.user()));
    }

    private List<Sized> weigh(Context context, List<ContextTurn> turns, boolean[] pinned, long[] places) {
        List<Sized> sizes = new ArrayList<>();
        // A headless message belongs to a turn that began earlier. It is never a user message, so it counts as part of
        // a round. If everything was read, its turn is not shown.
        if (context.unread() > 0) {
            context.placedHeadless()
                    .forEach(placed -> sizes.add(new Sized(placed.place(), weight.of(turns.get(0), placed.message()))));
        }
        for (int t = 0; t < turns.size(); t++) {
            ContextTurn turn = turns.get(t);
            if (turn.standing() == ContextTurn.Standing.BEGINNING) {
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
    private long pinnedSize(ContextTurn turn) {
        return turn.pinned() == ContextTurn.NOT_PINNED
                ? 0
                : size(turn, turn.rounds().subList(0, turn.pinnedRounds()));
    }

    /** Returns the size of a turn's user message and some of its rounds. */
    private long size(ContextTurn turn, List<Round> rounds) {
        long size = weight.of(turn, turn.user());
        for (Round round : rounds) {
            size += size(turn, round);
        }
        return size;
    }

    private long size(ContextTurn turn, Round round) {
        long size = 0;
        for (LoggedMessage message : round.messages()) {
            size += weight.of(turn, message);
        }
        return size;
    }
}
