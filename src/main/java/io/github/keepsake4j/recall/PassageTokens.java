package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.text.Fence;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The tokens that are left for passages. Counts everything that a model is shown: also dates, speakers, indents and the
 * marks around each passage. Used by one thread.
 */
final class PassageTokens {

    /** The fewest tokens of an excerpt. With fewer, hardly more than its date and its marks would be shown. */
    private static final int FEWEST_OF_EXCERPT = 40;

    /** The share of all tokens that a passage may have, so that others have room beside it. */
    private static final int SHARE_OF_PASSAGE = 8;

    /** The tokens that a passage may have even if that is more than its share. */
    private static final int ALWAYS_OF_PASSAGE = 150;

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
    private final long mostOfPassage;
    private final Map<Long, Excerpt> excerpts = new HashMap<>();
    private long left;

    /** The tokens that are left for this passage, no more than those for all. */
    private long leftOfPassage;

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
        mostOfPassage = Math.max(ALWAYS_OF_PASSAGE, most / SHARE_OF_PASSAGE);
        left = most;
        nextPassage();
    }

    /** Returns whether a message may fit in the passage. */
    boolean isAnyLeft() {
        return left > 0;
    }

    /** Begins the next passage. */
    void nextPassage() {
        left -= marks;
        leftOfPassage = Math.min(left, mostOfPassage);
        excerpts.clear();
    }

    /**
     * Takes the tokens of a message, or of an excerpt if the whole does not fit.
     *
     * @param message the message
     * @param ofLength returns the excerpt of about a number of code units
     * @return false if not even an excerpt fits
     */
    boolean take(LoggedMessage message, IntFunction<Excerpt> ofLength) {
        boolean mayFit = RecalledText.own(message, null).length() <= MOST_UNITS_OF_TOKEN * leftOfPassage;
        if (mayFit && take(count(message, null))) {
            return true;
        }
        int length = (int) Math.min(Integer.MAX_VALUE, UNITS_OF_TOKEN * leftOfPassage);
        while (leftOfPassage >= FEWEST_OF_EXCERPT && length > TextCuts.MAX_CUT) {
            Excerpt excerpt = ofLength.apply(length);
            int tokens = count(message, excerpt);
            if (take(tokens)) {
                excerpts.put(message.sequence(), excerpt);
                return true;
            }
            length = (int) (SHORTER * length * leftOfPassage / tokens);
        }
        return false;
    }

    /** Returns by sequence the parts of the messages of this passage of which the whole did not fit. */
    Map<Long, Excerpt> excerpts() {
        return Map.copyOf(excerpts);
    }

    private boolean take(int tokens) {
        boolean fits = tokens <= leftOfPassage;
        left -= fits ? tokens : 0;
        leftOfPassage -= fits ? tokens : 0;
        return fits;
    }

    private int count(LoggedMessage message, @Nullable Excerpt excerpt) {
        return counter.count(RecalledText.line(message, excerpt, zone) + "\n").tokens();
    }
}
