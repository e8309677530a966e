package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.memories.MemoryStore;
import io.github.keepsake4j.memories.MemoryStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileMemoryStoreTest extends MemoryStoreContract {

    @TempDir
    Path directory;

    @Override
    protected MemoryStore newStore() {
        return sameStore();
    }

    @Override
    protected MemoryStore sameStore() {
        return FileMemoryStore.of(directory);
    }
}
