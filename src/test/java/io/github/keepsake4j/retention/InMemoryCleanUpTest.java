package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;

class InMemoryCleanUpTest extends CleanUpContract {

    @Override
    protected MessageLog open() {
        return new InMemoryMessageLog(PROJECT);
    }
}
