package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Turn.Round;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Where turns, or a turn's rounds, stand: the store's sequence of their first message, never falling. A place stays the
 * same whatever is added later, which is what lets a window move in steps without keeping anything.
 */
final class Places {

    private final long[] places;

    private Places(long[] places) {
        this.places = places;
    }

    /** Something at a place, with its size. */
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

    /** The place of a turn's round: between its turn and the next one, where it may have been moved to. */
    long within(int turn, Round round) {
        long place = Math.max(places[turn], round.messages().get(0).sequence());
        return turn + 1 < places.length ? Math.max(places[turn], Math.min(place, places[turn + 1] - 1)) : place;
    }

    /**
     * The place from which on things are shown. With a step it is one where windows of any branch like to start: of all
     * places that leave neither too much nor, by more than the step, too little, the one that the highest power of two
     * divides. As a conversation grows the places to choose from move on, and this one stays the choice until it must go.
     *
     * @param things what there is, in any order
     * @param room how much may be shown
     * @param step how much less than that may be shown
     * @param unread the place before which nothing was read, so that nobody knows what there is; or 0
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

    /** The number in a range, ends included, that the highest power of two divides. */
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
