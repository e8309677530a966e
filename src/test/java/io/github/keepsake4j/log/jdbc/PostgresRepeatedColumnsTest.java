package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What PostgreSQL's rows repeat of a branch, so that a read need not look for it, equals a count from the messages' parents
 * alone after each step: the newest view and summary on the head's branch, and the runs below each run.
 */
@Tag("landing")
class PostgresRepeatedColumnsTest {

    private static final int STEPS_PER_MEMORY = 60;

    private HikariDataSource pool;

    @BeforeEach
    void open() throws Exception {
        Postgres server = Postgres.newest();
        pool = Postgres.trustingPool(server.database(server.newDatabase()), 2, true);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void they_equal_a_recount_after_each_step() throws Exception {
        run(builder());
    }

    @Test
    void nor_do_they_differ_where_the_tables_are_distributed() throws Exception {
        run(builder().distributed());
    }

    private JdbcMessageLog.Builder builder() {
        return JdbcMessageLog.builder().dataSource(pool).schema(SchemaMode.ALWAYS);
    }

    private void run(JdbcMessageLog.Builder builder) throws Exception {
        int steps = Counts.of(500, 50_000);
        try (MessageLog log = builder.build()) {
            for (int seed = 0; seed * STEPS_PER_MEMORY < steps; seed++) {
                new Steps(log, seed).run();
            }
        }
    }

    private final class Steps {
        private final MessageLog log;
        private final MemoryKey key;
        private final Random random;
        private final List<String> ids = new ArrayList<>();
        private final List<String> trace = new ArrayList<>();
        private int next;

        Steps(MessageLog log, int seed) {
            this.log = log;
            this.key = ConversationKey.of("acme", "m" + seed);
            this.random = new Random(seed);
        }

        void run() throws SQLException {
            for (int step = 0; step < STEPS_PER_MEMORY; step++) {
                step();
                check();
            }
        }

        private void step() {
            int kind = ids.isEmpty() ? random.nextInt(2) : random.nextInt(20);
            switch (kind) {
                case 0, 1, 2 -> append(Append.under(Parent.head(), List.of(message())));
                case 3 -> append(LogTesting.batch(id(), id(), id()));
                case 4, 5, 6 -> append(Append.under(Parent.of(any()), List.of(message())));
                case 7 ->
                    append(Append.under(
                            Parent.of(any()), LogTesting.batch(id(), id()).messages()));
                case 8 -> append(Append.under(Parent.root(), List.of(message())));
                case 9 ->
                    append(Append.under(Parent.of(any()), List.of(message())).withView(view()));
                case 10 ->
                    append(Append.under(Parent.head(), List.of(message())).withView(view()));
                case 11 -> append(Append.viewOnly(view()));
                case 14 ->
                    append(Append.under(Parent.head(), List.of(message()))
                            .withView(
                                    View.of(null, List.of(new View.Run(null, any()), new View.Run(any(), View.HEAD)))));
                case 16 ->
                    append(Append.under(Parent.head(), List.of(message())).onBranch(tab()));
                case 17 ->
                    append(Append.under(Parent.of(any()), List.of(message()))
                            .withView(view())
                            .onBranch(tab()));
                case 18 ->
                    append(Append.underHead(message().withUsage(new Usage(1, 1, 1)))
                            .withView(random.nextBoolean() ? view() : View.of(null, List.of())));
                case 19 -> {
                    String to = any();
                    trace.add("outcome of " + to);
                    Logs.setOutcome(log, key, to, random.nextBoolean() ? null : Outcome.failed("x"), null);
                }
                case 12 -> {
                    String to = any();
                    trace.add("move to " + to);
                    Logs.moveHead(log, key, to, null);
                }
                case 13 -> {
                    String covers = any();
                    trace.add("summary up to " + covers);
                    long epoch = log.read(key, io.github.keepsake4j.log.ReadQuery.newest(0))
                            .epoch();
                    Logs.putSummary(log, key, new Summary(covers, "text", 1, "none", 1, 1, null, Instant.EPOCH), epoch);
                }
                default -> {
                    if (random.nextInt(6) == 0) {
                        trace.add("erase");
                        log.erase(key);
                        ids.clear();
                    } else {
                        append(Append.under(Parent.of(Ids.BEFORE_IN_TIME), List.of(message())));
                    }
                }
            }
        }

        private String tab() {
            return "tab " + random.nextInt(2);
        }

        private View view() {
            String anchor = random.nextBoolean() ? null : any();
            return View.of(anchor, List.of(new View.Run(null, any())));
        }

        private io.github.keepsake4j.log.NewMessage message() {
            return LogTesting.batch(id()).messages().get(0);
        }

        private String id() {
            return "i" + next++;
        }

        private String any() {
            return ids.get(random.nextInt(ids.size()));
        }

        private void append(Append append) {
            trace.add(append.parent() + " " + append.messages().size() + " " + append.view());
            log.append(key, append);
            append.messages().forEach(message -> ids.add(message.id()));
        }

        private void check() throws SQLException {
            byte[] hash = Rows.hash(key);
            TreeMap<Long, Long> parents = new TreeMap<>();
            TreeMap<Long, List<Long>> runs = new TreeMap<>();
            TreeSet<Long> views = new TreeSet<>();
            TreeSet<Long> summaries = new TreeSet<>();
            try (Connection connection = pool.getConnection()) {
                query(
                        connection,
                        "SELECT seq, parent_seq, runs FROM keepsake_message WHERE memory_key = ?",
                        hash,
                        row -> {
                            parents.put(row.getLong(1), row.getLong(2));
                            runs.put(row.getLong(1), array(row, 3));
                        });
                query(
                        connection,
                        "SELECT anchor_seq FROM keepsake_view WHERE memory_key = ?",
                        hash,
                        row -> views.add(row.getLong(1)));
                query(
                        connection,
                        "SELECT covers_seq FROM keepsake_summary WHERE memory_key = ?",
                        hash,
                        row -> summaries.add(row.getLong(1)));
                query(
                        connection,
                        "SELECT head_seq, head_view_seq, head_covers_seq, head_runs FROM keepsake_memory WHERE"
                                + " memory_key = ?",
                        hash,
                        row -> {
                            List<Long> path = path(parents, row.getLong(1));
                            assertThat(row.getLong(2)).as("view, %s", trace).isEqualTo(newest(views, path));
                            assertThat(row.getLong(3)).as("summary, %s", trace).isEqualTo(newest(summaries, path));
                            assertThat(array(row, 4)).as("runs, %s", trace).isEqualTo(below(path));
                        });
            }
            runs.forEach((seq, stored) -> {
                boolean isRunStart = parents.get(seq) != seq - 1 || seq == 1;
                assertThat(stored)
                        .as("runs at %s, %s", seq, trace)
                        .isEqualTo(isRunStart ? below(path(parents, seq)) : List.of());
            });
        }

        private static List<Long> path(TreeMap<Long, Long> parents, long end) {
            List<Long> path = new ArrayList<>();
            for (long at = end; at != 0; at = parents.get(at)) {
                path.add(at);
            }
            Collections.reverse(path);
            return path;
        }

        private static long newest(TreeSet<Long> those, List<Long> path) {
            return path.stream()
                    .filter(those::contains)
                    .mapToLong(seq -> seq)
                    .max()
                    .orElse(0);
        }

        /** The runs below the newest one, newest first, as three numbers each. */
        private static List<Long> below(List<Long> path) {
            List<List<Long>> runs = new ArrayList<>();
            for (int i = 0; i < path.size(); i++) {
                long seq = path.get(i);
                if (i > 0 && path.get(i - 1) == seq - 1) {
                    runs.get(0).set(1, seq);
                } else {
                    runs.add(0, new ArrayList<>(List.of(seq, seq, seq - (i + 1))));
                }
            }
            return runs.stream().skip(1).limit(8).flatMap(List::stream).toList();
        }
    }

    private interface RowReader {
        void read(ResultSet row) throws SQLException;
    }

    private static void query(Connection connection, String sql, byte[] hash, RowReader reader) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setBytes(1, hash);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    reader.read(rows);
                }
            }
        }
    }

    private static List<Long> array(ResultSet row, int column) throws SQLException {
        return row.getArray(column) == null
                ? List.of()
                : List.of((Long[]) row.getArray(column).getArray());
    }
}
