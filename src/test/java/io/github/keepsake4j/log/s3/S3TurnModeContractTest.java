package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.ConcurrencyContract;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logs;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * The contract in turn mode, with large contents beside the document. The contract rarely ends a turn. But a list,
 * another process and the bucket show only written turns, so open turns are flushed before these are read.
 */
@Tag("landing")
class S3TurnModeContractTest extends S3MessageLogTest {

    /** The memories in the order of their first use, in which they are created. */
    private final Set<MemoryKey> used = Collections.synchronizedSet(new LinkedHashSet<>());

    private boolean concurrent;

    @BeforeEach
    void note(TestInfo test) {
        concurrent = test.getTestMethod().orElseThrow().getDeclaringClass() == ConcurrencyContract.class;
    }

    @Override
    S3MessageLog.Builder configured(S3MessageLog.Builder builder) {
        return builder.turnMode(Duration.ofHours(1)).moveContentsAbove(128);
    }

    @Override
    protected MessageLog open(Clock clock) {
        MessageLog log = super.open(clock);
        return (MessageLog) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {MessageLog.class}, (proxy, method, arguments) -> {
                    if (Set.of("list", "nodes").contains(method.getName())) {
                        List.copyOf(used).forEach(log::flush);
                    } else if (arguments != null && arguments[0] instanceof MemoryKey key) {
                        used.add(key);
                    }
                    try {
                        return method.invoke(log, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /**
     * Opens a log without turn mode. The concurrency contract gets the same log instead: another process's appends come
     * before an open turn, and the results of the turn's appends cannot tell that. {@link TurnModeTest} tests the turns
     * of several logs at once.
     */
    @Override
    protected MessageLog openAgain(Clock clock) {
        if (concurrent) {
            return log();
        }
        List.copyOf(used).forEach(log()::flush);
        return super.openAgain(clock);
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) {
        log().flush(key);
        return super.rawBytes(key, messageId);
    }

    /** An append that is held back needs no storage, and neither does a read of its turn. All other calls do. */
    @Override
    @Test
    public void an_outage_is_aRetryable_error_of_every_call() throws Exception {
        log().append(KEY, batch("a"));
        List<ThrowingCallable> calls = List.of(
                () -> log().flush(KEY),
                () -> log().append(KEY, batch("b").expectingHead("a")),
                () -> Logs.moveHead(log(), KEY, "a", null),
                () -> Logs.describe(log(), KEY, "title", Map.of()),
                () -> log().acquireLease(KEY, "work", "one", Duration.ofSeconds(1)),
                () -> log().erase(KEY),
                () -> log().list("acme", ListQuery.first(1)),
                () -> log().read(ConversationKey.of("new", "1"), ReadQuery.newest(1)));
        try (Outage outage = breakStorage()) {
            assertThat(outage).isNotNull();
            calls.forEach(call -> assertThatThrownBy(call).isInstanceOf(StorageUnavailableException.class));
        }

        assertThat(branch(log(), KEY)).containsExactly("a");
        assertThat(branch(reopen(), KEY)).containsExactly("a");
    }

    /** Messages that are held back survive the outage too. */
    @Override
    @Test
    public void what_an_outage_refused_can_be_sent_again() throws Exception {
        log().append(KEY, batch("a"));
        try (Outage outage = breakStorage()) {
            assertThat(outage).isNotNull();
            assertThatThrownBy(() -> log().append(KEY, batch("b", "c").expectingHead("a")))
                    .isInstanceOf(StorageUnavailableException.class);
        }

        log().append(KEY, batch("b", "c").expectingHead("a"));

        assertThat(branch(reopen(), KEY)).containsExactly("a", "b", "c");
    }
}
