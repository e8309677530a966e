package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.testing.Postgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** On the oldest PostgreSQL that is supported. Its distributed form is tested in each build. */
@Tag("full")
class OldestPostgresMessageLogTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        start(Postgres.oldest());
    }
}
