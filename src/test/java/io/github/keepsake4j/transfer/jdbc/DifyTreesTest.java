package io.github.keepsake4j.transfer.jdbc;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.workflow.NodeTokenBufferMemory;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Conversations of Dify that are taken in while both applications go on. */
class DifyTreesTest {

    private static HikariDataSource database;

    @BeforeAll
    static void create() throws Exception {
        Postgres server = Postgres.newest();
        database = Postgres.pool(server.database(server.newDatabase()), 2, true);
        Postgres.execute(
                database,
                """
                CREATE TABLE messages (id uuid PRIMARY KEY, conversation_id uuid, parent_message_id uuid,
                  query text, answer text, created_at timestamp);
                CREATE INDEX ON messages (conversation_id);
                CREATE TABLE message_files (id uuid PRIMARY KEY, message_id uuid, type varchar(255),
                  transfer_method varchar(255), url text, belongs_to varchar(255), upload_file_id uuid,
                  created_at timestamp)
                """);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    /** A row of Dify's; its second is its time. */
    private record Row(String id, String parent, int second, String answer) {
        Row(String id, String parent, int second) {
            this(id, parent, second, "a");
        }
    }

    private static final Comparator<Row> BY_TIME = Comparator.comparingInt(Row::second)
            .thenComparing(row -> UUID.fromString(row.id()), DifyTreesTest::unsigned);

    private static int unsigned(UUID a, UUID b) {
        return a.toString().compareTo(b.toString());
    }

    private static void insert(ConversationKey key, Row row) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)")) {
            statement.setObject(1, UUID.fromString(row.id()));
            statement.setObject(2, UUID.fromString(key.conversationId()));
            statement.setObject(3, row.parent() == null ? null : UUID.fromString(row.parent()));
            statement.setString(4, "q");
            statement.setString(5, row.answer());
            statement.setTimestamp(6, new Timestamp(1_800_000_000_000L + 1_000L * row.second()));
            statement.execute();
        }
    }

    private static MessageLog importing(MessageLog log) {
        return JdbcImportSource.dify(database).importingInto(log, TokenCounter.standard());
    }

    private static ConversationKey newKey() {
        return ConversationKey.of("acme", UUID.randomUUID().toString());
    }

    @Test
    void a_regenerated_answer_of_the_old_store_is_a_branch_beside_the_first_one() throws Exception {
        ConversationKey key = newKey();
        String[] ids =
                new Random(1).ints(3).mapToObj(n -> new UUID(n, n).toString()).toArray(String[]::new);
        MessageLog log = new InMemoryMessageLog();
        insert(key, new Row(ids[0], null, 1));
        importing(log).read(key, ReadQuery.newest(0));
        insert(key, new Row(ids[1], ids[0], 2));
        insert(key, new Row(ids[2], ids[0], 3));

        assertThat(LogTesting.branch(importing(log), key))
                .containsExactly(ids[0] + ":query", ids[0], ids[2] + ":query", ids[2]);
    }

    @Test
    void a_regenerated_row_that_has_no_answer_yet_places_its_node_beside_the_rejected_one() throws Exception {
        ConversationKey key = newKey();
        String[] ids =
                new Random(2).ints(3).mapToObj(n -> new UUID(n, n).toString()).toArray(String[]::new);
        MessageLog log = importing(new InMemoryMessageLog());
        NodeTokenBufferMemory node = WorkflowMemories.builder()
                .conversationLog(log)
                .nodeLog(new InMemoryMessageLog())
                .build()
                .node(NodeKey.of(key.tenant(), "app", key.conversationId(), "writer"));
        insert(key, new Row(ids[0], null, 1));
        insert(key, new Row(ids[1], ids[0], 2));
        node.addMessages(ids[0], null, "first", List.of(), "one", List.of());
        node.addMessages(ids[1], ids[0], "second", List.of(), "two", List.of());
        node.flush();
        log.read(key, ReadQuery.newest(0));

        insert(key, new Row(ids[2], ids[0], 3, ""));
        assertThat(node.getHistoryPromptMessages(ids[2], key.tenant()))
                .containsExactly(UserMessage.from("first"), AiMessage.from("one"));
    }

    @Test
    void the_old_stores_tables_are_a_conversations_log() throws Exception {
        ConversationKey key = newKey();
        WorkflowMemories memories = WorkflowMemories.builder()
                .conversationLog(importing(new InMemoryMessageLog()))
                .build();
        String first = new UUID(3, 1).toString();
        insert(key, new Row(first, null, 1, "one"));
        insert(key, new Row(new UUID(3, 2).toString(), first, 2, "two"));
        insert(key, new Row(new UUID(3, 3).toString(), first, 3, "two again"));

        assertThat(memories.conversation(key).getHistoryPromptText(null, 2_000, null))
                .isEqualTo("Human: q\nAssistant: one\nHuman: q\nAssistant: two again");
    }

    @Test
    void rows_that_are_each_others_parents_are_named() throws Exception {
        ConversationKey key = newKey();
        String a = UUID.randomUUID().toString();
        String b = UUID.randomUUID().toString();
        insert(key, new Row(UUID.randomUUID().toString(), null, 1));
        insert(key, new Row(a, b, 1));
        insert(key, new Row(b, a, 2));
        insert(key, new Row(UUID.randomUUID().toString(), a, 3));

        assertThrown(
                UnreadableDataException.class,
                () -> importing(new InMemoryMessageLog()).read(key, ReadQuery.newest(1)),
                key.toString(),
                a,
                b,
                "parent_message_id");
    }

    /** Both applications go on with a conversation, and imports are killed. Each row is where the rule says. */
    @Test
    void each_row_is_under_the_parent_that_the_rule_gives_it() throws Exception {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        Random random = new Random(seed);
        int kills = 0;
        for (int tree = 0; tree < Counts.of(40, 1_000); tree++) {
            ConversationKey key = newKey();
            MessageLog log = new InMemoryMessageLog();
            List<Row> rows = new ArrayList<>();
            int second = 1;
            Map<String, String> expected = new LinkedHashMap<>();
            for (int step = 1 + random.nextInt(5); step > 0; step--) {
                for (int i = 1 + random.nextInt(6); i > 0; i--) {
                    second += random.nextInt(3) == 0 ? 1 : 0;
                    Row row = new Row(
                            new UUID(random.nextLong(), random.nextLong()).toString(), parent(random, rows), second);
                    rows.add(row);
                    insert(key, row);
                }
                boolean done = false;
                while (!done) {
                    Map<String, String> now = oracle(log, key, rows);
                    now.forEach(expected::putIfAbsent);
                    int appends = random.nextInt(4);
                    done = take(log, key, appends);
                    kills += done ? 0 : 1;
                    String as = "seed " + seed + ", tree " + tree;
                    Map<String, String> stored = parents(log, key);
                    stored.forEach((id, parent) -> {
                        if (id.endsWith(":query")) {
                            assertThat(parent).as("%s, row %s", as, id).isEqualTo(expected.get(id));
                        }
                    });
                    expected.keySet().retainAll(stored.keySet());
                    assertThat(stored.keySet().containsAll(now.keySet())).as(as).isEqualTo(done);
                    goOn(random, log, key);
                }
            }
        }
        assertThat(kills).isPositive();
    }

    private static String parent(Random random, List<Row> rows) {
        if (rows.isEmpty() || random.nextInt(20) == 0) {
            return null;
        }
        int back = random.nextInt(3) == 0 ? random.nextInt(Math.min(4, rows.size())) : 0;
        return rows.get(rows.size() - 1 - back).id();
    }

    /** Takes rows in as a process does that dies before the nth append, or not if there are fewer. */
    private static boolean take(MessageLog log, ConversationKey key, int appends) {
        MessageLog dying = new WatchedLog(log) {
            private int left = appends;

            @Override
            protected void called(String method) {
                if (method.equals("append") && left-- == 0) {
                    throw new StorageUnavailableException("killed", null);
                }
            }
        }.log();
        try {
            importing(dying).read(key, ReadQuery.newest(0));
            return true;
        } catch (StorageUnavailableException e) {
            return false;
        }
    }

    /** Says something here, or goes back to another branch. */
    private static void goOn(Random random, MessageLog log, ConversationKey key) {
        if (random.nextInt(3) == 0) {
            String id = UUID.randomUUID().toString();
            NewMessage question = new NewMessage("local " + id, UserMessage.from("here"), 1, "test", null);
            NewMessage answer = new NewMessage("local answer " + id, AiMessage.from("here"), 1, "test", null);
            log.append(key, Append.underHead(question));
            log.append(key, Append.underHead(answer));
        }
        List<LoggedMessage> all = LogTesting.history(log, key);
        if (random.nextInt(8) == 0 && !all.isEmpty()) {
            Logs.moveHead(log, key, all.get(random.nextInt(all.size())).id(), null);
        }
    }

    private static Map<String, String> parents(MessageLog log, ConversationKey key) {
        Map<String, String> parents = new HashMap<>();
        LogTesting.history(log, key, HistoryQuery.oldest(500)).forEach(m -> parents.put(m.id(), m.parentId()));
        return parents;
    }

    /** The rule, written down as plainly as possible: the parents of the questions of rows that are not taken in yet. */
    private static Map<String, String> oracle(MessageLog log, ConversationKey key, List<Row> rows) {
        Map<String, String> stored = parents(log, key);
        String head = log.read(key, ReadQuery.newest(0)).position().head();
        List<Row> ordered = new ArrayList<>();
        List<Row> left = new ArrayList<>(rows);
        while (!left.isEmpty()) {
            Row next = left.stream()
                    .filter(row -> left.stream().noneMatch(other -> other.id().equals(row.parent())))
                    .min(BY_TIME)
                    .orElseThrow();
            left.remove(next);
            ordered.add(next);
        }
        Map<String, String> places = new HashMap<>();
        String newest = null;
        for (Row row : ordered) {
            if (stored.containsKey(row.id())) {
                newest = row.id();
                places.putIfAbsent(row.parent(), stored.get(row.id() + ":query"));
            }
        }
        Map<String, String> found = new LinkedHashMap<>();
        for (Row row : ordered) {
            if (stored.containsKey(row.id())) {
                continue;
            }
            if (!places.containsKey(row.parent())) {
                boolean isEnd = row.parent() != null && row.parent().equals(newest) && leadsTo(stored, head, newest);
                places.put(row.parent(), isEnd ? head : row.parent());
            }
            found.put(row.id() + ":query", places.get(row.parent()));
        }
        return found;
    }

    private static boolean leadsTo(Map<String, String> parents, String from, String to) {
        String at = from;
        while (at != null && !Objects.equals(at, to)) {
            at = parents.get(at);
        }
        return at != null;
    }
}
