package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.testing.Postgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The statements that a distributed PostgreSQL takes, on one that is not distributed. */
@Tag("landing")
class DistributedFormTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        start(Postgres.newest());
    }

    @Override
    JdbcMessageLog.Builder builder() {
        return super.builder().distributed();
    }
}
