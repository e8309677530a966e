package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each statement finds its rows by an index, in a big history, whether the planner's statistics are stale or fresh. */
@Tag("landing")
@Timeout(900)
class PostgresPlansTest {

    /** A branch that is one run. */
    private static final ConversationKey LINEAR = ConversationKey.of("acme", "linear");

    /** A branch through a thousand forks: each run hangs from the run before it, six messages before its end. */
    private static final ConversationKey FORKED = ConversationKey.of("acme", "forked");

    private static final int FORKS = 1_000;

    private static final String MESSAGES =
            """
            INSERT INTO keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at, run_start, depth,
               path_tokens, user_seq, runs)
            SELECT '%1$s', s, 'm' || s, p, 'm' || p, '{"v":1,"type":"USER","contents":[{"type":"TEXT","text":"t"}]}', 10,
                   'none', 0, r * %2$d + 1, s - r * 5, (s - r * 5) * 10, s,
                   CASE WHEN s = r * %2$d + 1 THEN
                     (SELECT array_agg(x ORDER BY j, k)
                      FROM generate_series(1, least(8, r)) j
                      CROSS JOIN LATERAL (
                        VALUES (1, (r - j) * %2$d + 1), (2, (r - j + 1) * %2$d - 5), (3, (r - j) * 5)) v (k, x)) END
            FROM generate_series(%3$d, %4$d) s
            CROSS JOIN LATERAL (SELECT (s - 1) / %2$d AS r) run
            CROSS JOIN LATERAL (
              SELECT CASE WHEN s = 1 THEN NULL WHEN s = r * %2$d + 1 THEN s - 6 ELSE s - 1 END AS p
            ) parent
            """;

    private static final String MEMORY =
            """
            INSERT INTO keepsake_memory
              (memory_key, tenant, conversation_id, metadata, epoch, revision, last_seq, tokens, created_at, head_seq,
               head_id, head_run_start, head_depth, head_path_tokens, head_user_seq, head_runs)
            SELECT memory_key, 'acme', id, '{}', 1, 1, seq, seq * 10, 0, seq, id, run_start, depth, path_tokens, user_seq,
                   (SELECT r.runs FROM keepsake_message r WHERE r.memory_key = m.memory_key AND r.seq = m.run_start)
            FROM keepsake_message m
            WHERE memory_key = '%s' AND seq = %d
            """;

