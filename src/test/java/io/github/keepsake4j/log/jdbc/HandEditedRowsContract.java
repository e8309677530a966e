package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.system;
import static io.github.keepsake4j.log.LogTesting.user;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Rows that were edited or deleted by hand, with all constraints off: each column of each table with each kind of wrong
 * value, in several rows. Whatever was edited, each call does what it did before or says that the data is damaged.
 */
abstract class HandEditedRowsContract {

    static final MemoryKey OTHER = ConversationKey.of("acme", "other");

    private static final long SECONDS_PER_CALL = 30;
    private static final List<String> TABLES = List.of(
            "keepsake_message",
            "keepsake_memory",
            "keepsake_view",
            "keepsake_summary",
            "keepsake_reference",
            "keepsake_usage",
            "keepsake_lease");

    /** Calls that read what a check does not: other memories' rows, and sums by day. */
    private static final List<String> UNCHECKED = List.of("list", "usage", "append with usage");

    /** What a repair sets on a message that cannot be read. */
    static final Set<String> MARKED = Set.of("outcome", "made", "request");

    /** The rows that are edited: a root, one inside a run, one that a branch hangs from, the start and end of a branch. */
    private static final List<String> MESSAGES = List.of("m1", "m2", "m3", "m7", "m9");

    /** The sequences of all messages. */
    private static final List<Long> ALL = LongStream.rangeClosed(1, 13).boxed().toList();

