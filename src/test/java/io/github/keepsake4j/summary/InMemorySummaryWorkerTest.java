package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;

/** The heap is one process. */
class InMemorySummaryWorkerTest extends SummaryWorkerContract {

    private final MessageLog only = new InMemoryMessageLog();

    @Override
    MessageLog open() {
        return only;
    }
}
