package io.github.keepsake4j.log.s3;

import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * The server's clock, estimated from the dates of its answers: the process's clock, corrected by the difference to the
 * newest answer. Thread-safe.
 */
final class StoreClock {

    /**
     * A date is in whole seconds and arrives later than it was written. A smaller difference counts as none, so that
     * times do not jump from answer to answer.
     */
    private static final Duration LATE = Duration.ofSeconds(2);

    private static final Duration EARLY = Duration.ofMillis(-500);

    private final Clock clock;
    private volatile Duration ahead = Duration.ZERO;

    StoreClock(Clock clock) {
        this.clock = clock;
    }

    /** Records the date of an answer. Ignores an answer without a date, such as from a cache. */
    void answered(@Nullable SdkHttpResponse answer) {
        if (answer != null) {
            answer.firstMatchingHeader("Date").ifPresent(this::answered);
        }
    }

    private void answered(String date) {
        Instant server;
        try {
            server = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
        } catch (DateTimeException e) {
            return;
        }
        Duration difference = Duration.between(server, clock.instant());
        boolean agrees = difference.compareTo(EARLY) >= 0 && difference.compareTo(LATE) < 0;
        ahead = agrees ? Duration.ZERO : difference;
    }

    /** Returns the server's time, or the process's before the first answer. */
    Instant instant() {
        return clock.instant().minus(ahead);
    }
}
