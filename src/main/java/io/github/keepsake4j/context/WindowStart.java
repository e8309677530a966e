package io.github.keepsake4j.context;

import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Finds the place in the log from which on a window shows turns, or rounds of a turn. A place is the store's sequence of
 * the first message and never decreases from one turn or round to the next. Later appends do not change a place, so a
 * window can move in steps without storing any state.
 */
final class WindowStart {

    private WindowStart() {}

    /** A thing at a place, with its size. */
    record Sized(long place, long size) {}

    /** Returns the places of entries with these sequences. */
    static long[] places(LongStream sequences) {
        long[] places = sequences.toArray();
        for (int i = 1; i < places.length; i++) {
            places[i] = Math.max(places[i], places[i - 1]);
        }
        return places;
    }

    /**
     * Returns the place from which on entries are shown. With a step, the place is chosen so that it stays the same for
     * a long time. The candidates are all places that leave neither more than the room nor, by more than the step, less
     * than the room. Of these, the method returns the place that is divisible by the highest power of two. As a
     * conversation grows, the range of candidates moves on, and this place remains the choice until it leaves the
     * range.
     *
     * @param things the things, in any order
     * @param room how much may be shown
     * @param step the largest part of the room that may stay unused
     * @param unread the place before which nothing was read, so that the entries there are unknown; or 0
     * @return the place; 0 if everything fits
     */
    static long find(List<Sized> things, long room, long step, long unread) {
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
}
