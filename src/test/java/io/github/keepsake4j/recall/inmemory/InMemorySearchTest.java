package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearchContract;

class InMemorySearchTest extends MessageSearchContract {

    @Override
    protected MessageIndex newIndex() {
        return new InMemoryMessageIndex();
    }

    @Override
    protected MessageLog newLog() {
        return new InMemoryMessageLog();
    }
}
