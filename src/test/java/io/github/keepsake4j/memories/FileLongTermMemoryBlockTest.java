package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import java.io.IOException;

class FileLongTermMemoryBlockTest extends LongTermMemoryBlockContract {

    @Override
    MessageLog newLog() {
        return new InMemoryMessageLog();
    }

    @Override
    LongTermMemoryStore newStore() {
        return FileLongTermMemoryStore.of(directory.resolve("memories"));
    }

    @Override
    String stored() throws IOException {
        return FileStorage.stored(directory.resolve("memories"));
    }
}
