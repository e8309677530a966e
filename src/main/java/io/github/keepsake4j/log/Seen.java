package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.ArrayList;
import java.util.List;

/**
 * The input of an answer: the memory's part of the list that the model received. Messages are named by their sequence
 * numbers, so that it stays small.
 *
 * @param shown the messages, in the order in which they were shown; a range is all sequence numbers from its first to its last
 * @param shortened the sequence numbers of the tool results that were shown shortened or cleared
 * @param summary the {@link Summary#version()} of the summary that was shown, or 0 for none
 * @param altered whether the request differed from the memory's list
 * @param memories the ids of the long-term memories that were shown in addition to the messages, in order
 * @param later whether earlier questions were shown without the part that was retrieved for them
 */
public record Seen(
        List<Range> shown, List<Long> shortened, long summary, boolean altered, List<String> memories, boolean later) {

    /**
     * Messages whose sequence numbers have no gaps.
     *
     * @param first the first sequence number, from 1
     * @param last the last sequence number, not less than the first
     */
    public record Range(long first, long last) {

        /** Checks the components. */
        public Range {
            InvalidInputException.checkAtLeast("seen first", 1, first);
            InvalidInputException.checkAtLeast("seen last", first, last);
        }
    }

    /**
     * Copies the lists and checks the components.
     *
     * @throws InvalidInputException if a number is too small
     */
    public Seen {
        shown = List.copyOf(shown);
        shortened = List.copyOf(shortened);
        shortened.forEach(sequence -> InvalidInputException.checkAtLeast("seen shortened", 1, sequence));
        InvalidInputException.checkAtLeast("seen summary", 0, summary);
        memories = List.copyOf(memories);
        memories.forEach(memory -> Ids.check("seen memory", memory));
    }

    /**
     * Creates the value for a request without long-term memories, of messages as they were sent.
     *
     * @param shown the messages, in the order in which they were shown
     * @param shortened the sequence numbers of the tool results that were shown shortened or cleared
     * @param summary the version of the summary that was shown, or 0 for none
     * @param altered whether the request differed from the memory's list
     */
    public Seen(List<Range> shown, List<Long> shortened, long summary, boolean altered) {
        this(shown, shortened, summary, altered, List.of(), false);
    }

    /**
     * Joins sequence numbers that follow one another.
     *
     * @param sequences the sequence numbers in the order in which the messages were shown
     * @return the ranges, in the same order
     */
    public static List<Range> ranges(List<Long> sequences) {
        List<Range> ranges = new ArrayList<>();
        for (long sequence : sequences) {
            int newest = ranges.size() - 1;
            if (newest >= 0 && ranges.get(newest).last() == sequence - 1) {
                ranges.set(newest, new Range(ranges.get(newest).first(), sequence));
            } else {
                ranges.add(new Range(sequence, sequence));
            }
        }
        return List.copyOf(ranges);
    }

    /**
     * Returns the sequence numbers of all messages that were shown.
     *
     * @return the sequence numbers, in the order in which the messages were shown
     */
    public List<Long> sequences() {
        List<Long> sequences = new ArrayList<>();
        for (Range range : shown) {
            for (long sequence = range.first(); sequence <= range.last(); sequence++) {
                sequences.add(sequence);
            }
        }
        return List.copyOf(sequences);
    }
}
