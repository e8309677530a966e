package io.github.keepsake4j.benchmark;

import static io.github.keepsake4j.benchmark.Report.millis;
import static io.github.keepsake4j.benchmark.Report.ratio;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Postgres;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Measures the cost of the log on PostgreSQL, as ratios to hand-written JDBC in the same run. Prints a report, and
 * writes it with every sample below {@code target/benchmark}. The page
 * {@code src/docs/benchmarks/postgresql.md} has the command. System properties, all beginning with
 * {@code keepsake.benchmark.}: {@code samples} per kind of call, {@code largest} history, {@code walAppends},
 * {@code clientMillis} per turn of 16 clients, {@code memories} on the heap.
 */
public final class PostgresBenchmark {

    private static final Path OUTPUT = Path.of("target", "benchmark");

    /** The fewest calls of a kind before the samples. */
    private static final int WARM_UP = 500;

    /** Short calls take longer to be compiled than to be run 500 times. */
    private static final int WARM_UP_ROWS = 100_000;

    /** An append is warmed up like a read of so many rows. */
    private static final int ROWS_OF_AN_APPEND = 20;

    private static final int[] READS = {20, 50, 500};
    private static final int CLIENTS = 16;
    private static final int POOL = 4;

    /** The number of older runs that a memory's row repeats. */
    private static final int RUNS_IN_HEAD = 8;

    /** The most bytes of write-ahead log that an append may take in addition to the payload. */
    private static final long MAX_WAL = 2_048;

    /**
     * Logs of other settings that are measured beside the usual one on the largest history, by the end of their rows'
     * names. This is the place for the log that goes through a transaction pooler.
     */
    private static final Map<String, Function<DataSource, MessageLog>> VARIANTS =
            Map.of("transaction pooler", source -> JdbcMessageLog.builder()
                    .dataSource(source)
                    .transactionPooler()
                    .build());

    private final int samples = Integer.getInteger("keepsake.benchmark.samples", 600);
    private final int largest = Integer.getInteger("keepsake.benchmark.largest", 1_000_000);
    private final int walAppends = Integer.getInteger("keepsake.benchmark.walAppends", 4_000);
    private final int clientMillis = Integer.getInteger("keepsake.benchmark.clientMillis", 1_000);
    private final int memories = Integer.getInteger("keepsake.benchmark.memories", 1_000_000);

    private final Report report = new Report();
    private final History hundred = new History("100", 100, 100, CLIENTS, false);
    private final History tenThousand = new History("10,000", 10_000, 10_000, 1, false);
    private final History linear = new History(count(largest), largest, largest, 1, false);
    /** The head is ten messages after the newest fork, so that every read has to cross the fork. */
    private final History forked =
            new History(count(largest) + " with 1,000 forks", largest + 10, largest / 1_000, 1, false);

    private final History foreignHundred = new History("100, foreign ids", 100, 100, 1, true);
    private final History foreign = new History(count(largest) + ", foreign ids", largest, largest, 1, true);

    private final Server server;
    private final PGSimpleDataSource small;
    private final PGSimpleDataSource medium;
    private final PGSimpleDataSource large;

    private PostgresBenchmark(Server server) throws Exception {
        this.server = server;
        small = server.newDatabase();
        medium = server.newDatabase();
        large = server.newDatabase();
    }

    public static void main(String[] arguments) throws Exception {
        long begin = System.nanoTime();
        try (Server server = new Server(OUTPUT.resolve("data").toAbsolutePath())) {
            PostgresBenchmark benchmark = new PostgresBenchmark(server);
            benchmark.run();
            benchmark.report.text("The whole run took " + (System.nanoTime() - begin) / 1_000_000_000 + " s.");
            benchmark.report.write(OUTPUT, "postgresql");
            System.out.println(benchmark.report.markdown());
        }
    }

    private void run() throws Exception {
        fill();
        report.text("# What the log costs on PostgreSQL");
        report.list(Machine.describe(small));
        report.text("Times are milliseconds per call. The calls of a table alternate in the same run ("
                + samples + " samples after " + warmUp(ROWS_OF_AN_APPEND)
                + " to warm up, fewer before longer reads). One message is "
                + Payload.JSON.getBytes(StandardCharsets.UTF_8).length
                + " bytes of JSON, without ids. `floor` is hand-written JDBC: one statement per call, on the same pool,"
                + " on tables of its own with the same columns and indexes. Its append hands out the sequence, keeps ids"
                + " unique and moves the head, and does nothing else. Its read returns the newest rows and the head as"
                + " columns. The log also makes JSON of messages and messages of JSON, knows branches, checks epoch and"
                + " expected head, and sets a statement time-out. `floor with decoding` also makes messages of its rows."
                + " The database of each size holds no history that is bigger than that size.");
        step("reads");
        reads();
        step("appends");
        appends();
        step("delay");
        step("clients");
        clients();
        step("write-ahead log");
        writeAheadLog();
        step("paging");
        paging();
        step("heap");
        heap();
    }

