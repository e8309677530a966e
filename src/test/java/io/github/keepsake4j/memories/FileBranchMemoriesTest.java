package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.file.FileMemoryStore;
import java.io.IOException;

class FileBranchMemoriesTest extends BranchMemoriesContract {

    @Override
    MessageLog newLog() {
        return new InMemoryMessageLog();
    }

    @Override
    MemoryStore newStore() {
        return FileMemoryStore.of(directory.resolve("memories"));
    }

    @Override
    String stored() throws IOException {
        return FileStorage.stored(directory.resolve("memories"));
    }
}
