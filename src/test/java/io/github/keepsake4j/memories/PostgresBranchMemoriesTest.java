package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import java.sql.SQLException;

/** The whole path, from the branch by creators to retrievers, in tables of a real server. */
class PostgresBranchMemoriesTest extends BranchMemoriesContract {

    private final PostgresStorage storage = new PostgresStorage();

    @Override
    MessageLog newLog() {
        return storage.newLog();
    }

    @Override
    LongTermMemoryStore newStore() {
        return storage.newStore();
    }

    @Override
    String stored() throws SQLException {
        return storage.stored();
    }
}
