package io.github.keepsake4j.workflow;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Finds the newest parts of a text that fit a limit of tokens. A counter's costs grow with the characters that it
 * counts, so each character is counted at most twice: once on the way up or down to the limit, in few long pieces, and
 * once in the text that is returned. That text is always counted as a whole, because counts of pieces only nearly add up
 * to the count of the whole.
 */
final class FittingText {

    /** The share of a text's tokens by which counts of its pieces may be wrong, in addition to a token for each. */
    private static final int ERROR_SHARE = 256;

    private static final String SEPARATOR = "\n";

    /** Newest first. */
    private final List<String> parts;

    private final long limit;
    private final ToLongFunction<String> counts;

    /** The tokens that the counter adds to any text. */
    private final long perText;

    /** The number of the newest parts that are taken, and their tokens and characters. */
    private int taken;

    private long tokens;
    private long characters;

    /** The number of pieces that were added to or removed from a text that was counted as a whole. */
    private int pieces;

    private FittingText(List<String> parts, long limit, ToLongFunction<String> counts) {
        this.parts = parts;
        this.limit = limit;
        this.counts = counts;
        this.perText = counts.applyAsLong("");
    }

    /**
     * Finds the newest parts that fit: at most one part fewer than the largest number that fits.
     *
     * @param parts the parts, newest first, none of them empty
     * @param guess an estimate of the number of parts that fit; any number
     * @param limit the maximum number of tokens of the text
     * @param counts counts the text
     */
    static FittingText of(List<String> parts, int guess, long limit, ToLongFunction<String> counts) {
        FittingText fitting = new FittingText(parts, limit, counts);
        if (!parts.isEmpty()) {
            fitting.take(Math.min(Math.max(1, guess), parts.size()));
            fitting.find();
        }
        return fitting;
    }

    /** Returns how many parts fit. */
    int parts() {
        return taken;
    }

    /** Returns the parts that fit, oldest first, in lines. */
    String text() {
        return text(0, taken);
    }

    private void take(int count) {
        taken = count;
        String text = text(0, count);
        characters = text.length();
        tokens = counts.applyAsLong(text);
        pieces = 0;
    }

    private void find() {
        boolean goesUp = true;
        while (goesUp && tokens <= limit && taken < parts.size()) {
            goesUp = add(within((limit - tokens) * characters / Math.max(1, tokens)));
        }
        while (tokens > limit && taken > 0) {
            remove((tokens - limit) * characters / tokens);
        }
        if (pieces > 0 && taken > 1 && tokens > limit - error()) {
            taken--;
        }
        while (pieces > 0 && taken > 0) {
            take(taken);
            if (tokens > limit) {
                taken--;
                pieces++;
            }
        }
    }

    /** Returns the number of further parts that have at most this many characters, 1 or more. */
    private int within(long most) {
        int count = 0;
        long sum = 0;
        while (taken + count < parts.size() && sum <= most) {
            sum += length(taken + count);
            count++;
        }
        return sum <= most ? count : Math.max(1, count - 1);
    }

    /** Adds older parts. Returns false if a single one was too long, so that it was not added. */
    private boolean add(int count) {
        long more = counts.applyAsLong(text(taken, taken + count) + SEPARATOR) - perText;
        if (count == 1 && tokens + more > limit) {
            return false;
        }
        tokens += more;
        for (int i = 0; i < count; i++) {
            characters += length(taken++);
        }
        pieces++;
        return true;
    }

    /** Removes the oldest parts that have at most this many characters together, 1 or more. */
    private void remove(long most) {
        int first = taken - 1;
        long sum = length(first);
        while (first > 0 && sum + length(first - 1) <= most) {
            first--;
            sum += length(first);
        }
        tokens = first == 0 ? 0 : tokens - (counts.applyAsLong(text(first, taken) + SEPARATOR) - perText);
        characters -= sum;
        taken = first;
        pieces++;
    }

    private long error() {
        long part = tokens * length(taken - 1) / Math.max(1, characters);
        return Math.min(part / 2, pieces + tokens / ERROR_SHARE);
    }

    private long length(int part) {
        return parts.get(part).length() + (long) SEPARATOR.length();
    }

    /** Returns the parts of a range as text, oldest first. */
    private String text(int newest, int end) {
        StringBuilder text = new StringBuilder();
        for (int i = end - 1; i >= newest; i--) {
            text.append(parts.get(i)).append(i > newest ? SEPARATOR : "");
        }
        return text.toString();
    }
}
