package io.github.keepsake4j.memories.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryStoreContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresLongTermMemoryStoreTest extends LongTermMemoryStoreContract {

    private static HikariDataSource pool;

    @BeforeAll
    static void connect() throws SQLException {
        pool = Postgres.trustingPool(
                Postgres.newest().database(Postgres.newest().newDatabase()), 5, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
    }

    @Override
    protected LongTermMemoryStore newStore() throws SQLException {
        LongTermMemoryStore store = sameStore();
        store.facts(key, 1);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    """
                    TRUNCATE keepsake_made_progress, keepsake_made_discussion, keepsake_made_step, keepsake_made_memory, keepsake_made_word,
                             keepsake_made_lease
                    """);
        }
        return store;
    }

    @Override
    protected LongTermMemoryStore sameStore() {
        return JdbcLongTermMemoryStore.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }
}