    private final ExecutorService calls = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "call");
        thread.setDaemon(true);
        return thread;
    });

    /** Opens a log on the edited storage. */
    abstract MessageLog open();

    /** Connects without constraints. */
    abstract Connection connect() throws SQLException;

    /** Makes the storage as it was before the first edit. */
    abstract void restore() throws Exception;

    /** The names and types of a table's columns. */
    abstract Map<String, String> columns(String table) throws SQLException;

    /** Fills the storage: a memory with three branches, a view and a summary, and another one. */
    static void fill(MessageLog log) {
        for (MemoryKey key : List.of(KEY, OTHER)) {
            log.append(key, Append.under(Parent.head(), List.of(system("m1"), user("m2"), answer("m3"), user("m4"))));
            log.append(key, batch("m5", "m6").withView(View.of(null, List.of(new View.Run("m1", "m3")))));
            log.append(key, Append.under(Parent.of("m3"), List.of(user("m7"), answer("m8"))));
            Logs.putSummary(log, key, summary("m3"), 1);
            log.append(key, Append.viewOnly(View.of("m7", List.of(new View.Run(null, "m2")))));
            log.append(key, batch("m9"));
            log.append(key, batchUnder("m2", "m10", "m11"));
            Logs.moveHead(log, key, "m9", null);
            log.acquireLease(key, "work", "owner", Duration.ofDays(1));
            log.append(
                    key,
                    Append.under(
                                    Parent.of("m6"),
                                    List.of(user("m12"), answer("m13").withUsage(new Usage(1, 2, 3))))
                            .onBranch("tab"));
            Logs.setOutcome(log, key, "m3", Outcome.incomplete("cut"), null);
        }
    }

    @Test
    void whatever_was_edited_each_call_does_what_it_did_or_says_that_the_data_is_damaged() throws Exception {
        restore();
        Map<String, Object> sound = new LinkedHashMap<>();
        try (MessageLog log = open()) {
            reads(KEY).forEach((name, call) -> sound.put(name, value(log, call)));
            assertThat(log.check(KEY)).isEmpty();
        }
        List<Edit> edits = edits();
        int every = Math.max(1, edits.size() / Counts.of(20, edits.size()));
        Map<String, String> wrong = new LinkedHashMap<>();
        int done = 0;
        int found = 0;
        for (int i = 0; i < edits.size(); i += every) {
            Edit edit = edits.get(i);
            restore();
            try {
                if (!apply(edit)) {
                    continue;
                }
                done++;
                found += check(edit, sound) ? 1 : 0;
            } catch (AssertionError | Exception e) {
                wrong.put(edit.toString(), String.valueOf(e));
                System.out.println("Wrong: " + edit + ": " + e.toString().replaceAll("\\s+", " "));
            }
        }
        System.out.println(getClass().getSimpleName() + ": " + done + " of " + edits.size() + " kinds of edits, "
                + found + " of them found, " + wrong.size() + " wrong");
        assertThat(wrong).isEmpty();
        assertThat(done).isGreaterThan(Counts.of(10, 400));
    }

    /** Such a log knows the memory. What it knows only decides which statement is sent, and not what is true. */
    @Test
    void a_log_that_appended_before_the_edit_writes_what_a_log_that_is_opened_behind_it_writes() throws Exception {
        List<Edit> edits = edits();
        int every = Math.max(1, edits.size() / Counts.of(20, edits.size()));
        Map<String, String> wrong = new LinkedHashMap<>();
        int refused = 0;
        for (int i = 0; i < edits.size(); i += every) {
            Edit edit = edits.get(i).at("m9", "own");
            List<Object> outcomes = new ArrayList<>();
            for (boolean isOpen : new boolean[] {true, false}) {
                restore();
                try (MessageLog early = open();
                        MessageLog late = open()) {
                    early.append(KEY, batch("own"));
                    if (!apply(edit)) {
                        continue;
                    }
                    List<String> before = rows("keepsake_message");
                    Object result = value(() -> (isOpen ? early : late).append(KEY, batch("next")));
                    List<String> after = rows("keepsake_message");
                    assertThat(after).as("%s: written over", edit).containsAll(before);
                    assertThat(after.size() - before.size())
                            .as("%s: %s", edit, result)
                            .isEqualTo(result instanceof AppendResult ? 1 : 0);
                    outcomes.add(result instanceof AppendResult done ? done.head() : result.getClass());
                    refused += result instanceof UnreadableDataException ? 1 : 0;
                }
            }
            if (outcomes.size() == 2 && !outcomes.get(0).equals(outcomes.get(1))) {
                wrong.put(edit.toString(), outcomes.toString());
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(refused).isPositive();
    }

    /** Those edits among the others that a look at the ends of the branch's runs must find, of which a quick run has few. */
    @Test
    void which_messages_are_on_a_branch_that_breaks_off_is_not_answered() throws Exception {
        Map<String, String> wrong = new LinkedHashMap<>();
        for (String edit : List.of(
                "DELETE FROM keepsake_message WHERE seq = 1",
                "DELETE FROM keepsake_message WHERE seq = 3",
                "DELETE FROM keepsake_message WHERE seq = 7",
                "DELETE FROM keepsake_message WHERE seq = 9",
                "UPDATE keepsake_message SET parent_seq = 2 WHERE seq = 7",
                "UPDATE keepsake_message SET parent_seq = NULL WHERE seq = 7",
                "UPDATE keepsake_message SET parent_seq = 0 WHERE seq = 7",
                "UPDATE keepsake_message SET parent_id = 'm2' WHERE seq = 7",
                "UPDATE keepsake_message SET id = 'x' WHERE seq = 3",
                "UPDATE keepsake_message SET depth = depth + 1 WHERE seq = 3",
                "UPDATE keepsake_message SET run_start = 2 WHERE seq = 3",
                "UPDATE keepsake_message SET run_start = 1 WHERE seq = 7",
                "UPDATE keepsake_message SET run_start = 1 WHERE seq = 9",
                "UPDATE keepsake_memory SET head_id = 'm6'",
                "UPDATE keepsake_memory SET head_seq = 6")) {
            restore();
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate(edit);
            }
            try (MessageLog log = open()) {
                Object answer = value(() -> log.onBranch(KEY, ALL));
                if (!(answer instanceof UnreadableDataException error)) {
                    wrong.put(edit, String.valueOf(answer));
                } else {
                    assertThat(error).hasMessageContaining(KEY.toString()).hasMessageContaining("repair()");
                    assertThat(log.check(KEY)).as(edit).isNotEmpty();
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** Returns whether the edit was found. */
    private boolean check(Edit edit, Map<String, Object> sound) throws Exception {
        MessageLog log = open();
        try {
            boolean isTree =
                    edit.table().equals("keepsake_message") || edit.table().equals("keepsake_memory");
            boolean comparesReads = isTree && !edit.hidesWhatIsRepeated();
            List<Damage> damage = log.check(KEY);
            if (edit.hidesWhatIsRepeated()) {
                assertThat(damage).isNotEmpty();
            }
            List<String> refused = new ArrayList<>();
            reads(KEY).forEach((name, call) -> {
                Object result = value(log, call);
                if (result instanceof UnreadableDataException) {
                    refused.add(name);
                } else if (comparesReads && name.startsWith("read") && !(result instanceof Class)) {
                    assertThat(result).as(name).isEqualTo(sound.get(name));
                }
            });
            for (Map.Entry<String, Callable<Object>> call : writes(log).entrySet()) {
                List<String> before = rows("keepsake_message");
                Object result = value(call.getValue());
                List<String> after = rows("keepsake_message");
                if (!call.getKey().equals("outcome")) {
                    assertThat(after).as(call.getKey() + " wrote over rows").containsAll(before);
                }
                if (result instanceof UnreadableDataException) {
                    refused.add(call.getKey());
                    assertThat(after)
                            .as(call.getKey() + " was refused but wrote")
                            .hasSameSizeAs(before);
                }
            }
            reads(OTHER).forEach((name, call) -> {
                if (name.startsWith("read") && !edit.hitsOther()) {
                    assertThat(value(log, call)).as("other memory, " + name).isEqualTo(sound.get(name));
                }
            });
            if (!refused.isEmpty() && !edit.table().equals("keepsake_lease") && !UNCHECKED.containsAll(refused)) {
                assertThat(damage)
                        .as("what check finds where these were refused: " + refused)
                        .isNotEmpty();
            }
            assertThat(damage.toString()).doesNotContain(SECRET);
            repair(log);
            return !damage.isEmpty() || !refused.isEmpty();
        } finally {
            log.close();
        }
    }

    private void repair(MessageLog log) throws Exception {
        List<Damage> damage = log.check(KEY);
        List<String> before = rows("keepsake_message", MARKED);
        Map<String, List<String>> all = all();
        Repair repair = (Repair) bounded(() -> log.repair(KEY));
        assertThat(rows("keepsake_message", MARKED)).isEqualTo(before);
        if (damage.isEmpty()) {
            assertThat(repair.damage()).isEmpty();
            assertThat(all()).isEqualTo(all);
        }
        reads(KEY).forEach((name, call) -> {
            if (name.startsWith("read") && !name.endsWith("leaf") && !name.endsWith("behind")) {
                assertThat(value(log, call)).as("after repair, " + name).isInstanceOf(List.class);
            }
        });
        log.append(KEY, batch("after-repair"));
        Tail tail = log.read(KEY, ReadQuery.newest(3));
        assertThat(tail.head()).isEqualTo("after-repair");
    }

    private static Map<String, Callable2> reads(MemoryKey key) {
        Map<String, Callable2> reads = new LinkedHashMap<>();
        reads.put("read 1", log -> seen(log.read(key, ReadQuery.newest(1)), false));
        reads.put("read 10", log -> seen(log.read(key, ReadQuery.newest(10)), true));
        reads.put("read all", log -> seen(log.read(key, ReadQuery.wholeBranch()), true));
        reads.put(
                "read tokens", log -> seen(log.read(key, ReadQuery.wholeBranch().upToTokens(25)), true));
        reads.put("read oldest", log -> seen(log.read(key, ReadQuery.newest(2).alsoOldest(2)), true));
        reads.put(
                "read to summary",
                log -> seen(log.read(key, ReadQuery.newest(10).upToSummary()), true));
        reads.put("read behind", log -> seen(log.read(key, ReadQuery.newest(10).after("m2")), true));
        reads.put(
                "read to leaf",
                log -> seen(log.read(key, ReadQuery.wholeBranch().endingIn("m11")), true));
        reads.put("read branch", log -> seen(log.read(key, ReadQuery.newest(3).onBranch("tab")), true));
        reads.put(
                "read which are on the branch",
                log -> log.onBranch(key, ALL).stream().sorted().toList());
        reads.put("made", log -> Logs.made(log, key, "m3").isPresent());
        reads.put("usage", log -> Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000))
                .size());
        reads.put("history", log -> history(log, key).size());
        reads.put("branches", log -> log.branches(key).size());
        reads.put("find", log -> Logs.find(log, key, List.of("m1", "m9")).size());
        reads.put("summaries", log -> Logs.summaries(log, key).size());
        reads.put(
                "list", log -> log.list("acme", ListQuery.first(10)).memories().size());
        return reads;
    }

    /** What a read shows by sequences, which no edit but that of a sequence changes. */
    private static List<Object> seen(Tail tail, boolean inForce) {
        List<Object> seen = new ArrayList<>();
        seen.add(tail.messages().stream().map(LoggedMessage::sequence).toList());
        seen.add(tail.oldest().stream().map(LoggedMessage::sequence).toList());
        seen.add(tail.complete());
        seen.add(tail.view() != null);
        seen.add(tail.summary() != null);
        if (inForce) {
            seen.add(tail.system() == null ? 0 : tail.system().sequence());
            seen.add(tail.user() == null ? 0 : tail.user().sequence());
        }
        return seen;
    }

    private static Map<String, Callable<Object>> writes(MessageLog log) {
        Map<String, Callable<Object>> writes = new LinkedHashMap<>();
        writes.put("append", () -> log.append(KEY, batch("new1")));
        writes.put("append two", () -> log.append(KEY, batch("new2", "new3")));
        writes.put("append under", () -> log.append(KEY, batchUnder("m2", "new4")));
        writes.put("append again", () -> log.append(KEY, batch("m9")));
        writes.put("append to branch", () -> log.append(KEY, batch("new5").onBranch("tab")));
        writes.put(
                "append with usage",
                () -> log.append(KEY, Append.underHead(answer("new6").withUsage(new Usage(1, 1, 1)))));
        writes.put("outcome", () -> {
            Logs.setOutcome(log, KEY, "m2", Outcome.failed("x"), null);
            return true;
        });
        writes.put("view", () -> log.append(KEY, Append.viewOnly(View.of(null, List.of()))));
        writes.put("summary", () -> {
            Logs.putSummary(log, KEY, summary("m2"), 1);
            return true;
        });
        writes.put("describe", () -> {
            Logs.describe(log, KEY, "title", Map.of());
            return true;
        });
        writes.put("lease", () -> log.acquireLease(KEY, "work", "owner", Duration.ofSeconds(1)));
        writes.put("move", () -> Logs.moveHead(log, KEY, "m9", null));
        return writes;
    }

    private static Summary summary(String coversUpTo) {
        return new Summary(coversUpTo, SECRET, 1, "test-counter", 1, 1, "model", Instant.EPOCH);
    }

    private interface Callable2 {
        Object call(MessageLog log) throws Exception;
    }

    private Object value(MessageLog log, Callable2 call) {
        return value(() -> call.call(log));
    }

    /** The result, or the error if it is one that a caller can tell from others. */
    private Object value(Callable<Object> call) {
        try {
            return bounded(call);
        } catch (UnreadableDataException e) {
            assertThat(e).hasMessageNotContaining(SECRET);
            return e;
        } catch (io.github.keepsake4j.log.UnknownMessageException
                | io.github.keepsake4j.log.UnknownParentException
                | io.github.keepsake4j.log.MessageIdConflictException
                | io.github.keepsake4j.log.ErasedException e) {
            return e.getClass();
        } catch (Exception e) {
            throw new AssertionError("no error that says damage", e);
        }
    }

    private Object bounded(Callable<?> call) throws Exception {
        try {
            return calls.submit(call).get(SECONDS_PER_CALL, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } catch (TimeoutException e) {
            throw new AssertionError("no end", e);
        }
    }

    /** One edit of one row. A null column means that the row is deleted. */
    private record Edit(String table, String row, @Nullable String column, String value) {

        /** Whether the other memory is edited too: a key that is another row's makes the row the other memory's. */
        boolean hitsOther() {
            return column != null && column.equals("memory_key");
        }

        /**
         * Whether the memory's row says now that its branch has no view or no summary. A read does not look for one then;
         * only a check finds it.
         */
        boolean hidesWhatIsRepeated() {
            return value.equals("NULL") && ("head_view_seq".equals(column) || "head_covers_seq".equals(column));
        }

        /** Returns the same edit of another row. */
        Edit at(String id, String otherId) {
            return new Edit(table, row.replace("'" + id + "'", "'" + otherId + "'"), column, value);
        }

        String sql() {
            return column == null
                    ? "DELETE FROM " + table + " WHERE " + row
                    : "UPDATE " + table + " SET " + column + " = " + value + " WHERE " + row;
        }

        @Override
        public String toString() {
            return sql();
        }
    }

    private List<Edit> edits() throws SQLException {
        List<Edit> edits = new ArrayList<>();
        for (String table : TABLES) {
            List<String> rows = new ArrayList<>();
            String key = "memory_key = " + bytes(Rows.hash(KEY));
            if (table.equals("keepsake_message")) {
                MESSAGES.forEach(id -> rows.add(key + " AND id = '" + id + "'"));
            } else if (table.equals("keepsake_view")) {
                rows.add(key + " AND anchor_seq = 7");
            } else {
                rows.add(key);
            }
            for (String row : rows) {
                edits.add(new Edit(table, row, null, ""));
                columns(table).forEach((column, type) -> values(table, column, type)
                        .forEach(value -> edits.add(new Edit(table, row, column, value))));
            }
        }
        return edits;
    }

    private TreeSet<String> values(String table, String column, String type) {
        TreeSet<String> values = new TreeSet<>(List.of("NULL"));
        String other = "(SELECT min(o." + column + ") FROM " + table + " o)";
        switch (type) {
            case "number" ->
                values.addAll(List.of(
                        "0",
                        "-1",
                        column + " + 1",
                        column + " - 1",
                        "4611686018427387904",
                        "9223372036854775807",
                        other));
            case "text" -> values.addAll(List.of("''", "'garbage'", "'{}'", other));
            default -> values.addAll(List.of(bytes(new byte[] {1}), bytes(Rows.hash(OTHER))));
        }
        if (column.equals("number")) {
            // SQLite numbers no memory behind the highest number, and says that it is full.
            values.remove("9223372036854775807");
        }
        if (isLooselyTyped() && type.equals("number")) {
            values.add("'garbage'");
            values.add("1.5");
        }
        if (isLooselyTyped() && type.equals("text")) {
            values.add("7");
            values.add("x'00ff'");
        }
        return values;
    }

    /** Whether any column takes any value. */
    boolean isLooselyTyped() {
        return false;
    }

    String bytes(byte[] value) {
        return "'\\x" + HexFormat.of().formatHex(value) + "'::bytea";
    }

    /** Returns false if the database does not take the value even without its constraints. */
    private boolean apply(Edit edit) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            return statement.executeUpdate(edit.sql()) > 0;
        } catch (SQLException e) {
            return false;
        }
    }

    private Map<String, List<String>> all() throws SQLException {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (String table : TABLES) {
            all.put(table, rows(table));
        }
        return all;
    }

    /** All rows of a table as they are stored. */
    private List<String> rows(String table) throws SQLException {
        return rows(table, Set.of());
    }

    private List<String> rows(String table, Set<String> without) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("SELECT * FROM " + table)) {
            List<String> rows = new ArrayList<>();
            int columns = found.getMetaData().getColumnCount();
            while (found.next()) {
                StringBuilder row = new StringBuilder();
                for (int i = 1; i <= columns; i++) {
                    if (without.contains(found.getMetaData().getColumnName(i))) {
                        continue;
                    }
                    Object value = found.getObject(i);
                    row.append(value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value)
                            .append('|');
                }
                rows.add(row.toString());
            }
            rows.sort(null);
            return rows;
        }
    }
}
