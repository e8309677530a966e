package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;

/** All logs of this test are the same object, because memories on the heap exist in one process only. */
class InMemorySummaryWorkerTest extends SummaryWorkerContract {

    private final MessageLog only = new InMemoryMessageLog();

    @Override
    MessageLog open() {
        return only;
    }
}
