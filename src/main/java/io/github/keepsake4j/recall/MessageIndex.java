package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores which terms occur in which messages of a log, and vectors of the messages. An index is built from the log in the background. It never
 * contains a message's text or id. It can be dropped and rebuilt while no process uses it. It works with any log. Its
 * results for one tenant do not depend on other tenants.
 *
 * <p>Every method is atomic and thread-safe, also across processes that share the store. It throws
 * {@link StorageUnavailableException} (retryable) if the store cannot be reached, and {@link UnreadableDataException}
 * if the stored index is damaged; {@link #clear} makes it usable again.
 */
public interface MessageIndex extends AutoCloseable {

    /** The largest number of terms that {@link #match} takes. */
    int MAX_TERMS = 1_000;

    /** The number of days after which vectors of a model that adds none are removed. */
    int UNUSED_DAYS = 7;

    /**
     * The number of consecutive sequences whose vectors are stored together. Vectors that are added in such blocks are
     * written once.
     */
    int VECTOR_BLOCK = 128;

    /**
     * Declares the {@code Words} that make the terms. The first call for an empty index stores their fingerprint.
     *
     * @param fingerprint identifies the {@code Words}; those that make different terms have different fingerprints
     * @throws KeepsakeException if the index was built with other {@code Words}; {@link #clear} it or use another index
     */
    void open(String fingerprint);

    /**
     * Returns how far memories are indexed.
     *
     * @param keys the memories
     * @return the watermarks of the memories with indexed messages
     */
    Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys);

    /**
     * Adds messages and moves the watermark in one step, if it was not moved in the meantime.
     *
     * @param key the memory
     * @param before the watermark that the caller has seen, or null for none
     * @param after the new watermark, of the same epoch as {@code before}
     * @param messages the messages behind {@code before} and up to {@code after}, in order of sequence; messages
     * without terms may be left out
     * @return false if the stored watermark is not {@code before}; then nothing was changed
     */
    boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages);

    /**
     * Removes a memory from the index. Afterwards, no row has its terms. Does nothing if the memory is not indexed.
     *
     * @param key the memory
     */
    void remove(MemoryKey key);

    /**
     * Removes everything, including the fingerprint that {@link #open} stored. If a SQLite file is damaged,
     * {@code .damaged} is added to its name, and a new file is created. No other process may use the file meanwhile.
     *
     * @throws UnreadableDataException if a damaged file has tables of other owners; then nothing was changed
     */
    void clear();

    /**
     * Frees the space of removed rows and overwrites their remains in files, as far as the store can. It may take
     * long and may block other callers.
     */
    void compact();

    /**
     * Lists the tenants with indexed messages.
     *
     * @return their ids, in any order
     */
    List<String> tenants();

    /**
     * Lists the memories of a tenant that have indexed messages.
     *
     * @param tenant the tenant's id
     * @param after the number of the last memory on the previous page, or 0 for the first page
     * @param limit the largest number of memories, 1 or more
     * @return the memories by their numbers, in rising order; fewer than the limit on the last page
     */
    Map<Long, MemoryKey> memories(String tenant, long after, int limit);

    /**
     * Finds memories by the numbers that {@link Posting#memory()} returns.
     *
     * @param numbers the numbers
     * @return the memories; removed memories are absent
     */
    Map<Long, MemoryKey> keys(Collection<Long> numbers);

    /**
     * Reads the postings of terms from the rarest term on, up to a limit. Of the term that would exceed the limit, the
     * same share of each memory's postings is read, the newest ones. Of more frequent terms, only the frequency
     * is returned. If more memories have a term than the limit allows, the most recently added memories are read.
     *
     * @param scope where to look
     * @param terms the terms, at most {@value #MAX_TERMS}
     * @param maxPostings the largest number of postings, 1 or more; rounding may add one for each memory
     * @return the matches
     */
    Matches match(Scope scope, Collection<String> terms, int maxPostings);

    /**
     * Returns how far memories have vectors of a model.
     *
     * @param model the text that identifies the model and the dimension of its vectors
     * @param keys the memories
     * @return the marks of the memories that have one
     */
    Map<MemoryKey, VectorMark> vectorMarks(String model, Collection<? extends MemoryKey> keys);

    /**
     * Adds vectors of messages and moves the mark in one step, if it was not moved in the meantime. Without vectors, the
     * mark alone is stored. Models do not affect each other, except that vectors of this memory by a model that added none
     * to the index for {@value #UNUSED_DAYS} days are removed.
     *
     * @param model the text that identifies the model and the dimension of its vectors
     * @param key the memory
     * @param before the mark that the caller has seen, or null for none
     * @param after the new mark, of the same epoch as {@code before}
     * @param vectors the vectors of messages behind {@code before} and up to {@code after}, in order of sequence; a message
     * may have several, or none. Those without a direction are left out: zero vectors, and those that are not finite
     * @return false if the stored mark is not {@code before}, or the memory is not indexed in this epoch; then nothing was
     * changed
     * @throws InvalidInputException if a sequence is out of order, or vectors have different dimensions
     */
    boolean addVectors(
            String model, MemoryKey key, @Nullable VectorMark before, VectorMark after, List<MessageVector> vectors);

    /**
     * Compares the newest vectors of a scope with a query, and those of some other messages. The vectors are not in the heap
     * together.
     *
     * @param model the text that identifies the model and the dimension of its vectors
     * @param scope where to look
     * @param query the vector of the query, of any length; nothing is read if the model's vectors have another dimension. The
     * cosines with a zero vector are 0
     * @param most the largest number of vectors, 1 or more. If there are more, those of messages in the latest blocks of
     * messages are read
     * @param others sequences of messages by memory. Their vectors are read even if they are older, and also those of messages
     * that are stored in one block with them. Memories outside of the scope are ignored
     * @param reader receives the cosines
     */
    void cosines(
            String model,
            Scope scope,
            float[] query,
            int most,
            Map<MemoryKey, ? extends Collection<Long>> others,
            CosineReader reader);

    /**
     * Names the store, for reports and the tag {@code backend} of metrics.
     *
     * @return a short name in lower case such as {@code sqlite}
     */
    String backend();

    /** Releases connections and files. Idempotent. A data source that the user passed stays open. */
    @Override
    void close();

    /**
     * Checks that an index is opened with the {@code Words} that built it.
     *
     * @param known the fingerprint of the words that built the index
     * @param fingerprint the fingerprint of the words that open it
     * @throws KeepsakeException if the fingerprints differ
     */
    static void checkWords(String known, String fingerprint) {
        if (!known.equals(fingerprint)) {
            throw new KeepsakeException(
                    "The index was built with the words " + known + ", not with " + fingerprint + ". Call clear() to "
                            + "rebuild it, or use another index",
                    null);
        }
    }

    /**
     * How far an index has come with a memory.
     *
     * @param epoch the memory's epoch in which the indexed messages were read
     * @param sequence the sequence of the last message that was read; all messages before it were read too
     */
    record Watermark(long epoch, long sequence) {

        /**
         * Checks that this watermark continues an earlier one.
         *
         * @param before the earlier watermark, or null for none
         * @throws InvalidInputException if this watermark has another epoch or a smaller sequence
         */
        public void checkBehind(@Nullable Watermark before) {
            if (before != null && (before.epoch != epoch || before.sequence > sequence)) {
                throw new InvalidInputException(
                        "after", "must have the epoch of " + before + " and no smaller sequence, is " + this);
            }
        }
    }

    /**
     * How far a memory has vectors of one model, and how much they are worth there.
     *
     * @param epoch the memory's epoch in which the messages were read
     * @param sequence the sequence of the last message that was read; all messages before it were read too
     * @param weight the weight of meaning in this memory; a finite number
     * @param measured the sequence of the mark at which the weight was measured, or 0 if it was not
     */
    record VectorMark(long epoch, long sequence, double weight, long measured) {

        /**
         * Checks the components.
         *
         * @throws InvalidInputException if a sequence is negative, or the weight is not finite
         */
        public VectorMark {
            InvalidInputException.checkAtLeast("sequence", 0, sequence);
            InvalidInputException.checkRange("measured", 0, sequence, measured);
            if (!Double.isFinite(weight)) {
                throw new InvalidInputException("weight", "must be finite, is " + weight);
            }
            // Not every store keeps the sign of zero.
            weight += 0.0;
        }

        /**
         * Checks that this mark continues an earlier one.
         *
         * @param before the earlier mark, or null for none
         * @throws InvalidInputException if this mark has another epoch or a smaller sequence
         */
        public void checkBehind(@Nullable VectorMark before) {
            if (before != null) {
                new Watermark(epoch, sequence).checkBehind(new Watermark(before.epoch, before.sequence));
            }
        }
    }

    /**
     * The vector of a message, or of a part of it.
     *
     * @param sequence the message's sequence in its memory, from 1
     * @param time the message's time; it is kept to the millisecond
     * @param vector the components, which are not copied. Only the direction is kept; each component is rounded to 8 bits
     */
    @SuppressWarnings("ArrayRecordComponent") // Passed from a model to an index, and never compared.
    record MessageVector(long sequence, Instant time, float[] vector) {

        /** Returns the sequence, the time and the dimension. The components are left out: they tell what the text means. */
        @Override
        public String toString() {
            return "MessageVector[sequence=" + sequence + ", time=" + time + ", dimension=" + vector.length + "]";
        }
    }

    /** Receives cosines, on the thread that asks for them. It must not call the index. */
    @FunctionalInterface
    interface CosineReader {

        /**
         * Receives the cosine of a vector. The order is not defined. A message with several vectors comes several times. If
         * the store has to repeat a read, vectors come again.
         *
         * @param key the memory
         * @param sequence the message's sequence
         * @param time the message's time, to the millisecond
         * @param cosine the cosine, from -1 to 1, exact to 0.01
         */
        void read(MemoryKey key, long sequence, Instant time, double cosine);
    }
}
