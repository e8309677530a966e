package io.github.keepsake4j.chat.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.CountedLog;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.view.ViewReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs random sequences of calls that frameworks make on a store, and compares the store with a model of rows and
 * lists.
 */
@Tag("landing")
class ChatMemoryStoreModelTest {

    @TempDir
    Path directory;

    @Test
    void any_sequence_in_memory() {
        try (MessageLog log = new InMemoryMessageLog()) {
            run(log, Counts.of(500, 10_000));
        }
    }

    @Test
    void any_sequence_on_sqlite() {
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            run(log, Counts.of(20, 1_000));
        }
    }

    @Test
    void any_sequence_on_postgresql() throws Exception {
        Postgres server = Postgres.newest();
        try (HikariDataSource pool = Postgres.trustingPool(server.database(server.newDatabase()), 2, true);
                MessageLog log = Postgres.log(pool)) {
            run(log, Counts.of(20, 1_000));
        }
    }

    @Test
    void any_sequence_in_a_bucket() throws Exception {
        S3Server server = S3Server.shared();
        try (MessageLog log = S3MessageLog.connect(
                server.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, server.newBucket())) {
            run(log, Counts.of(8, 1_000));
        }
    }

    private static void run(MessageLog log, int sequences) {
        for (int seed = 0; seed < sequences; seed++) {
            Sequence sequence = new Sequence(log, seed);
            try {
                sequence.run();
            } catch (Throwable e) {
                String trace = String.valueOf(sequence.trace);
                throw new AssertionError(
                        "seed " + seed + " after " + trace.substring(Math.max(0, trace.length() - 2_000)), e);
            }
        }
    }

    /** A row that the model says is stored, and the client that stored it; null for another program. */
    private record Row(ChatMessage message, int sequence, Client by) {}

    /** A read of a client, or a list that it set: its number, the newest row that was stored at the read, and the rows. */
    private record Read(int number, int newest, List<Row> rows) {}

    /**
     * An instance that a client holds: its row, the newest read or list that contains it, and whether a read returned
     * it.
     */
    private record Known(Row row, Read read, boolean given) {}

    /** A store, and the instances that it gave out. */
    private static final class Client {
        private final KeepsakeChatMemoryStore store;
        private final IdentityHashMap<ChatMessage, List<Known>> known = new IdentityHashMap<>();
        private List<ChatMessage> last = new ArrayList<>();

        Client(MessageLog log) {
            store = Keepsake.builder().messageLog(log).build().chatMemoryStore();
        }
    }

    private static final class Sequence {
        private final CountedLog counted = new CountedLog();
        private final MessageLog log;
        private final MemoryKey key;
        private final Random random;
        private final List<Client> clients = new ArrayList<>();
        private final List<String> trace = new ArrayList<>();
        private final boolean alone;

        /** The rows that the memory must show. */
        private List<Row> shown = new ArrayList<>();

        /**
         * The number of times that each message must be in the history: as often as in the list that contained it most
         * often.
         */
        private final Map<ChatMessage, Integer> ever = new HashMap<>();

        private int stored;
        private int reads;
        private int fresh;

        Sequence(MessageLog log, int seed) {
            this.log = counted.around(log);
            this.key = ConversationKey.of("model", "m" + seed);
            this.random = new Random(seed);
            this.alone = random.nextBoolean();
            clients.add(new Client(this.log));
            if (!alone) {
                clients.add(new Client(this.log));
            }
        }

        void run() {
            for (int step = 0; step < 14; step++) {
                Client client = clients.get(random.nextInt(clients.size()));
                if (random.nextInt(3) > 0) {
                    get(client);
                }
                switch (random.nextInt(12)) {
                    case 0 -> delete(client);
                    case 1 -> readd(client);
                    case 2 -> {
                        if (!alone) {
                            addThroughChatMemory();
                        }
                    }
                    case 3 -> get(client);
                    default -> update(client, changed(client.last));
                }
                assertThat(client.store.getMessages(key)).isEqualTo(messages(shown));
                assertThat(ViewReader.read(log, key, ReadQuery.wholeBranch()).messages())
                        .as("what is stored")
                        .extracting(LoggedMessage::message)
                        .isEqualTo(messages(shown));
            }
            List<ChatMessage> history = log.history(key, HistoryQuery.oldest(1000)).messages().stream()
                    .map(LoggedMessage::message)
                    .toList();
            assertThat(history).hasSize(stored);
            ever.forEach((message, times) ->
                    assertThat(Collections.frequency(history, message)).isGreaterThanOrEqualTo(times));
        }

        private void get(Client client) {
            List<ChatMessage> got = client.store.getMessages(key);
            trace.add("get");
            assertThat(got).isEqualTo(messages(shown));
            Read read = new Read(++reads, stored, shown);
            for (int i = 0; i < got.size(); i++) {
                know(client, got.get(i), new Known(shown.get(i), read, true));
            }
            client.last = got;
        }

        private void delete(Client client) {
            trace.add("delete");
            counted.reset();
            if (random.nextBoolean()) {
                client.store.deleteMessages(key);
            } else {
                client.store.updateMessages(key, List.of());
            }
            assertThat(counted.messagesWritten).isZero();
            assertThat(counted.viewsWritten).isLessThanOrEqualTo(1);
            shown = new ArrayList<>();
        }

        /** Does what a stock memory does when an application clears it and adds messages again. */
        private void readd(Client client) {
            List<ChatMessage> before = client.last;
            delete(client);
            List<ChatMessage> list = new ArrayList<>();
            int left = random.nextInt(before.size() + 1);
            for (ChatMessage message : before.subList(0, left)) {
                list.add(random.nextBoolean() ? message : copy(message));
                update(client, new ArrayList<>(list));
            }
        }

        private void addThroughChatMemory() {
            ChatMessage message = anyMessage(false);
            trace.add("add " + text(message));
            Keepsake.builder().messageLog(log).build().chatMemory(key).add(message);
            shown = new ArrayList<>(shown);
            shown.add(new Row(message, ++stored, null));
            remember(messages(shown));
        }

        private void update(Client client, List<ChatMessage> list) {
            trace.add("set " + list.stream().map(Sequence::text).toList());
            if (list.isEmpty()) {
                client.store.updateMessages(key, list);
                shown = new ArrayList<>();
                return;
            }
            List<Row> rows = new ArrayList<>(Collections.nCopies(list.size(), null));
            Read saw = recognize(client, list, rows);
            if (saw == null) {
                matchEqual(list, rows);
            }
            int newest = saw == null ? stored : saw.newest();
            List<Row> seen = saw == null ? List.of() : saw.rows();
            int unmatched = Collections.frequency(rows, null);
            for (int i = 0; i < list.size(); i++) {
                if (rows.get(i) == null) {
                    rows.set(i, new Row(list.get(i), ++stored, client));
                }
            }
            counted.reset();
            client.store.updateMessages(key, list);

            int messagesWritten = counted.messagesWritten;
            int viewsWritten = counted.viewsWritten;
            assertThat(messagesWritten).as("rows").isEqualTo(unmatched);
            assertThat(viewsWritten).as("view rows").isLessThanOrEqualTo(1);
            // The client does not know the rows that were stored since its read, so they stay. It may know a row that
            // it
            // stored and left out itself. If another client shows that row again, the row may stay or not.
            List<Row> next = new ArrayList<>(rows);
            shown.stream()
                    .filter(row -> row.sequence() > newest && indexOf(rows, row) < 0 && indexOf(seen, row) < 0)
                    .filter(row -> row.by() != client || isShown(row))
                    .forEach(next::add);
            if (next.equals(shown)) {
                assertThat(messagesWritten + viewsWritten).as("an equal list").isZero();
            }
            shown = next;
            Read set = new Read(++reads, newest, rows);
            for (int i = 0; i < list.size(); i++) {
                know(client, list.get(i), new Known(rows.get(i), set, false));
            }
            remember(list);
            if (viewsWritten > 0) {
                checkRuns();
            }
        }

        private boolean isShown(Row row) {
            return ViewReader.read(log, key, ReadQuery.wholeBranch()).messages().stream()
                    .anyMatch(message -> message.sequence() == row.sequence());
        }

        /** Checks that the view has as many runs as the list has gaps, regardless of the list's length. */
        private void checkRuns() {
            List<LoggedMessage> now =
                    ViewReader.read(log, key, ReadQuery.wholeBranch()).messages();
            int stretches = 1;
            for (int i = 1; i < now.size(); i++) {
                if (!now.get(i - 1).id().equals(now.get(i).parentId())) {
                    stretches++;
                }
            }
            assertThat(log.read(key, ReadQuery.newest(0)).view().runs()).hasSizeLessThanOrEqualTo(stretches);
        }

        private static void know(Client client, ChatMessage instance, Known now) {
            List<Known> all = client.known.computeIfAbsent(instance, i -> new ArrayList<>());
            boolean given = now.given() || all.stream().anyMatch(old -> old.row() == now.row() && old.given());
            all.removeIf(old -> old.row() == now.row());
            all.add(new Known(now.row(), now.read(), given));
        }

        /**
         * Finds the instances that the client knows, each row once, and returns the newest read or list that contains
         * one of them. The client's own instances count only in the order of the list that it set last.
         */
        private static Read recognize(Client client, List<ChatMessage> list, List<Row> rows) {
            Read newest = null;
            for (ChatMessage message : list) {
                for (Known known : client.known.getOrDefault(message, List.of())) {
                    newest = newest == null || newest.number() < known.read().number() ? known.read() : newest;
                }
            }
            int from = 0;
            for (int i = 0; i < list.size(); i++) {
                for (Known known : client.known.getOrDefault(list.get(i), List.of())) {
                    boolean ofNewest = known.read() == newest;
                    int at = indexOf(newest.rows(), known.row());
                    if (rows.get(i) == null
                            && indexOf(rows, known.row()) < 0
                            && (known.given() || (ofNewest && at >= from))) {
                        rows.set(i, known.row());
                        from = ofNewest ? at + 1 : from;
                    }
                }
            }
            return newest;
        }

        /** Matches a list without known instances: equal messages are the same row, in order. */
        private void matchEqual(List<ChatMessage> list, List<Row> rows) {
            int from = 0;
            for (int i = 0; i < list.size(); i++) {
                for (int at = from; at < shown.size(); at++) {
                    if (shown.get(at).message().equals(list.get(i))) {
                        rows.set(i, shown.get(at));
                        from = at + 1;
                        break;
                    }
                }
            }
        }

        private List<ChatMessage> changed(List<ChatMessage> last) {
            List<ChatMessage> list = new ArrayList<>(last);
            if (random.nextInt(4) == 0) {
                list.replaceAll(Sequence::copy);
            }
            for (int changes = 1 + random.nextInt(2); changes > 0; changes--) {
                int size = list.size();
                switch (size == 0 ? 0 : random.nextInt(9)) {
                    case 0, 1, 2 -> {
                        for (int i = random.nextInt(3); i >= 0; i--) {
                            list.add(anyMessage(true));
                        }
                    }
                    case 3, 4 -> list.remove(random.nextInt(size));
                    case 5 -> list.set(random.nextInt(size), anyMessage(true));
                    case 6 -> Collections.swap(list, random.nextInt(size), random.nextInt(size));
                    case 7 -> {
                        ChatMessage moved = list.remove(random.nextInt(size));
                        list.add(random.nextBoolean() ? 0 : list.size(), moved);
                    }
                    default -> list.subList(0, random.nextInt(size)).clear();
                }
            }
            return list;
        }

        private ChatMessage anyMessage(boolean withSystem) {
            String text = random.nextInt(3) == 0 ? "new " + fresh++ : "" + (char) ('a' + random.nextInt(4));
            return switch (random.nextInt(withSystem ? 5 : 4)) {
                case 0, 1 -> UserMessage.from(text);
                case 2, 3 -> AiMessage.from(text);
                default -> SystemMessage.from(text);
            };
        }

        private void remember(List<ChatMessage> list) {
            list.forEach(message -> ever.merge(message, Collections.frequency(list, message), Math::max));
        }

        private static int indexOf(List<Row> rows, Row row) {
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i) == row) {
                    return i;
                }
            }
            return -1;
        }

        private static List<ChatMessage> messages(List<Row> rows) {
            return rows.stream().map(Row::message).toList();
        }

        private static ChatMessage copy(ChatMessage message) {
            if (message instanceof UserMessage user) {
                return UserMessage.from(user.singleText());
            }
            return message instanceof AiMessage ai
                    ? AiMessage.from(ai.text())
                    : SystemMessage.from(((SystemMessage) message).text());
        }

        private static String text(ChatMessage message) {
            return message.type().name().charAt(0) + ":"
                    + (message instanceof UserMessage user
                            ? user.singleText()
                            : message instanceof AiMessage ai ? ai.text() : ((SystemMessage) message).text());
        }
    }
}
