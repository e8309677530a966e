package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.sql.NamedSql;
import io.github.keepsake4j.sql.Translated;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Tell;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** No statement can be taken for another one behind a pooler: what is prepared on the server, and with which types. */
@Timeout(1_200)
class PostgresPreparedTest {

    private static final Set<String> ALL = Stream.concat(
                    Prepared.TEXTS.stream(),
                    GoldenSql.readsFromHead().values().stream().map(NamedSql::text))
            .collect(Collectors.toSet());

    private static final Pattern WRITES = Pattern.compile("INSERT INTO|UPDATE keepsake_|DELETE FROM");
    private static final Pattern DELETES_OR_MOVES = Pattern.compile("DELETE FROM|SET head_seq|tenant = NULL");

    /** Each statement that the log sends, with the values that it was sent with, once for each pattern of types and nulls. */
    private static final Map<String, Map<String, Object[]>> SENT = new LinkedHashMap<>();

    /** The statements that were sent with a null that has no type. */
    private static final Set<String> UNTYPED = new HashSet<>();

    private static Postgres server;
    private static String database;

    @BeforeAll
    static void sendEverything() throws Exception {
        server = Postgres.newest();
        database = server.newDatabase();
        try (HikariDataSource pool = Postgres.trustingPool(source(), 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(ProxyDataSourceBuilder.create(pool)
                                .afterQuery((execution, queries) -> queries.forEach(PostgresPreparedTest::record))
                                .build())
                        .schema(SchemaMode.ALWAYS)
                        .listedMetadata("a")
                        .build()) {
            everything(log, "first");
        }
        byte[] key = Rows.hash(NodeKey.of("acme", "app", "first", "node"));
        for (NamedSql read : GoldenSql.readsFromHead().values()) {
            Object[] values = Arrays.stream(read.bind(key, 20L, 20, 1_000L, null, null, 64L, false, 20L, 2L, 1, null))
                    .map(value -> value instanceof NamedSql.Null ? null : value)
                    .toArray();
            SENT.computeIfAbsent(read.text(), sql -> new LinkedHashMap<>()).putIfAbsent("", values);
        }
    }

    private static void record(QueryInfo query) {
        Object[] values = query.getParametersList().isEmpty()
                ? new Object[0]
                : query.getParametersList().get(0).stream()
                        .map(set -> set.getMethod().getName().equals("setNull") ? null : set.getArgs()[1])
                        .toArray();
        String shape = Arrays.stream(values)
                .map(value -> value == null ? "null" : value.getClass().getSimpleName())
                .toList()
                .toString();
        SENT.computeIfAbsent(SentText.of(query), sql -> new LinkedHashMap<>()).putIfAbsent(shape, values);
        boolean isUntyped = query.getParametersList().stream()
                .flatMap(List::stream)
                .anyMatch(set -> !set.getMethod().getName().equals("setNull") && set.getArgs()[1] == null);
        if (isUntyped) {
            UNTYPED.add(SentText.of(query));
        }
    }

    /** Otherwise the driver prepares it again, each time a value follows a null. */
    @Test
    void each_null_of_a_prepared_statement_has_a_type() {
        assertThat(UNTYPED).isNotEmpty().doesNotContainAnyElementsOf(ALL);
    }

    @Test
    void every_statement_was_sent() throws IllegalAccessException {
        Map<String, String> statements = PostgresShardsTest.statements();
        // What only a distributed database takes.
        statements
                .keySet()
                .removeAll(Set.of("INSERT_MESSAGE", "RUNS_BELOW", "ADVANCE_MEMORY", "APPEND_ONE_DISTRIBUTED"));
        statements.keySet().removeAll(Set.of("BUMP_REVISION", "MESSAGE_BY_ID", "PUT_VIEW", "CHECK_MESSAGES"));
        statements.keySet().removeAll(Set.of("BEGIN", "MOVE", "SET_ACTIVE_AT"));
        statements.keySet().removeAll(Set.of("OUTCOME_BY_ID", "SET_OUTCOME"));
        statements.forEach((name, sql) -> assertThat(SENT).as(name).containsKey(sql));
        assertThat(SENT.keySet()).containsAll(ALL);
    }

    @Test
    void no_two_statements_take_the_same_types_if_one_of_them_writes() throws SQLException {
        Map<List<String>, Set<String>> byTypes = new LinkedHashMap<>();
        try (Connection connection = preparing().getConnection()) {
            for (Map.Entry<String, Map<String, Object[]>> sent :
                    withParameters().entrySet()) {
                for (Object[] values : sent.getValue().values()) {
                    byTypes.computeIfAbsent(types(connection, sent.getKey(), values), types -> new LinkedHashSet<>())
                            .add(sent.getKey());
                }
            }
        }
        byTypes.forEach((types, statements) -> {
            if (statements.stream().anyMatch(sql -> WRITES.matcher(sql).find())) {
                assertThat(statements).as("%s", types).hasSize(1);
            }
            if (statements.stream()
                    .anyMatch(sql -> DELETES_OR_MOVES.matcher(sql).find())) {
                assertThat(new HashSet<>(types))
                        .as("%s: not the key alone", statements)
                        .hasSizeGreaterThan(1);
            }
        });
        Tell.line("%d statements, %d lists of types", SENT.size(), byTypes.size());
    }

    /** A session in which another of our clients has given the name to another statement. */
    @Test
    void the_server_refuses_the_values_of_each_prepared_statement_for_each_other_one() throws SQLException {
        int pairs = 0;
        int tried = 0;
        int every = Counts.of(193, 1);
        Map<String, List<String>> types = new HashMap<>();
        try (Connection connection = preparing().getConnection()) {
            for (String sql : ALL) {
                types.put(
                        sql,
                        types(connection, sql, SENT.get(sql).values().iterator().next()));
            }
            for (String sent : ALL) {
                for (Object[] values : SENT.get(sent).values()) {
                    for (String other : ALL) {
                        if (!other.equals(sent) && tried++ % every == 0) {
                            Throwable error = catchThrowable(
                                    () -> sendMixedUp(connection, sent, values, other, types.get(other)));
                            assertThat(error)
                                    .as("%s sent as %s", Arrays.toString(values), other)
                                    .isInstanceOf(SQLException.class);
                            assertThat(Translated.ofPostgres((SQLException) error, true))
                                    .as("%s sent as %s", Arrays.toString(values), other)
                                    .hasMessageContaining("transactionPooler()");
                            pairs++;
                        }
                    }
                }
            }
        }
        Tell.line("%d values sent to the wrong statement, all refused", pairs);
    }

    @Test
    void nothing_is_prepared_but_what_may_be() throws Exception {
        Set<String> prepared = preparedBy(JdbcMessageLog.builder().listedMetadata("a"), "second").stream()
                .map(SentText::of)
                .collect(Collectors.toSet());
        Set<String> allowed = new HashSet<>();
        ALL.forEach(sql -> allowed.add(numbered(sql)));

        assertThat(prepared).hasSizeGreaterThan(8).isSubsetOf(allowed).noneMatch(sql -> DELETES_OR_MOVES
                .matcher(sql)
                .find());
    }

    @Test
    void what_each_turn_sends_is_prepared() throws Exception {
        Set<String> sent = new HashSet<>();
        try (HikariDataSource pool = Postgres.pool(preparing(), 1, true);
                MessageLog log = JdbcMessageLog.builder()
                        .dataSource(ProxyDataSourceBuilder.create(pool)
                                .afterQuery((execution, queries) ->
                                        queries.forEach(query -> sent.add(numbered(SentText.of(query)))))
                                .build())
                        .build()) {
            ConversationKey key = ConversationKey.of("acme", "turns");
            for (String text : List.of("first", "second", "third")) {
                sent.clear();
                log.append(key, Append.underHead(NewMessage.of(UserMessage.from(text), 1, "test")));
                log.read(key, ReadQuery.newest(20));
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(strings(connection, "SELECT statement FROM pg_prepared_statements"))
                        .extracting(SentText::of)
                        .containsAll(sent);
            }
        }
    }

    @Test
    void behind_a_transaction_pooler_nothing_is_prepared() throws Exception {
        assertThat(preparedBy(JdbcMessageLog.builder().listedMetadata("a").transactionPooler(), "third"))
                .isEmpty();
    }

    /** Returns what is prepared in a session after all calls in it, where the driver prepares at once. */
    private static List<String> preparedBy(JdbcMessageLog.Builder builder, String name) throws Exception {
        try (HikariDataSource pool = Postgres.pool(preparing(), 1, true);
                MessageLog log = builder.dataSource(pool).build()) {
            everything(log, name);
            try (Connection connection = pool.getConnection()) {
                // The pool asks for its connections' isolation level, and this test asks what is prepared.
                return strings(
                        connection,
                        "SELECT statement FROM pg_prepared_statements WHERE statement ~ '(FROM|INTO|UPDATE) keepsake_'");
            }
        }
    }

    /** Sends a statement that the driver takes for prepared, in a session where its name is another statement's. */
    private static void sendMixedUp(
            Connection connection, String sql, Object[] values, String other, List<String> otherTypes)
            throws SQLException {
        PGConnection session = connection.unwrap(PGConnection.class);
        try (Statement plain = connection.createStatement()) {
            plain.execute("DEALLOCATE ALL");
        }
        session.setPrepareThreshold(1);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            ignoreErrors(statement, values);
            session.setPrepareThreshold(0);
            String name = strings(connection, "SELECT name FROM pg_prepared_statements")
                    .get(0);
            try (Statement plain = connection.createStatement()) {
                plain.execute("DEALLOCATE \"" + name + "\"");
                plain.execute("PREPARE \"" + name + "\" (" + String.join(", ", otherTypes) + ") AS " + numbered(other));
            }
            bind(statement, values);
            statement.execute();
        }
    }

