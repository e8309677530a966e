package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * Outages are reported as errors, never as "empty", and lose no stored message. Each storage that can be unreachable
 * has this contract.
 */
public interface OutageContract extends LogUnderTest {

    /** A handle that ends an outage. */
    interface Outage extends AutoCloseable {

        @Override
        void close();
    }

    /** Makes the storage unreachable until the result is closed. */
    Outage breakStorage() throws Exception;

    @Test
    default void an_outage_is_aRetryable_error_of_every_call() throws Exception {
        long epoch = log().append(KEY, batch("a")).epoch();
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("append", () -> log().append(KEY, batch("b")));
        calls.put("append a replay", () -> log().append(KEY, batch("a")));
        calls.put("read", () -> log().read(KEY, ReadQuery.newest(1)));
        calls.put("read another", () -> log().read(ConversationKey.of("new", "1"), ReadQuery.newest(1)));
        calls.put("history", () -> log().history(KEY, HistoryQuery.newest(1)));
        calls.put("branches", () -> log().branches(KEY));
        calls.put("moveHead", () -> Logs.moveHead(log(), KEY, "a", null));
        calls.put("describe", () -> Logs.describe(log(), KEY, "title", Map.of()));
        calls.put("setTitle", () -> Logs.setTitle(log(), KEY, "title"));
        calls.put("mergeMetadata", () -> Logs.mergeMetadata(log(), KEY, Map.of("name", "text")));
        calls.put("mergeMetadata of nothing", () -> Logs.mergeMetadata(log(), KEY, Map.of()));
        calls.put("list", () -> log().list("acme", ListQuery.first(1)));
        calls.put("putSummary", () -> Logs.putSummary(log(), KEY, summary(), epoch));
        calls.put("summaries", () -> Logs.summaries(log(), KEY));
        calls.put("acquireLease", () -> log().acquireLease(KEY, "work", "one", Duration.ofSeconds(1)));
        calls.put("releaseLease", () -> log().releaseLease(KEY, "work", "one"));
        calls.put("erase", () -> log().erase(KEY));

        try (Outage outage = breakStorage()) {
            assertThat(outage).isNotNull();
            calls.forEach((name, call) -> assertThatThrownBy(call)
                    .as(name)
                    .isInstanceOfSatisfying(StorageUnavailableException.class, e -> assertThat(e.isRetryable())
                            .isTrue())
                    .hasMessageNotContaining(SECRET));
        }

        assertThat(branch(log(), KEY)).containsExactly("a");
        assertThat(log().read(KEY, ReadQuery.newest(1)).epoch()).isEqualTo(epoch);
    }

    @Test
    default void what_an_outage_refused_can_be_sent_again() throws Exception {
        log().append(KEY, batch("a"));
        try (Outage outage = breakStorage()) {
            assertThat(outage).isNotNull();
            assertThatThrownBy(() -> log().append(KEY, batch("b", "c")))
                    .isInstanceOf(StorageUnavailableException.class);
        }

        log().append(KEY, batch("b", "c"));

        assertThat(branch(log(), KEY)).containsExactly("a", "b", "c");
        assertThat(history(log(), KEY)).hasSize(3);
    }

    private static Summary summary() {
        return new Summary("a", SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH);
    }
}
