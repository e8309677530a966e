package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.testing.Postgres;
import org.junit.jupiter.api.BeforeAll;

/** On the oldest PostgreSQL that is supported. */
class OldestPostgresMessageLogTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        start(Postgres.oldest());
    }
}
