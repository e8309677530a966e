package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.memories.MemoryStoreContract;

class InMemoryMemoryStoreTest extends MemoryStoreContract {

    @Override
    protected MemoryStore newStore() {
        return new InMemoryMemoryStore();
    }

    @Override
    protected MemoryStore sameStore() {
        return store;
    }
}
