package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Times are stored in microseconds, or refused by name, and every backend draws the same line. */
public interface TimesContract extends LogUnderTest {

    Instant EARLIEST = Instant.EPOCH.plus(Long.MIN_VALUE, ChronoUnit.MICROS);
    Instant LATEST = Instant.EPOCH.plus(Long.MAX_VALUE, ChronoUnit.MICROS);

    List<Instant> STORED = List.of(
            EARLIEST,
            Instant.parse("-0001-01-01T00:00:00Z"),
            Instant.parse("0001-01-01T00:00:00.000001Z"),
            Instant.parse("1969-12-31T23:59:59.999999999Z"),
            Instant.parse("1969-12-31T23:59:59.000000999Z"),
            Instant.EPOCH,
            Instant.parse("2262-04-11T23:47:16.854775808Z"),
            Instant.parse("9999-12-31T23:59:59.999999999Z"),
            Instant.parse("+10000-01-01T00:00:00.123456789Z"),
            LATEST.plusNanos(999));

    List<Instant> REFUSED = List.of(Instant.MIN, EARLIEST.minusNanos(1), LATEST.plusNanos(1000), Instant.MAX);

    @Test
    default void times_of_messages_and_summaries_are_stored_in_microseconds() throws Exception {
        for (int i = 0; i < STORED.size(); i++) {
            log().append(
                            KEY,
                            Append.under(Parent.head(), List.of(at(STORED.get(i), "m" + i)))
                                    .asImport());
            Logs.putSummary(log(), KEY, summary("m" + i, STORED.get(i)), 1);
        }
        List<Instant> truncated =
                STORED.stream().map(time -> time.truncatedTo(ChronoUnit.MICROS)).toList();

        MessageLog second = reopen();
        assertThat(history(second, KEY).stream().map(LoggedMessage::createdAt)).isEqualTo(truncated);
        assertThat(Logs.summaries(second, KEY).stream().map(Summary::createdAt)).isEqualTo(truncated);
        assertThat(second.list(KEY.tenant(), ListQuery.first(1))
                        .memories()
                        .get(0)
                        .lastMessageAt())
                .isEqualTo(LATEST);
    }

    @Test
    default void a_time_that_does_not_fit_is_refused_by_name() {
        for (Instant time : REFUSED) {
            assertRefused("createdAt", () -> at(time, "a"));
            assertRefused("createdAt", () -> summary("a", time));
        }
        assertThat(history(log(), KEY)).isEmpty();
    }

    @Test
    default void a_lease_that_would_end_behind_the_last_time_is_refused_by_name() throws Exception {
        Duration longest = Duration.between(storeTime(), LATEST);
        assertRefused("lease duration", () -> lease(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)));
        // The time of a store with its own clock is not the caller's.
        Duration beyond = longest.plus(
                        Duration.between(clock().instant(), storeTime()).abs())
                .plusSeconds(1);
        assertRefused("lease duration", () -> lease(beyond));

        assertThat(lease(longest).expiresAt()).isEqualTo(LATEST);
        assertThat(reopen().acquireLease(KEY, "work", "other", Duration.ofSeconds(1)))
                .isEmpty();
    }

    @Test
    default void a_clock_that_is_out_of_range_is_named_and_nothing_is_written() {
        log().append(KEY, batch("a"));
        clock().advance(Duration.between(clock().instant(), Instant.MAX));

        assertRefused("clock", () -> log().append(KEY, batch("b")));
        assertRefused("clock", () -> Logs.describe(log(), KEY, "title", Map.of()));
        if (!(this instanceof StoreClockContract)) {
            assertRefused("clock", () -> lease(Duration.ofSeconds(1)));
        }
        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void times_inside_aMessage_are_kept_whatever() throws Exception {
        List<Instant> times = new ArrayList<>(STORED);
        times.addAll(REFUSED);
        for (int i = 0; i < times.size(); i++) {
            UserMessage message = UserMessage.builder()
                    .addContent(dev.langchain4j.data.message.TextContent.from(SECRET))
                    .attributes(Map.of("at", times.get(i)))
                    .build();
            log().append(KEY, Append.under(Parent.head(), List.of(message("m" + i, message, 1))));
        }

        assertThat(history(reopen(), KEY).stream()
                        .map(logged ->
                                ((UserMessage) logged.message()).attributes().get("at")))
                .isEqualTo(times);
    }

    private Lease lease(Duration duration) {
        return log().acquireLease(KEY, "work", "owner", duration).orElseThrow();
    }

    private static NewMessage at(Instant time, String id) {
        return new NewMessage(id, UserMessage.from(SECRET + " " + id), 10, "test-counter", time);
    }

    private static Summary summary(String coversUpTo, Instant time) {
        return new Summary(coversUpTo, SECRET, 1, "test-counter", 1, 1, null, time);
    }

    private static void assertRefused(String field, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(InvalidInputException.class).hasMessageStartingWith(field + ":");
    }
}
