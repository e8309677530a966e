package io.github.keepsake4j.memories.inmemory;

import io.github.keepsake4j.memories.MemoryStore;
import io.github.keepsake4j.memories.MemoryStoreContract;

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
