package io.github.keepsake4j.benchmark;

import static io.github.keepsake4j.benchmark.Report.millis;
import static io.github.keepsake4j.benchmark.Report.ratio;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures what a turn costs while a summary is being made; there should be no cost. Several chats of 200 turns run
 * side by side, turn by turn. Prints a report, and writes it with every sample below {@code target/benchmark}. System
 * properties, all beginning with {@code keepsake.benchmark.}: {@code rounds} of such chats, {@code thinkMillis} of the
 * slow summarizer.
 */
public final class SummaryBenchmark {

    private static final Path OUTPUT = Path.of("target", "benchmark");
    private static final int TURNS = 200;

    /**
     * A summary becomes due in the middle of the chat. Without a summary, messages leave the view only at the end of
     * the chat.
     */
    private static final int TRIGGER = TURNS;

    private static final int NEVER = 100 * TURNS;
    private static final int SETTLING_TURNS = 5;
    private static final int WARM_UP_ROUNDS = 2;

    private final int rounds = Integer.getInteger("keepsake.benchmark.rounds", 30);
    private final int thinkMillis = Integer.getInteger("keepsake.benchmark.thinkMillis", 5_000);
    private final Report report = new Report();

    /** Opens a log by its name. */
    private interface Logs {
        MessageLog open(String name) throws Exception;
    }

    private SummaryBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        long begin = System.nanoTime();
        SummaryBenchmark benchmark = new SummaryBenchmark();
        benchmark.run();
        benchmark.report.text("The whole run took " + (System.nanoTime() - begin) / 1_000_000_000
                + " s. Load average at its end: " + Machine.load() + ".");
        benchmark.report.write(OUTPUT, "summaries");
        System.out.println(benchmark.report.markdown());
    }

    private void run() throws Exception {
        report.text("# What a turn costs while a summary is made");
        List<String> machine = new ArrayList<>(Machine.describe());
        machine.add("Load average at the beginning: " + Machine.load());
        report.list(machine);
        report.text("Chats have " + TURNS + " turns (read, add, add). There are " + rounds + " rounds after "
                + WARM_UP_ROUNDS
                + " to warm up. The chats alternate after each turn, each on a log of its own."
                + " A summary becomes due in the middle of a chat. So the second half of the chat is measured, after "
                + SETTLING_TURNS
                + " turns in which the job begins, for as long as the summarizer thinks. `thinking`: the summarizer takes "
                + thinkMillis
                + " ms. `none due`: the same strategy with a trigger that is never reached. It shows exactly the same"
                + " messages, and ratios are to it. `none due again`: the same once more. The distance of its ratio from 1 is"
                + " noise. `at once`: the summarizer answers immediately, so less is shown.");
        Path directory = Files.createTempDirectory(Files.createDirectories(OUTPUT), "summaries");
        compare("SQLite, each commit synced", name -> SqliteMessageLog.open(directory.resolve(name + ".db")));
        List<HikariDataSource> pools = new ArrayList<>();
        compare("PostgreSQL, each commit synced", name -> postgres(pools));
        pools.forEach(HikariDataSource::close);
        compare("In memory", name -> new InMemoryMessageLog());
        ends(directory);
    }

    private static MessageLog postgres(List<HikariDataSource> pools) throws SQLException {
        Postgres server = Postgres.newest();
        HikariDataSource pool = Postgres.trustingPool(server.database(server.newDatabase()), 2, true);
        pools.add(pool);
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    private void compare(String title, Logs logs) throws Exception {
        try (SummarizedChat thinking = new SummarizedChat("thinking", logs.open("thinking"), TRIGGER, thinkMillis);
                SummarizedChat none = new SummarizedChat("none due", logs.open("none"), NEVER, 0);
                SummarizedChat again = new SummarizedChat("none due again", logs.open("again"), NEVER, 0);
                SummarizedChat atOnce = new SummarizedChat("at once", logs.open("atonce"), TRIGGER, 0)) {
            List<SummarizedChat> chats = List.of(thinking, none, again, atOnce);
            for (int round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
                System.err.println(java.time.LocalTime.now().withNano(0) + " " + title + ", round " + round);
                round(chats, thinking, round);
            }
            report.text("## " + title);
            report.table(
                    List.of(
                            "chat",
                            "call",
                            "p50 (ms)",
                            "ratio",
                            "p99 (ms)",
                            "ratio",
                            "calls",
                            "turns while a summary was made"),
                    rows(chats, none));
        }
    }

    private static void round(List<SummarizedChat> chats, SummarizedChat thinking, int round) {
        for (SummarizedChat chat : chats) {
            chat.begin("round " + round);
        }
        for (int turn = 0; turn < TURNS; turn++) {
            // When the slow summary is finished, less is shown of that chat, so its turns cannot be compared anymore.
            boolean counts = round >= WARM_UP_ROUNDS && turn >= TRIGGER / 2 + SETTLING_TURNS && thinking.isThinking();
            // The order is shifted by one with each turn, so that over four turns each chat follows each pause of the
            // machine equally often.
            for (int i = 0; i < chats.size(); i++) {
                int place = turn % 2 == 0 ? i : chats.size() - 1 - i;
                chats.get((place + turn / 2) % chats.size()).turn(counts);
            }
        }
    }

    private List<List<String>> rows(List<SummarizedChat> chats, SummarizedChat none) {
        List<List<String>> rows = new ArrayList<>();
        for (SummarizedChat chat : chats) {
            rows.add(row(chat, "`messages()`", chat.messages, none.messages));
        }
        for (SummarizedChat chat : chats) {
            rows.add(row(chat, "`add`", chat.adds, none.adds));
        }
        return rows;
    }

    private List<String> row(SummarizedChat chat, String call, Measured measured, Measured base) {
        report.keep(measured);
        return List.of(
                chat.name(),
                call,
                millis(measured.median()),
                ratio(measured.median(), base.median()),
                millis(measured.p99()),
                ratio(measured.p99(), base.p99()),
                String.valueOf(measured.size()),
                chat.share());
    }

    private void ends(Path directory) throws Exception {
        List<String> times = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            try (Child child = Child.start(EndsWhileSummarizing.class, directory.resolve("ends" + i + ".db"), 60_000)) {
                if (!"ends".equals(child.line())) {
                    throw new IllegalStateException("the child failed");
                }
                long begin = System.nanoTime();
                // This throws if the exit code is not 0.
                child.awaitEnd();
                times.add((System.nanoTime() - begin) / 1_000_000 + " ms");
            }
        }
        report.text("## An application that ends in the middle");
        report.text(
                "In each of five processes, the summarizer thinks for 60 s, and `main` closes the log and returns meanwhile."
                        + " Each process ended with exit code 0, " + String.join(", ", times)
                        + " after `main` began to close.");
    }
}
