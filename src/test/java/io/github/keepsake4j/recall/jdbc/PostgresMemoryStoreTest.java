package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.memories.MemoryStoreContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PostgresMemoryStoreTest extends MemoryStoreContract {

    private HikariDataSource pool;

    @AfterEach
    void disconnect() {
        pool.close();
    }

    @Override
    protected MemoryStore newStore() throws SQLException {
        pool = Postgres.pool(Postgres.newest().database(Postgres.newest().newDatabase()), 5, true);
        return sameStore();
    }

    @Override
    protected MemoryStore sameStore() {
        return JdbcMemoryStore.builder().dataSource(pool).createTables().build();
    }

    @Test
    void missing_tables_are_named_with_their_script() throws Exception {
        try (MemoryStore empty = JdbcMemoryStore.postgres(
                Postgres.newest().database(Postgres.newest().newDatabase()))) {
            assertThatThrownBy(() -> empty.chunks(ConversationKey.of("acme", "chat"), 3))
                    .isInstanceOf(KeepsakeException.class)
                    .hasMessageContaining("schema/memories/postgresql/V1__keepsake_memories.sql")
                    .hasMessageContaining("createTables()");
        }
    }
}
