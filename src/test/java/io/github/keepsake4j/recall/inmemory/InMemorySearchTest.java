package io.github.keepsake4j.recall.inmemory;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearchContract;
import org.junit.jupiter.api.Test;

class InMemorySearchTest extends MessageSearchContract {

    @Override
    protected MessageIndex newIndex() {
        return new InMemoryMessageIndex();
    }

    @Override
    protected MessageLog newLog() {
        return new InMemoryMessageLog();
    }

    /** Without a tag it runs in each build. */
    @Override
    @Test
    protected void a_search_splits_little_of_what_is_not_indexed_yet_however_long_it_is() {
        super.a_search_splits_little_of_what_is_not_indexed_yet_however_long_it_is();
    }
}
