package io.github.keepsake4j.recall.vectors;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex.CosineReader;
import java.time.Instant;

/**
 * The cosines of the vectors of a row with a query, in order of sequence.
 *
 * @param sequences the sequences of the messages
 * @param times their times, in milliseconds since 1970
 * @param values the cosines
 */
@SuppressWarnings("ArrayRecordComponent") // Made for one read, and never compared.
public record Cosines(long[] sequences, long[] times, double[] values) {

    static final Cosines NONE = new Cosines(new long[0], new long[0], new double[0]);

    /**
     * Passes the cosines on, the newest first.
     *
     * @param key the memory
     * @param most the largest number of cosines
     * @param reader receives them
     */
    public void read(MemoryKey key, long most, CosineReader reader) {
        for (int i = values.length - 1; i >= 0 && i >= values.length - most; i--) {
            reader.read(key, sequences[i], Instant.ofEpochMilli(times[i]), values[i]);
        }
    }
}
