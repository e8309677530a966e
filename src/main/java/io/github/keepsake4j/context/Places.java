package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Turn.Round;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The places of turns, or of a turn's rounds. A place is the store's sequence of the first message and never decreases
 * from one turn or round to the next. A place stays the same whatever is appended later, so a window can move in steps
 * without storing any state.
 */
final class Places {

    private final long[] places;

    private Places(long[] places) {
        this.places = places;
    }

    /** A thing at a place, with its size. */
    record Sized(long place, long size) {}

    static Places of(Context context) {
        return rising(context.turns(), turn -> turn.user().sequence());
    }

    static Places of(Turn turn) {
        return rising(turn.rounds(), round -> round.messages().get(0).sequence());
    }

    long of(int index) {
        return places[index];
    }

    /**
     * Returns the place of a turn's round. It lies between its turn and the next turn, even if the round was moved
     * there.
     */
    long within(int turn, Round round) {
        long place = Math.max(places[turn], round.messages().get(0).sequence());
        return turn + 1 < places.length ? Math.max(places[turn], Math.min(place, places[turn + 1] - 1)) : place;
    }

    /**
     * Returns the place from which on things are shown. With a step, the place is chosen so that it stays the same for
     * a long time. The candidates are all places that leave neither more than the room nor, by more than the step, less
     * than the room. Of these, the method returns the place that is divisible by the highest power of two. As a
     * conversation grows, the range of candidates moves on, and this place remains the choice until it leaves the
     * range.
     *
     * @param things the things, in any order
     * @param room how much may be shown
     * @param step how much less than the room may be shown
     * @param unread the place before which nothing was read, so that the things there are unknown; or 0
     * @return the place; 0 if everything fits
     */
    long start(List<Sized> things, long room, long step, long unread) {
        List<Sized> newestFirst = things.stream()
                .sorted(Comparator.comparingLong(Sized::place).reversed())
                .toList();
        long earliest = unread;
        long latest = 0;
        long total = 0;
        for (Sized thing : newestFirst) {
            total += thing.size();
            if (latest == 0 && total >= room - step) {
                latest = thing.place();
            }
            if (total > room) {
                earliest = Math.max(unread, thing.place() + 1);
                break;
            }
        }
        return step == 0 ? earliest : roundest(earliest, Math.max(earliest, latest));
    }

    /** Returns the number in a range, including both ends, that is divisible by the highest power of two. */
    static long roundest(long from, long to) {
        if (from <= 0) {
            return 0;
        }
        for (int bit = Long.SIZE - 2; bit > 0; bit--) {
            long candidate = to >> bit << bit;
            if (candidate >= from) {
                return candidate;
            }
        }
        return to;
    }

    private static <T> Places rising(List<T> things, ToLongFunction<T> sequence) {
        long[] places = new long[things.size()];
        long highest = 0;
        for (int i = 0; i < places.length; i++) {
            highest = Math.max(highest, sequence.applyAsLong(things.get(i)));
            places[i] = highest;
        }
        return new Places(places);
    }
}
