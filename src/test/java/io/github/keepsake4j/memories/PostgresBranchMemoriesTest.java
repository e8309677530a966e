package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;

/** The whole path, from the branch by creators to retrievers, in tables of a real server. */
class PostgresBranchMemoriesTest extends BranchMemoriesContract {

    private final PostgresStorage storage = new PostgresStorage();

    @AfterEach
    void disconnect() {
        storage.close();
    }

    @Override
    MessageLog newLog() {
        return storage.newLog();
    }

    @Override
    MemoryStore newStore() {
        return storage.newStore();
    }

    @Override
    String stored() throws SQLException {
        return storage.stored();
    }
}