    /** Returns the types of the parameters as the server knows them. */
    private static List<String> types(Connection connection, String sql, Object[] values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                Statement plain = connection.createStatement()) {
            ignoreErrors(statement, values);
            List<String> types = strings(
                    connection,
                    "SELECT type::text FROM pg_prepared_statements,"
                            + " unnest(parameter_types) WITH ORDINALITY AS p (type, place)"
                            + " WHERE statement NOT LIKE '%pg_prepared_statements%' ORDER BY place");
            plain.execute("DEALLOCATE ALL");
            return types;
        }
    }

    /** Returns a source of connections that prepare a statement when it is first sent. */
    private static PGSimpleDataSource preparing() {
        PGSimpleDataSource source = source();
        source.setPrepareThreshold(1);
        return source;
    }

    /** A statement is prepared before it is refused because of its values. */
    private static void ignoreErrors(PreparedStatement statement, Object[] values) throws SQLException {
        bind(statement, values);
        try {
            statement.execute();
        } catch (SQLException e) {
            assertThat(e.getSQLState()).startsWith("23");
        }
    }

    private static void bind(PreparedStatement statement, Object[] values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    private static List<String> strings(Connection connection, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    private static String numbered(String sql) {
        StringBuilder numbered = new StringBuilder();
        int number = 0;
        for (char c : sql.toCharArray()) {
            numbered.append(c == '?' ? "$" + ++number : String.valueOf(c));
        }
        return numbered.toString();
    }

    private static Map<String, Map<String, Object[]>> withParameters() {
        Map<String, Map<String, Object[]>> found = new LinkedHashMap<>(SENT);
        found.keySet().removeIf(sql -> !sql.contains("?"));
        return found;
    }

    private static PGSimpleDataSource source() {
        return server.database(database);
    }

    /** Makes calls that send every statement. */
    private static void everything(MessageLog log, String name) throws SQLException {
        MemoryKey key = NodeKey.of("acme", "app", name, "node");
        log.append(key, batch("a"));
        log.append(key, batch("b"));
        log.append(key, batch("c").expectingHead("b").inEpoch(1L));
        log.append(key, batch("d", "e"));
        log.append(key, batchUnder("b", "f", "g"));
        log.append(key, batch("h").withView(View.of(null, List.of(new View.Run(null, "b")))));
        log.append(key, batch("h"));
        catchThrowable(() -> log.append(key, batchUnder("nowhere", "i")));
        log.append(key, Append.under(Parent.of(Ids.BEFORE_IN_TIME), users("j")).asImport());
        log.append(key, Append.viewOnly(View.of("j", List.of(new View.Run(null, "h")))));
        NewMessage noted = users("k")
                .get(0)
                .withOutcome(Outcome.incomplete("cut"))
                .withSeen(new Seen(List.of(new Seen.Range(1, 2)), List.of(), 0, false))
                .withUsage(new Usage(1, 2, 3));
        log.append(key, Append.underHead(noted));
        log.append(key, Append.underHead(users("cut").get(0).withOutcome(Outcome.incomplete("cut"))));
        log.append(key, Append.underHead(users("l").get(0), users("m").get(0).withUsage(new Usage(1, 2, 3))));
        log.append(key, Append.under(Parent.of("b"), List.of(users("n").get(0).withUsage(new Usage(1, 2, 3)))));
        log.append(key, batch("o").onBranch("tab"));
        log.append(
                key,
                Append.underHead(users("p").get(0).withUsage(new Usage(1, 2, 3)))
                        .onBranch("tab"));
        Logs.setOutcome(log, key, "a", Outcome.failed(null), null);
        Logs.setOutcome(log, key, "a", null, 1L);
        Logs.made(log, key, "k");
        Logs.moveBranch(log, key, "tab", "a", null);
        Logs.branchEnd(log, key, "tab");
        Logs.usage(log, "acme", LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000));
        reads(log, key);
        Logs.find(log, key, List.of("a", "b"));
        Logs.findAt(log, key, List.of(1L, 2L));
        MemoryKey other = ConversationKey.of("acme", "other");
        Logs.find(log, Map.of(key, List.of("a"), other, List.of("a")));
        Logs.findAt(log, Map.of(key, List.of(1L), other, List.of(1L)));
        log.onBranch(key, List.of(1L, 2L));
        log.history(key, HistoryQuery.newest(2));
        log.history(key, HistoryQuery.oldest(2));
        log.branches(key);
        Logs.moveHead(log, key, "h", null);
        Logs.describe(log, key, "title", Map.of("a", "b"));
        Logs.describe(log, key, null, Map.of());
        Logs.setTitle(log, key, "title");
        Logs.mergeMetadata(log, key, Map.of("a", "b"));
        Logs.details(log, key);
        log.list("acme", ListQuery.first(10));
        log.list("acme", ListQuery.first(10).byActivity());
        log.list("acme", ListQuery.first(10).withMetadata("a", "b"));
        log.append(ConversationKey.of("acme", "of b " + name), batch("a").creating(Map.of("a", "b")));
        log.list(
                "acme", ListQuery.first(10).byActivity().withUsage(LocalDate.EPOCH, LocalDate.EPOCH.plusDays(100_000)));
        log.nodes(ConversationKey.of("acme", name));
        Logs.putSummary(log, key, new Summary("a", "text", 1, "none", 1, 1, null, Instant.EPOCH), 1);
        Logs.putSummary(log, key, new Summary("b", "text", 1, "none", 1, 1, "model", Instant.EPOCH, 2), 1);
        reads(log, key);
        Logs.summaries(log, key);
        log.acquireLease(key, "lease", "owner", Duration.ofMinutes(1));
        log.releaseLease(key, "lease", "owner");
        assertThat(log.check(key)).isEmpty();
        Postgres.execute(
                source(),
                "UPDATE keepsake_view SET view = ''; UPDATE keepsake_summary SET text = '';"
                        + " UPDATE keepsake_reference SET id = 'nowhere'");
        Postgres.execute(source(), "UPDATE keepsake_memory SET tokens = tokens + 1");
        Postgres.execute(
                source(),
                "UPDATE keepsake_message SET message = '' WHERE seq = 1; UPDATE keepsake_message SET made = 'sx' WHERE seq = 2");
        assertThat(log.repair(key).damage()).isNotEmpty();
        log.erase(key);
        log.erase(NodeKey.of("acme", "app", name, "never there"));
    }

    private static void reads(MessageLog log, MemoryKey key) {
        List<ReadQuery> queries = List.of(
                ReadQuery.newest(1),
                ReadQuery.newest(20),
                ReadQuery.wholeBranch().upToTokens(15),
                ReadQuery.newest(20).upToSummary(),
                ReadQuery.newest(20).endingIn("e"),
                ReadQuery.newest(20).endingIn("e").after("b"),
                ReadQuery.newest(20).after("b"),
                ReadQuery.newest(20).onBranch("tab"));
        for (ReadQuery query : queries) {
            for (ReadQuery read : List.of(query, query.alsoOldest(2))) {
                try {
                    log.read(key, read);
                } catch (KeepsakeException e) {
                    // Not on the branch; the statement was sent.
                    Collections.emptyList();
                }
            }
        }
    }
}