    private void fill() throws Exception {
        step("filling");
        hundred.fill(small, "public");
        hundred.fill(small, HandWritten.SCHEMA);
        foreignHundred.fill(small, "public");
        tenThousand.fill(medium, "public");
        tenThousand.fill(medium, HandWritten.SCHEMA);
        linear.fill(large, "public");
        linear.fill(large, HandWritten.SCHEMA);
        forked.fill(large, "public");
        foreign.fill(large, "public");
        step("vacuum");
        for (PGSimpleDataSource database : List.of(small, medium, large)) {
            Server.settle(database);
        }
    }

    private void reads() throws Exception {
        report.text("## Bounded reads");
        List<List<String>> rows = new ArrayList<>();
        List<Site> variants = variants();
        for (int limit : READS) {
            try (Site atSmall = new Site(small, 1);
                    Site atMedium = new Site(medium, 1);
                    Site atLarge = new Site(large, 1)) {
                List<List<Operation>> groups = new ArrayList<>(List.of(
                        atMedium.reads(tenThousand, tenThousand, limit),
                        atLarge.reads(linear, linear, limit),
                        atLarge.reads(forked, linear, limit)));
                if (limit <= hundred.messages()) {
                    groups.add(0, atSmall.reads(hundred, hundred, limit));
                }
                for (Site variant : variants) {
                    groups.add(variant.reads(linear, linear, limit));
                }
                rows.addAll(compare(groups, limit));
            }
        }
        variants.forEach(Site::close);
        report.table(
                List.of(
                        "read, history",
                        "keepsake",
                        "p99",
                        "floor",
                        "p99",
                        "floor with decoding",
                        "ratio",
                        "to decoding",
                        "p99 ratio",
                        "to smallest"),
                rows);
        report.text(
                "`to smallest` is the ratio to the smallest history with that many messages. With forks, the floor reads"
                        + " the history without them, because it knows no branches.");
    }

    private void appends() throws Exception {
        report.text("## Appends of one message");
        List<Site> variants = variants();
        try (Site atSmall = new Site(small, 1);
                Site atMedium = new Site(medium, 1);
                Site atLarge = new Site(large, 1)) {
            List<List<Operation>> groups = new ArrayList<>(List.of(
                    atSmall.appends(hundred, hundred),
                    atMedium.appends(tenThousand, tenThousand),
                    atLarge.appends(linear, linear),
                    atLarge.appends(forked, linear)));
            for (Site variant : variants) {
                groups.add(variant.appends(linear, linear));
            }
            report.table(
                    List.of(
                            "append, history",
                            "keepsake",
                            "p99",
                            "floor",
                            "p99",
                            "bare insert",
                            "ratio",
                            "to bare insert",
                            "p99 ratio",
                            "to smallest"),
                    compare(groups, ROWS_OF_AN_APPEND));
        }
        variants.forEach(Site::close);
        report.text("Appends to histories of 100 go to " + CLIENTS + " memories in turn, so that the histories stay"
                + " short. `bare insert` writes the row without a head. Its one client counts the sequence.");
    }

    private List<Site> variants() {
        return VARIANTS.entrySet().stream()
                .map(variant -> new Site(large, 1, ", " + variant.getKey(), variant.getValue()))
                .toList();
    }

    /** Each group consists of this library's operation, the floor, and another operation for comparison. */
    private List<List<String>> compare(List<List<Operation>> groups, int limit) throws Exception {
        Operation.interleave(groups.stream().flatMap(List::stream).toList(), warmUp(limit), samples);
        List<List<String>> rows = new ArrayList<>();
        for (List<Operation> group : groups) {
            Measured ours = report.keep(group.get(0).measured());
            Measured floor = report.keep(group.get(1).measured());
            Measured beside = report.keep(group.get(2).measured());
            rows.add(List.of(
                    ours.name().replace(" keepsake", "").replaceFirst("^append ", ""),
                    millis(ours.median()),
                    millis(ours.p99()),
                    millis(floor.median()),
                    millis(floor.p99()),
                    millis(beside.median()),
                    ratio(ours.median(), floor.median()),
                    ratio(ours.median(), beside.median()),
                    ratio(ours.p99(), floor.p99()),
                    ratio(ours.median(), groups.get(0).get(0).measured().median())));
        }
        return rows;
    }

    private static int warmUp(int rows) {
        return Math.max(WARM_UP, WARM_UP_ROWS / rows);
    }

    private static List<String> ratios(String name, Measured ours, Measured floor) {
        return List.of(
                name,
                millis(ours.median()),
                millis(ours.p99()),
                millis(floor.median()),
                millis(floor.p99()),
                ratio(ours.median(), floor.median()),
                ratio(ours.p99(), floor.p99()));
    }

