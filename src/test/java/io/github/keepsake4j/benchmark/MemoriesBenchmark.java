package io.github.keepsake4j.benchmark;

import static io.github.keepsake4j.benchmark.Report.millis;
import static io.github.keepsake4j.benchmark.Report.ratio;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWorkflow;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Measures what a turn pays for memories that are made of its conversation in the background, while their creators hang or fail. There
 * should be no cost. Several chats run side by side, turn by turn. Prints a report, and writes it with every sample below
 * {@code target/benchmark}. System property: {@code keepsake.benchmark.rounds} of such chats.
 */
public final class MemoriesBenchmark {

    private static final Path OUTPUT = Path.of("target", "benchmark");
    private static final int TURNS = 100;
    private static final int SETTLING_TURNS = 5;
    private static final int WARM_UP_ROUNDS = 3;

    private final int rounds = Integer.getInteger("keepsake.benchmark.rounds", 60);
    private final Report report = new Report();
    private final CountDownLatch end = new CountDownLatch(1);

    /** What a kind of chat is stored in. */
    private record Place(MessageLog log, LongTermMemoryStore memories) {}

    /** Opens a place by its name. */
    private interface Places {
        Place open(String name) throws Exception;
    }

    private MemoriesBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        long begin = System.nanoTime();
        MemoriesBenchmark benchmark = new MemoriesBenchmark();
        benchmark.run();
        benchmark.report.text("The whole run took " + (System.nanoTime() - begin) / 1_000_000_000
                + " s. Load average at its end: " + Machine.load() + ".");
        benchmark.report.write(OUTPUT, "memories");
        System.out.println(benchmark.report.markdown());
        System.exit(0);
    }

    private void run() throws Exception {
        report.text("# What a turn costs while creators of memories hang or fail");
        List<String> machine = new ArrayList<>(Machine.describe());
        machine.add("Load average at the beginning: " + Machine.load());
        report.list(machine);
        report.text("Chats have " + TURNS + " turns (read, add, add). There are " + rounds + " rounds after "
                + WARM_UP_ROUNDS
                + " to warm up. The chats alternate after each turn, each on a log of its own. The"
                + " first " + SETTLING_TURNS
                + " turns, in which creators begin, are not counted. `none`: no memories. `none again`: the same once more; the"
                + " distance of its ratio from 1 is noise. `hanging`: each conversation has a creator that began and does not end."
                + " `failing`: the creator throws, and is tried again. `shown`: a hanging creator, and memories that"
                + " were there before are shown by `LongTermMemoryBlock`, which is one read more in each turn.");
        Path directory = Files.createTempDirectory(Files.createDirectories(OUTPUT), "memories");
        compare(
                "In memory, memories in files",
                name -> new Place(
                        new InMemoryMessageLog(), FileLongTermMemoryStore.of(directory.resolve("m-" + name))));
        compare(
                "SQLite, each commit synced, memories in files",
                name -> new Place(
                        SqliteMessageLog.open(directory.resolve(name + ".db")),
                        FileLongTermMemoryStore.of(directory.resolve("s-" + name))));
        List<HikariDataSource> pools = new ArrayList<>();
        compare("PostgreSQL, each commit synced", name -> postgres(pools));
        end.countDown();
    }

    private static Place postgres(List<HikariDataSource> pools) throws SQLException {
        Postgres server = Postgres.newest();
        HikariDataSource pool = Postgres.trustingPool(server.database(server.newDatabase()), 4, true);
        pools.add(pool);
        return new Place(
                Postgres.log(pool),
                JdbcLongTermMemoryStore.builder()
                        .dataSource(pool)
                        .schema(SchemaMode.ALWAYS)
                        .build());
    }

    private static RememberedChat chat(
            String name, Place place, boolean has, LongTermMemoryWorkflow creator, boolean isShown) {
        return new RememberedChat(name, place.log(), has ? place.memories() : null, creator, isShown);
    }

    private void compare(String title, Places places) throws Exception {
        LongTermMemoryWorkflow hangs = inputs -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return null;
        };
        LongTermMemoryWorkflow fails = inputs -> {
            throw new IllegalStateException("down");
        };
        try (RememberedChat none = chat("none", places.open("none"), false, hangs, false);
                RememberedChat again = chat("none again", places.open("again"), false, hangs, false);
                RememberedChat hanging = chat("hanging", places.open("hanging"), true, hangs, false);
                RememberedChat failing = chat("failing", places.open("failing"), true, fails, false);
                RememberedChat shown = chat("shown", places.open("shown"), true, hangs, true)) {
            List<RememberedChat> chats = List.of(none, again, hanging, failing, shown);
            for (int round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
                round(chats, round);
            }
            report.text("## " + title);
            List<List<String>> rows = new ArrayList<>();
            for (RememberedChat chat : chats) {
                report.keep(chat.turns);
                rows.add(List.of(
                        chat.name(),
                        millis(chat.turns.median()),
                        ratio(chat.turns.median(), none.turns.median()),
                        millis(chat.turns.p99()),
                        ratio(chat.turns.p99(), none.turns.p99()),
                        String.valueOf(chat.turns.size())));
            }
            report.table(List.of("chat", "p50 (ms)", "ratio", "p99 (ms)", "ratio", "turns"), rows);
        }
    }

    private static void round(List<RememberedChat> chats, int round) {
        for (RememberedChat chat : chats) {
            chat.begin("round " + round);
        }
        for (int turn = 0; turn < TURNS; turn++) {
            // Shifted by one with each turn, so that each chat follows each pause of the machine equally often.
            for (int i = 0; i < chats.size(); i++) {
                int place = turn % 2 == 0 ? i : chats.size() - 1 - i;
                chats.get((place + turn / 2) % chats.size()).turn(round >= WARM_UP_ROUNDS && turn >= SETTLING_TURNS);
            }
        }
    }
}
