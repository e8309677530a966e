package io.github.keepsake4j.memories.inmemory;

import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryStoreContract;

class InMemoryLongTermMemoryStoreTest extends LongTermMemoryStoreContract {

    @Override
    protected LongTermMemoryStore newStore() {
        return new InMemoryLongTermMemoryStore();
    }

    @Override
    protected LongTermMemoryStore sameStore() {
        return store;
    }
}
