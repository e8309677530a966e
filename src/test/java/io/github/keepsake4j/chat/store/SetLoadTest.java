package io.github.keepsake4j.chat.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Eight threads in two processes add and set at the same time, and each process is killed. */
@Tag("landing")
@Timeout(1_200)
class SetLoadTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "load");

    @TempDir
    Path directory;

    @Test
    void nothing_is_lost_or_doubled_on_sqlite() throws Exception {
        Path file = directory.resolve("chat.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            Logs.summaries(log, KEY);
            check(log, run(Counts.of(0, 2), file));
        }
    }

    @Test
    void nothing_is_lost_or_doubled_on_postgresql() throws Exception {
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        try (MessageLog log = Postgres.log(server.kept(database))) {
            Logs.summaries(log, KEY);
            check(log, run(Counts.of(1, 2), server.port(), database));
        }
    }

    /** Returns the texts that were acknowledged, after processes were started again at least so often. */
    private static List<String> run(int restarts, Object... where) throws Exception {
        List<String> acknowledged = new ArrayList<>();
        Random random = new Random();
        int name = 0;
        List<Child> children = new ArrayList<>(List.of(start(name++, where), start(name++, where)));
        int lines = Counts.of(20, 200);
        long seconds = Counts.of(0, 180);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        try {
            // The time bounds the load only. Processes are killed and started again within it, and both are killed
            // behind it.
            for (int kill = 0; kill < restarts || System.nanoTime() < end; kill++) {
                Child child = children.get(kill % 2);
                readAndKill(child, lines + random.nextInt(lines), acknowledged);
                children.set(kill % 2, start(name++, where));
            }
            for (Child child : children) {
                readAndKill(child, lines + random.nextInt(lines), acknowledged);
            }
        } finally {
            children.forEach(Child::close);
        }
        return acknowledged;
    }

    private static void readAndKill(Child child, int lines, List<String> acknowledged) throws Exception {
        for (int line = 0; line < lines; line++) {
            acknowledged.add(child.line());
        }
        acknowledged.addAll(child.kill());
    }

    private static Child start(int name, Object... where) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of("p" + name));
        arguments.addAll(List.of(where));
        return Child.start(SetLoad.class, arguments.toArray());
    }

    private static void check(MessageLog log, List<String> acknowledged) {
        Map<String, Integer> stored = new HashMap<>();
        HistoryQuery query = HistoryQuery.oldest(1_000);
        while (query != null) {
            HistoryPage page = log.history(KEY, query);
            page.messages().forEach(message -> stored.merge(SetLoad.text(message.message()), 1, Integer::sum));
            query = page.next().orElse(null);
        }
        Set<String> lost = new HashSet<>(acknowledged);
        lost.removeAll(stored.keySet());
        assertThat(lost).as("acknowledged and lost").isEmpty();
        stored.values().removeIf(times -> times == 1);
        assertThat(stored).as("stored more than once").isEmpty();
    }
}
