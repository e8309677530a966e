package io.github.keepsake4j.log;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock whose time is fixed until a test moves it, forward or backward. It starts with nanoseconds that a log must
 * drop.
 */
public final class TestClock extends Clock {

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-02T03:04:05.123456789Z"));

    /** Moves the time by a duration, which may be negative. */
    public void advance(Duration duration) {
        now.updateAndGet(time -> time.plus(duration));
    }

    @Override
    public Instant instant() {
        return now.get();
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }
}
