package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.text.Fence;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.ZoneId;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The tokens that are left for passages. Counts everything that a model is shown: also dates, speakers, indents and the
 * marks around each passage. Used by one thread.
 */
final class PassageTokens {

    /** The fewest tokens of an excerpt. With fewer, hardly more than its date and its marks would be shown. */
    private static final int FEWEST_OF_EXCERPT = 40;

    /** The share of all tokens that an excerpt may have, so that other passages have room beside it. */
    private static final int SHARE_OF_EXCERPT = 4;

    /** The tokens that an excerpt may have even if that is more than its share. */
    private static final int ALWAYS_OF_EXCERPT = 150;

    /** More UTF-16 code units than a token of usual text has. A longer text is not counted: it does not fit. */
    private static final int MOST_UNITS_OF_TOKEN = 16;

    /** The code units of a token, from which the length of an excerpt is guessed. */
    private static final int UNITS_OF_TOKEN = 4;

    /** The tokens that the line breaks around and between passages may add. */
    private static final long TOKENS_OF_BREAKS = 2;

    /** The factor by which an excerpt gets shorter than the last count suggests. */
    private static final double SHORTER = 0.95;

    private final TokenCounter counter;
    private final ZoneId zone;
    private final long marks;
    private final long mostOfExcerpt;
    private long left;

    /**
     * Begins with the first passage.
     *
     * @param most the tokens of all passages together
     * @param counter a counter that calls no server
     * @param zone the time zone of the dates
     */
    PassageTokens(int most, TokenCounter counter, ZoneId zone) {
        this.counter = counter;
        this.zone = zone;
        marks = counter.count(Fence.RECALLED.around("")).tokens() + TOKENS_OF_BREAKS;
        mostOfExcerpt = Math.max(ALWAYS_OF_EXCERPT, most / SHARE_OF_EXCERPT);
        left = most - marks;
    }

    /** Returns whether a message may fit in the passage. */
    boolean isAnyLeft() {
        return left > 0;
    }

    /** Begins the next passage. */
    void nextPassage() {
        left -= marks;
    }

    /** Takes the tokens of a message, or none if it does not fit. */
    boolean take(LoggedMessage message) {
        boolean fits = RecalledText.own(message, null).length() <= MOST_UNITS_OF_TOKEN * left;
        return fits && take(count(message, null), left);
    }

    /**
     * Takes the tokens of an excerpt.
     *
     * @param message the message
     * @param ofLength returns the excerpt of about a number of code units
     * @return the excerpt, or null if none fits
     */
    @Nullable
    Excerpt takeExcerpt(LoggedMessage message, IntFunction<Excerpt> ofLength) {
        long most = Math.min(left, mostOfExcerpt);
        int length = (int) (UNITS_OF_TOKEN * most);
        while (most >= FEWEST_OF_EXCERPT && length > TextCuts.MAX_CUT) {
            Excerpt excerpt = ofLength.apply(length);
            int tokens = count(message, excerpt);
            if (take(tokens, most)) {
                return excerpt;
            }
            length = (int) (SHORTER * length * most / tokens);
        }
        return null;
    }

    private boolean take(int tokens, long most) {
        left -= tokens <= most ? tokens : 0;
        return tokens <= most;
    }

    private int count(LoggedMessage message, @Nullable Excerpt excerpt) {
        return counter.count(RecalledText.line(message, excerpt, zone) + "\n").tokens();
    }
}