    @Test
    void every_statement_uses_indexes() throws Exception {
        int messages = Counts.of(10_000, 1_000_000);
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        Postgres.execute(server.database("postgres"), "ALTER DATABASE " + database + " SET jit = off");
        try (HikariDataSource pool = Postgres.trustingPool(server.database(database), 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(pool)
                        .schema(SchemaMode.ALWAYS)
                        .build()) {
            log.read(LINEAR, ReadQuery.newest(1));
            // Statistics of a hundred messages, and then there are very many more.
            fill(pool, LINEAR, 1, 100, messages);
            Postgres.execute(
                    pool, "ALTER TABLE keepsake_message SET (autovacuum_enabled = off); ANALYZE keepsake_message");
            fill(pool, LINEAR, 101, messages, messages);
            fill(pool, FORKED, 1, messages, messages / FORKS);
            addMemory(pool, LINEAR, messages);
            addMemory(pool, FORKED, messages);
            assertNoScans(pool, "stale statistics");
            time(log, "stale statistics");
            Postgres.execute(pool, "ANALYZE");
            assertNoScans(pool, "fresh statistics");
            time(log, "fresh statistics");
        }
    }

    /** Adds copies of all memories, in the same order and on the same lists, without their messages. */
    static void multiply(HikariDataSource pool, int times) throws SQLException {
        Postgres.execute(
                pool,
                """
                WITH copy AS (
                  INSERT INTO keepsake_memory
                    (memory_key, tenant, conversation_id, metadata, lists, epoch, revision, active_at, last_seq, tokens,
                     created_at, stored_at, last_message_at)
                  SELECT decode(md5(m.number || ' ' || n), 'hex'), tenant, conversation_id || ' ' || n, metadata, lists, epoch,
                         revision, active_at, last_seq, tokens, created_at, stored_at, last_message_at
                  FROM keepsake_memory m CROSS JOIN generate_series(2, %d) n ORDER BY n, m.number
                  RETURNING memory_key, number, active_at, lists)
                INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
                SELECT memory_key, list * sign, CASE WHEN sign = 1 THEN active_at ELSE 0 END, number, number
                FROM copy CROSS JOIN unnest(lists) list CROSS JOIN (VALUES (1), (-1)) orders (sign)
                """
                        .formatted(times));
    }

    static void addMemory(HikariDataSource pool, ConversationKey key, int messages) throws SQLException {
        Postgres.execute(pool, MEMORY.formatted(bytes(key), messages));
    }

    static void fill(HikariDataSource pool, ConversationKey key, int from, int to, int run) throws SQLException {
        Postgres.execute(pool, MESSAGES.formatted(bytes(key), run, from, to));
    }

    private static String bytes(ConversationKey key) {
        StringBuilder hex = new StringBuilder("\\x");
        for (byte b : Rows.hash(key)) {
            hex.append("%02x".formatted(b));
        }
        return hex.toString();
    }

    private static void time(MessageLog log, String when) {
        for (ConversationKey key : List.of(LINEAR, FORKED)) {
            StringBuilder times = new StringBuilder();
            for (int rows : new int[] {20, 50, 500}) {
                for (boolean byTokens : new boolean[] {false, true}) {
                    ReadQuery query =
                            byTokens ? ReadQuery.wholeBranch().upToTokens(rows * 10L) : ReadQuery.newest(rows);
                    times.append(" %d%s: %d us"
                            .formatted(rows, byTokens ? " by tokens" : "", best(log, key, query, rows, 0)));
                }
            }
            times.append(" 20 and the oldest 4: %d us"
                    .formatted(best(log, key, ReadQuery.newest(20).alsoOldest(4), 20, 4)));
            Tell.line("Reads, " + when + ", " + key + ":" + times);
        }
    }

    private static long best(MessageLog log, ConversationKey key, ReadQuery query, int rows, int oldest) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 30; i++) {
            long begin = System.nanoTime();
            Tail tail = log.read(key, query);
            best = Math.min(best, System.nanoTime() - begin);
            assertThat(tail.messages()).hasSize(rows);
            assertThat(tail.oldest()).hasSize(oldest);
        }
        return best / 1_000;
    }

    private static void assertNoScans(HikariDataSource pool, String when) throws Exception {
        Map<String, String> statements = PostgresShardsTest.statements();
        // Erasing reads all that a memory has, and here that is half of the table.
        statements.remove("ERASE");
        // Several statements in one text, whose parts are those of another.
        statements.remove("APPEND_ONE_DISTRIBUTED");
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (Map.Entry<String, String> entry : statements.entrySet()) {
                for (String mode : List.of("force_generic_plan", "force_custom_plan")) {
                    statement.execute("SET plan_cache_mode = " + mode);
                    String plan = plan(statement, entry.getKey(), entry.getValue());
                    assertThat(plan)
                            .as("%s, %s, %s", entry.getKey(), mode, when)
                            .doesNotContain("Seq Scan on keepsake_message");
                    assertThat(plan)
                            .as("%s, %s, %s", entry.getKey(), mode, when)
                            .doesNotContain("Bitmap Heap Scan on keepsake_message m");
                }
            }
            statement.execute("RESET plan_cache_mode");
        }
        Tell.line(statements.size() + " statements, " + when + ": index scans only");
    }

    private static String plan(Statement statement, String name, String sql) throws SQLException {
        Matcher parameters = Pattern.compile("\\?").matcher(sql);
        int[] count = {0};
        String numbered = parameters.replaceAll(match -> "\\$" + ++count[0]);
        statement.execute("PREPARE p AS " + numbered);
        List<String> types = new ArrayList<>();
        try (var rows = statement.executeQuery(
                "SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = 'p'")) {
            while (rows.next()) {
                types.add(rows.getString(1));
            }
        }
        String values = types.stream().map(PostgresPlansTest::value).collect(Collectors.joining(", ", "(", ")"));
        StringBuilder plan = new StringBuilder();
        try (var rows = statement.executeQuery("EXPLAIN EXECUTE p" + (types.isEmpty() ? "" : values))) {
            while (rows.next()) {
                plan.append(rows.getString(1)).append('\n');
            }
        }
        statement.execute("DEALLOCATE p");
        if (Boolean.getBoolean("keepsake.plans")) {
            System.out.println(name + "\n" + plan);
        }
        return plan.toString();
    }

    /** Something of each type that could be meant. */
    private static String value(String type) {
        return switch (type) {
            case "bytea" -> "'" + bytes(LINEAR) + "'";
            case "bigint", "integer" -> "20";
            case "boolean" -> "true";
            case "bytea[]" -> "ARRAY[" + value("bytea") + "::bytea, " + value("bytea") + "]";
            case "text[]" -> "'{m1,m2}'";
            case "bigint[]", "integer[]" -> "'{1,2}'";
            default -> "'m1'";
        };
    }
}
