package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndexContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PostgresMessageIndexTest extends MessageIndexContract {

    private static HikariDataSource pool;

    @BeforeAll
    static void connect() throws SQLException {
        pool = Postgres.pool(Postgres.newest().database(Postgres.newest().newDatabase()), 4, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
    }

    @Override
    protected MessageIndex newIndex() {
        MessageIndex index = sameIndex();
        index.clear();
        return index;
    }

    @Override
    protected MessageIndex sameIndex() {
        return JdbcMessageIndex.builder().dataSource(pool).createTables().build();
    }

    @Test
    void missing_tables_are_named_with_their_script() throws Exception {
        try (MessageIndex empty = JdbcMessageIndex.postgres(
                Postgres.newest().database(Postgres.newest().newDatabase()))) {
            assertThatThrownBy(empty::tenants)
                    .isInstanceOf(KeepsakeException.class)
                    .hasMessageContaining("schema/index/postgresql/V1__keepsake_index.sql")
                    .hasMessageContaining("createTables()");
        }
    }
}
