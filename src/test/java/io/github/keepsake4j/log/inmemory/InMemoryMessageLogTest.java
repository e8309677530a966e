package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.log.ActivityContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.MessageLogContract;
import io.github.keepsake4j.log.MetadataListContract;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Clock;
import java.util.List;

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
}
