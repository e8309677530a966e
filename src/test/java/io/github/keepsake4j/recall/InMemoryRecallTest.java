package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;

class InMemoryRecallTest extends MessageRecallContract {

    @Override
    protected MessageLog log() {
        return new InMemoryMessageLog();
    }

    @Override
    protected MessageIndex index() {
        return new InMemoryMessageIndex();
    }
}
