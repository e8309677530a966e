package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.testing.Postgres;
import org.junit.jupiter.api.BeforeAll;

/** The statements that a distributed PostgreSQL takes, on the oldest one that is supported, which is not distributed. */
class DistributedFormTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        start(Postgres.oldest());
    }

    @Override
    JdbcMessageLog.Builder builder() {
        return super.builder().distributed();
    }
}
