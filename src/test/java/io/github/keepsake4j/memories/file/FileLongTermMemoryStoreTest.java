package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileLongTermMemoryStoreTest extends LongTermMemoryStoreContract {

    @TempDir
    Path directory;

    @Override
    protected LongTermMemoryStore newStore() {
        return sameStore();
    }

    @Override
    protected LongTermMemoryStore sameStore() {
        return FileLongTermMemoryStore.of(directory);
    }
}
