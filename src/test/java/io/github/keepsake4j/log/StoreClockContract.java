package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Leases of a store with a clock of its own: the clocks of the processes do not matter. */
public interface StoreClockContract extends LogUnderTest {

    Duration LEASE = Duration.ofHours(2);
    Duration AHEAD = Duration.ofHours(24);

    /** Opens a log on the same storage with another clock. The caller closes it. */
    MessageLog reopenAt(Clock clock) throws Exception;

    @Test
    default void a_process_whose_clock_is_ahead_blocks_nobody_for_longer() throws Exception {
        try (MessageLog ahead = reopenAt(Clock.offset(clock(), AHEAD))) {
            assertThat(ahead.acquireLease(KEY, "work", "ahead", LEASE)).isPresent();
            assertThat(log().acquireLease(KEY, "work", "two", LEASE)).isEmpty();
            passTime(LEASE);

            assertThat(log().acquireLease(KEY, "work", "two", LEASE)).isPresent();
        }
    }

    @Test
    default void a_process_whose_clock_is_ahead_takes_no_lease_that_is_held() throws Exception {
        try (MessageLog ahead = reopenAt(Clock.offset(clock(), AHEAD))) {
            assertThat(log().acquireLease(KEY, "work", "one", LEASE)).isPresent();

            assertThat(ahead.acquireLease(KEY, "work", "ahead", LEASE)).isEmpty();
            assertThat(log().acquireLease(KEY, "work", "one", LEASE)).isPresent();
        }
    }

    @Test
    default void a_process_whose_clock_is_behind_keeps_its_lease() throws Exception {
        try (MessageLog behind = reopenAt(Clock.offset(clock(), AHEAD.negated()))) {
            assertThat(behind.acquireLease(KEY, "work", "behind", LEASE)).isPresent();

            assertThat(log().acquireLease(KEY, "work", "two", LEASE)).isEmpty();
        }
    }
}
