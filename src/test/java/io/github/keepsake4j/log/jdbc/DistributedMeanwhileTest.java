package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tables that are distributed beneath a log. A stand-in for Citus refuses as Citus does what a distributed table does not take:
 * several changes of tables in one statement.
 */
@Tag("landing")
@Timeout(120)
class DistributedMeanwhileTest {

    private static final String CITUS =
            """
            SET allow_system_table_mods = on;
            CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char");
            GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC;
            INSERT INTO pg_catalog.pg_dist_partition VALUES ('keepsake_message', 'h');
            INSERT INTO pg_catalog.pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
            VALUES (99999, 'citus', 10, 11, false, '0');
            RESET allow_system_table_mods;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF current_query() ~ '^\\s*WITH' THEN
                RAISE EXCEPTION 'the table is distributed' USING ERRCODE = 'feature_not_supported';
              END IF;
              RETURN NULL;
            END $$;
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON keepsake_memory EXECUTE FUNCTION refuse();
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON keepsake_message EXECUTE FUNCTION refuse();
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON keepsake_view EXECUTE FUNCTION refuse();
            """;

    private final Postgres server = Postgres.newest();

    @Test
    void a_running_log_looks_again_and_nothing_fails() throws Exception {
        DataSource source = server.database(server.newDatabase());
        try (JdbcMessageLog log = JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build()) {
            Keepsake keepsake =
                    Keepsake.builder().messageLog(log).tenant("acme").build();
            KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
            log.append(KEY, batch("a", "b"));
            store.updateMessages(KEY, List.of(UserMessage.from("first")));

            Postgres.execute(source, CITUS);

            store.updateMessages(KEY, List.of(UserMessage.from("second")));
            assertThat(store.getMessages(KEY)).containsExactly(UserMessage.from("second"));
            store.deleteMessages(KEY);
            log.append(KEY, batch("c"));
            log.append(KEY, batchUnder("a", "d"));
            Logs.moveHead(log, KEY, "b", null);
            Logs.setOutcome(log, KEY, "b", Outcome.failed("cut"), null);
            assertThat(branch(log, KEY)).containsExactly("a", "b");
        }
    }

    @Test
    void each_call_finds_it_out_by_itself() throws Exception {
        for (int first = 0; first < 4; first++) {
            DataSource source = server.database(server.newDatabase());
            try (JdbcMessageLog log = JdbcMessageLog.builder()
                    .dataSource(source)
                    .schema(SchemaMode.ALWAYS)
                    .build()) {
                log.append(KEY, batch("a", "b"));
                Postgres.execute(source, CITUS);
                List<Runnable> calls = List.of(
                        () -> log.append(KEY, batch("c")),
                        () -> log.append(KEY, batchUnder("a", "d")),
                        () -> Logs.setOutcome(log, KEY, "b", Outcome.failed("cut"), null),
                        () -> Logs.moveHead(log, KEY, "b", null));
                calls.get(first).run();
                calls.forEach(Runnable::run);
            }
        }
    }
}
