package io.github.keepsake4j.log.inmemory;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.testing.Logs;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;

class InMemoryMessageLogTest extends MessageLogContract implements ActivityContract, MetadataListContract {

    private InMemoryMessageLog log;

    @Override
    protected MessageLog open(Clock clock) {
        log = new InMemoryMessageLog(clock, DECLARED);
        return log;
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) {
        StoredMemory memory = log.memory(key);
        State state = memory.tree.state();
        List<Entry> entries = state.entries().stream()
                .map(entry -> entry.id().equals(messageId) ? entry.withPayload("scribbled " + entry.payload()) : entry)
                .toList();
        memory.tree = new MemoryTree(key, InMemoryMessageLog.PAYLOADS, state.withEntries(entries));
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) {
        return log.memory(key).tree.state().entries().stream()
                .filter(entry -> entry.id().equals(messageId))
                .findFirst()
                .orElseThrow()
                .payload();
    }

    @Test
    void a_closed_log_refuses_every_call() {
        log.append(KEY, batch("a"));
        log.close();
        log.close();
        for (Runnable call : List.<Runnable>of(
                () -> log.append(KEY, batch("b")),
                () -> log.read(KEY, ReadQuery.newest(1)),
                () -> log.history(KEY, HistoryQuery.newest(1)),
                () -> Logs.details(log, KEY),
                () -> Logs.setTitle(log, KEY, "title"),
                () -> log.list(KEY.tenant(), ListQuery.first(1)),
                () -> log.erase(KEY))) {
            assertThatThrownBy(call::run).isInstanceOf(StorageClosedException.class);
        }
    }
}
