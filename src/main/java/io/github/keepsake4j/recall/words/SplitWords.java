package io.github.keepsake4j.recall.words;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the terms of words that were split before. Few words make up most of a text, and to stem one takes longer than
 * everything else. It holds at most {@value #SIZE} short words, some megabytes. Thread-safe.
 */
final class SplitWords {

    private static final int BITS = 13;
    private static final int SIZE = 1 << BITS;

    /** Longer words are rare and have many parts. */
    private static final int MAX_LENGTH = 24;

    private record Kept(String word, SplitWord split) {}

    private final AtomicReferenceArray<@Nullable Kept> kept = new AtomicReferenceArray<>(SIZE);

    /** Returns the terms of a word, which are always made by the same function. */
    SplitWord get(String word, Function<String, SplitWord> splitter) {
        if (word.length() > MAX_LENGTH) {
            return splitter.apply(word);
        }
        int hash = word.hashCode() * 0x9E3779B9;
        int place = hash >>> (32 - BITS);
        Kept known = kept.get(place);
        if (known != null && known.word().equals(word)) {
            return known.split();
        }
        SplitWord split = splitter.apply(word);
        kept.set(place, new Kept(word, split));
        return split;
    }
}
