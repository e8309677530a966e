package io.github.keepsake4j.recall.vectors;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Vectors of messages whose sequences are in one block, as an index keeps them. A block has {@value #BLOCK} consecutive
 * sequences. The stored form has the dimension in two bytes, and then for each vector, in order of sequence: the
 * sequence's place in the block (1 byte), the message's time in milliseconds since 1970 (8), 1 / length of the components
 * (4, a float), and the components (1 each).
 *
 * <p>An addition makes a row of its own for each block. When the memory's vectors have passed the block, its rows become
 * one.
 *
 * @param sequence the sequence of the first vector
 * @param newest the latest time of a message, in milliseconds since 1970
 * @param amount the number of vectors, 1 or more
 * @param stored the stored form
 */
@SuppressWarnings("ArrayRecordComponent") // Passed from here to the store, and never compared.
public record VectorRow(long sequence, long newest, int amount, byte[] stored) {

    /** The number of consecutive sequences of a block. */
    public static final int BLOCK = MessageIndex.VECTOR_BLOCK;

    private static final int HEADER = Character.BYTES;
    private static final int BESIDE_COMPONENTS = Byte.BYTES + Long.BYTES + Float.BYTES;

    /** The largest magnitude of a stored component. */
    private static final int LARGEST = 127;

    /**
     * Checks that the stored form has the vectors.
     *
     * @throws InvalidInputException if its size does not fit
     */
    public VectorRow {
        int dimension = stored.length < HEADER ? 0 : dimension(stored);
        if (dimension == 0 || amount < 1 || stored.length != HEADER + (long) amount * (BESIDE_COMPONENTS + dimension)) {
            throw new InvalidInputException(
                    "vectors", "have dimension " + dimension + " and " + stored.length + " bytes for " + amount);
        }
    }

    private static int dimension(byte[] stored) {
        return ByteBuffer.wrap(stored).getChar();
    }

    /**
     * Returns the rows of an addition. Vectors without a direction are left out: zero vectors, and those with a component
     * that is not finite.
     *
     * @param before the mark before the addition, or null for none
     * @param after the mark after it
     * @param vectors the vectors between the marks, in order of sequence
     * @return a row for each block that has vectors, in order
     * @throws InvalidInputException if the marks or the vectors are out of order, or the vectors have several dimensions
     */
    public static List<VectorRow> of(@Nullable VectorMark before, VectorMark after, List<MessageVector> vectors) {
        after.checkBehind(before);
        long last = before == null ? 1 : before.sequence() + 1;
        List<VectorRow> rows = new ArrayList<>();
        for (int from = 0, to; from < vectors.size(); from = to) {
            long block = block(vectors.get(from).sequence());
            for (to = from; to < vectors.size() && block(vectors.get(to).sequence()) == block; to++) {
                InvalidInputException.checkRange(
                        "sequence", last, after.sequence(), vectors.get(to).sequence());
                last = vectors.get(to).sequence();
                checkDimension(vectors.get(0).vector().length, vectors.get(to).vector().length);
            }
            VectorRow row = encode(vectors.subList(from, to));
            if (row != null) {
                rows.add(row);
            }
        }
        return rows;
    }

    private static void checkDimension(int first, int dimension) {
        InvalidInputException.checkRange("dimension", 1, QueryVector.MAX_DIMENSION, dimension);
        if (dimension != first) {
            throw new InvalidInputException("dimension", "differs among vectors of one model");
        }
    }

    private static @Nullable VectorRow encode(List<MessageVector> vectors) {
        int dimension = vectors.get(0).vector().length;
        ByteBuffer stored = ByteBuffer.allocate(HEADER + vectors.size() * (BESIDE_COMPONENTS + dimension));
        stored.putChar((char) dimension);
        long first = -1;
        long newest = Long.MIN_VALUE;
        int amount = 0;
        for (MessageVector vector : vectors) {
            int[] components = QueryVector.quantized(vector.vector(), LARGEST);
            double scale = QueryVector.reciprocalLength(components);
            if (scale > 0) {
                long time = vector.time().toEpochMilli();
                stored.put((byte) (vector.sequence() % BLOCK)).putLong(time).putFloat((float) scale);
                for (int component : components) {
                    stored.put((byte) component);
                }
                first = first < 0 ? vector.sequence() : first;
                newest = Math.max(newest, time);
                amount++;
            }
        }
        byte[] bytes = new byte[stored.flip().remaining()];
        stored.get(bytes);
        return amount == 0 ? null : new VectorRow(first, newest, amount, bytes);
    }

    /**
     * Returns the first sequence of a sequence's block.
     *
     * @param sequence the sequence
     * @return the first sequence
     */
    public static long block(long sequence) {
        return sequence / BLOCK * BLOCK;
    }

    /**
     * Returns the first sequence of the block that an addition completes and an earlier one may have begun.
     *
     * @param before the mark before the addition, or null for none
     * @param after the mark after it
     * @return the first sequence, or -1 if the addition does not complete the block
     */
    public static long completed(@Nullable VectorMark before, VectorMark after) {
        long begun = before == null ? 0 : block(before.sequence() + 1);
        return block(after.sequence() + 1) > begun ? begun : -1;
    }

    /**
     * Joins the rows of a completed block.
     *
     * @param earlier the rows of the block that are stored, in order of sequence, at least one
     * @param added the rows of the addition that completes it
     * @return one row of the block, then the added rows of other blocks
     */
    public static List<VectorRow> joined(List<VectorRow> earlier, List<VectorRow> added) {
        boolean isContinued = !added.isEmpty() && block(added.get(0).sequence) == block(earlier.get(0).sequence);
        List<VectorRow> ofBlock = new ArrayList<>(earlier);
        ofBlock.addAll(isContinued ? added.subList(0, 1) : List.of());
        List<VectorRow> rows = new ArrayList<>();
        rows.add(join(ofBlock));
        rows.addAll(isContinued ? added.subList(1, added.size()) : added);
        return rows;
    }

    private static VectorRow join(List<VectorRow> rows) {
        int dimension = dimension(rows.get(0).stored);
        long newest = Long.MIN_VALUE;
        int amount = 0;
        ByteArrayOutputStream stored = new ByteArrayOutputStream();
        stored.write(rows.get(0).stored, 0, HEADER);
        for (VectorRow row : rows) {
            checkDimension(dimension, dimension(row.stored));
            newest = Math.max(newest, row.newest);
            amount += row.amount;
            stored.write(row.stored, HEADER, row.stored.length - HEADER);
        }
        return new VectorRow(rows.get(0).sequence, newest, amount, stored.toByteArray());
    }

    /**
     * Compares all vectors with a query.
     *
     * @param query the query
     * @return the cosines; none if the query has another dimension
     * @throws InvalidInputException if this class did not make a vector
     */
    public Cosines cosines(QueryVector query) {
        int dimension = dimension(stored);
        if (dimension != query.dimension()) {
            return Cosines.NONE;
        }
        long block = block(sequence);
        long[] sequences = new long[amount];
        long[] times = new long[amount];
        double[] values = new double[amount];
        ByteBuffer bytes = ByteBuffer.wrap(stored).position(HEADER);
        for (int i = 0; i < amount; i++) {
            byte place = bytes.get();
            sequences[i] = block + place;
            times[i] = bytes.getLong();
            float scale = bytes.getFloat();
            if (place < 0 || !(scale > 0 && scale <= 1)) {
                throw new InvalidInputException("vectors", "have the place " + place + " and the scale " + scale);
            }
            values[i] = query.cosine(stored, bytes.position(), scale);
            bytes.position(bytes.position() + dimension);
        }
        return new Cosines(sequences, times, values);
    }
}