    private void clients() throws Exception {
        report.text("## " + CLIENTS + " clients on a pool of " + POOL);
        List<List<String>> rows = new ArrayList<>();
        try (Site site = new Site(small, POOL);
                Clients clients = new Clients(CLIENTS)) {
            rows.add(atOnce(
                    clients,
                    "append",
                    i -> () -> site.append(hundred.key(i), Payload.ordered()),
                    i -> () -> site.handWritten().append(hundred.key(i))));
            rows.add(atOnce(
                    clients,
                    "read 20",
                    i -> () -> site.read(hundred.key(i), 20),
                    i -> () -> site.handWritten().read(hundred.key(i), 20, false)));
        }
        report.table(
                List.of("call", "keepsake", "p99", "floor", "p99", "ratio", "p99 ratio", "calls, keepsake and floor"),
                rows);
        report.text("Each client has a memory of its own. The times include the wait for a connection. Both sides"
                + " alternate every " + clientMillis + " ms.");
    }

    private List<String> atOnce(
            Clients clients, String name, IntFunction<Operation.Body> ours, IntFunction<Operation.Body> floor)
            throws Exception {
        Measured[] both = {
            new Measured(CLIENTS + " clients " + name + " keepsake"),
            new Measured(CLIENTS + " clients " + name + " floor")
        };
        Measured unmeasured = new Measured("");
        clients.run(300, ours, unmeasured);
        clients.run(300, floor, unmeasured);
        for (int turn = 0; turn < 6; turn++) {
            clients.run(clientMillis, turn % 2 == 0 ? ours : floor, both[turn % 2]);
        }
        List<String> row = new ArrayList<>(ratios(name, both[0], both[1]));
        row.add(both[0].size() + ", " + both[1].size());
        return row;
    }

    private void writeAheadLog() throws Exception {
        report.text("## Write-ahead log per append, over " + walAppends + " appends after a checkpoint");
        List<List<String>> rows = new ArrayList<>();
        rows.add(wal("100, our ids", small, hundred.key(0), Payload::ordered));
        rows.add(wal(linear.name() + ", our ids", large, linear.key(0), Payload::ordered));
        rows.add(wal(forked.name() + ", our ids", large, forked.key(0), Payload::ordered));
        rows.add(wal("100, random foreign ids", small, foreignHundred.key(0), Payload::random));
        rows.add(wal(linear.name() + ", random foreign ids", large, foreign.key(0), Payload::random));
        report.table(List.of("history", "bytes", "of these payload", "without payload"), rows);
        report.text("Payload is the JSON of the message and its id. The head of the history with forks carries the "
                + RUNS_IN_HEAD + " runs below its own. For its appends the limit without payload is " + count(MAX_WAL)
                + " bytes.");
    }

    private List<String> wal(String name, PGSimpleDataSource database, ConversationKey key, Supplier<NewMessage> next)
            throws Exception {
        long bytes;
        try (Site site = new Site(database, 1)) {
            for (int i = 0; i < 10; i++) {
                site.append(key, next.get());
            }
            Postgres.execute(database, "CHECKPOINT");
            long before = Server.walEnd(database);
            for (int i = 0; i < walAppends; i++) {
                site.append(key, next.get());
            }
            bytes = (Server.walEnd(database) - before) / walAppends;
        }
        long payload = Payload.JSON.getBytes(StandardCharsets.UTF_8).length
                + next.get().id().length();
        return List.of(name, count(bytes), count(payload), count(bytes - payload));
    }

    private void paging() throws Exception {
        try (Child child = Child.start(
                List.of("-Xmx64m"),
                PagedHistory.class,
                large.getDatabaseName(),
                server.port(),
                foreign.key(0).tenant(),
                foreign.key(0).conversationId())) {
            String[] found = child.awaitEnd().get(0).split(" ");
            report.text("## Heap");
            report.list(List.of("A history was read to its end in pages of 1,000, in a JVM with `-Xmx64m`: "
                    + count(Long.parseLong(found[0])) + " messages in " + found[1] + " ms."));
        }
    }

    private void heap() throws Exception {
        try (Child child = Child.start(List.of("-Xmx2g"), HeapOfMemories.class, memories)) {
            double bytes = Double.parseDouble(child.awaitEnd().get(0));
            report.list(List.of(count(memories) + " memories from `keepsake.chatMemoryProvider()`, all kept, take "
                    + Math.round(bytes / 1e6) + " MB (" + Math.round(bytes / memories)
                    + " bytes each), apart from the strings that are their ids."));
        }
    }

    private static String count(long number) {
        return String.format(java.util.Locale.ROOT, "%,d", number);
    }

    private static void step(String name) {
        System.err.println(java.time.LocalTime.now().withNano(0) + " " + name);
    }
}
