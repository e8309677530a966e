package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.testing.Postgres;
import org.junit.jupiter.api.BeforeAll;

/** On the newest PostgreSQL. */
class PostgresMessageLogTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        start(Postgres.newest());
    }
}
