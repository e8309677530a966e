package io.github.keepsake4j.cli;

import java.time.Duration;

/**
 * How far long work is.
 *
 * @param text what is done, for people
 * @param done how much is done, in any unit
 * @param of how much there is in all, or 0 if it is not known
 */
record Step(String text, long done, long of) {

    /** The time before which the rest is not estimated. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private static final int MINUTE = 60;
    private static final int HOUR = 60 * MINUTE;

    /** Returns the text, and how long the rest takes if it is as fast as what was done. */
    String after(Duration elapsed) {
        if (done <= 0 || done >= of || elapsed.compareTo(SOON) < 0) {
            return text;
        }
        return text + ", about " + rounded(Math.round(elapsed.toSeconds() * ((double) (of - done) / done))) + " left";
    }

    private static String rounded(long seconds) {
        if (seconds < 2 * MINUTE) {
            return Math.max(1, seconds) + " s";
        }
        return seconds < 2 * HOUR ? seconds / MINUTE + " min" : seconds / HOUR + " h";
    }
}
