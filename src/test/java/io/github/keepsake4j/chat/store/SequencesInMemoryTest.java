package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;

class SequencesInMemoryTest extends SequencesContract {

    @Override
    MessageLog newLog() {
        return new InMemoryMessageLog();
    }
}
