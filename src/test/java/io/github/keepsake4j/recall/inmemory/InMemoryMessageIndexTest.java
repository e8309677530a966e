package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndexContract;
import io.github.keepsake4j.testing.Watched;

class InMemoryMessageIndexTest extends MessageIndexContract {

    @Override
    protected MessageIndex newIndex() {
        return new InMemoryMessageIndex();
    }

    /** Other processes do not see it, so this is the same object, which stays open. */
    @Override
    protected MessageIndex sameIndex() {
        return Watched.of(MessageIndex.class, index, call -> call.name().equals("close") ? null : call.proceed());
    }
}
