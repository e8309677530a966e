package io.github.keepsake4j.recall.words;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Caches the terms of words. Few words make up most of a text, and stemming takes longer than everything else. Holds a
 * bounded number of short words. Thread-safe.
 *
 * @param <T> the type of the result for a word
 */
final class WordCache<T> {

    /** Longer words are rare and have many parts. */
    private static final int MAX_LENGTH = 24;

    /** The number of places that a word may have. Used words move to the front, and the last word is dropped first. */
    private static final int PLACES = 4;

    private record Kept<T>(String word, T made) {}

    private final int bits;
    private final AtomicReferenceArray<@Nullable Kept<T>> kept;

    /** Creates a cache for two to the power of {@code bits} words. */
    WordCache(int bits) {
        this.bits = bits;
        kept = new AtomicReferenceArray<>(1 << bits);
    }

    /** Returns the terms of a word, which must always come from the same function. */
    T get(String word, Function<String, T> maker) {
        if (word.length() > MAX_LENGTH) {
            return maker.apply(word);
        }
        int first = (word.hashCode() * 0x9E3779B9) >>> (32 - bits) & -PLACES;
        for (int i = 0; i < PLACES; i++) {
            Kept<T> known = kept.get(first + i);
            if (known != null && known.word().equals(word)) {
                if (i > 0) {
                    // An entry that two threads move at once may be doubled or lost. This only costs time.
                    kept.set(first + i, kept.get(first + i - 1));
                    kept.set(first + i - 1, known);
                }
                return known.made();
            }
        }
        T made = maker.apply(word);
        for (int i = PLACES - 1; i > 0; i--) {
            kept.set(first + i, kept.get(first + i - 1));
        }
        kept.set(first, new Kept<>(word, made));
        return made;
    }
}
