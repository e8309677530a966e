package io.github.keepsake4j.benchmark;

import static io.github.keepsake4j.benchmark.Report.millis;
import static io.github.keepsake4j.benchmark.Report.ratio;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteJDBCLoader;

/**
 * Measures a whole turn as LangChain4j's {@code AiServices} makes it, as ratios to the same turn written by hand in the
 * same run: its time, and the heap that it allocates. Prints a report, and writes it with every sample below
 * {@code target/benchmark}. System properties, all beginning with {@code keepsake.benchmark.}: {@code samples} per kind
 * of turn and {@code warmUp} turns before them, of which large windows take fewer; {@code windows}, separated by commas.
 */
public final class TurnBenchmark {

    private static final Path OUTPUT = Path.of("target", "benchmark");

    /** The fewest samples of a kind of turn, unless fewer are wanted of all kinds. */
    private static final int FEWEST = 20;

    /** The window up to which each kind of turn has all its samples. */
    private static final int SMALL_WINDOW = 400;

    /** The window up to which each kind of turn is warmed up in full. */
    private static final int SMALLEST_WINDOW = 20;

    /** The most messages of a turn, so that a window of whole turns may show that many fewer than its limit. */
    private static final int MESSAGES_PER_TURN = 5;

    /** In tables of a few pages, the server plans the hand-written statements to read them whole, and keeps these plans. */
    private static final int OTHER_MEMORIES = 200;

    private static final int MESSAGES_OF_OTHERS = 100;

    private static final ConversationKey PLAIN = ConversationKey.of("benchmark", "plain");
    private static final ConversationKey TOOLS = ConversationKey.of("benchmark", "tools");
    private static final ConversationKey STORE = ConversationKey.of("benchmark", "store");

    private final int samples = Integer.getInteger("keepsake.benchmark.samples", 200);
    private final int warmUp = Integer.getInteger("keepsake.benchmark.warmUp", 2_000);
    private final int[] windows = Arrays.stream(System.getProperty("keepsake.benchmark.windows", "20,200,1000,10000")
                    .split(","))
            .mapToInt(Integer::parseInt)
            .toArray();
    private final Report report = new Report();
    private final List<List<String>> turns = new ArrayList<>();
    private final List<List<String>> stores = new ArrayList<>();

    /** One kind of turn. */
    private record Kind(Operation operation, Allocations heap) {

        static Kind of(String name, Operation.Body body) {
            Allocations heap = new Allocations(body);
            return new Kind(new Operation(name, heap), heap);
        }

        Measured time() {
            return operation.measured();
        }

        long bytes() {
            return heap.median(time().size());
        }
    }

    /** A turn of a dialogue. */
    @FunctionalInterface
    private interface Turn {
        void run(Dialogue.Turn turn) throws Exception;
    }

    private TurnBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        long begin = System.nanoTime();
        TurnBenchmark benchmark = new TurnBenchmark();
        benchmark.run();
        benchmark.report.text("The whole run took " + (System.nanoTime() - begin) / 1_000_000_000
                + " s. Load average at its end: " + Machine.load() + ".");
        benchmark.report.write(OUTPUT, "turns");
        System.out.println(benchmark.report.markdown());
    }

    private void run() throws Exception {
        report.text("# What a turn costs");
        Path files = Files.createTempDirectory(Files.createDirectories(OUTPUT), "turns");
        try (Server server = new Server(OUTPUT.resolve("turn-data").toAbsolutePath())) {
            List<String> machine = new ArrayList<>(Machine.describe(server.database("postgres")));
            machine.add("SQLite: driver " + SQLiteJDBCLoader.getVersion() + ", WAL, each commit synced");
            machine.add("Load average at the beginning: " + Machine.load());
            report.list(machine);
            describe();
            for (int window : windows) {
                step("PostgreSQL, window " + window);
                postgres(server, window);
                step("SQLite, window " + window);
                sqlite(files, window);
            }
        }
        Files.delete(files);
        tables();
        tokenCounts();
    }

    private void describe() {
        report.text("A `plain` turn is `add(user)`, `messages()`, `add(ai)`. A turn with `tools` is `add(user)`,"
                + " `messages()`, `add(ai)` with two tool requests, `add(result)` twice, `messages()`, `add(ai)`."
                + " `keepsake` is a `KeepsakeChatMemory` with `SlidingWindow.withMaxMessages` of the window. Each history is"
                + " longer than its window by a fifth, and there are "
                + OTHER_MEMORIES + " other memories of " + MESSAGES_OF_OTHERS
                + " messages. A message has about 320 characters of text.");
        report.text(
                "`by hand` is hand-written JDBC on the same pool, or on a copy of the same SQLite file with the same"
                        + " settings: one statement per read, which returns as many of the newest rows as the window, decoded with"
                        + " the same codec; one statement per added message (on SQLite one transaction), and one for both tool"
                        + " results. It hands out the sequence, keeps ids unique and moves the head, and does nothing else. It counts"
                        + " no tokens and divides no messages into turns.");
        report.text(
                "Times are milliseconds per turn, heap is the median of the bytes that the calling thread allocates"
                        + " in a turn. All kinds of turn of a window alternate in the same run, so that other work on the machine"
                        + " affects all of them alike, and in each round in another random order: in a fixed order, each kind would"
                        + " always follow the same other kind, and so would gain or lose by what that one leaves in caches and in"
                        + " the write-ahead log. There are " + samples(0) + " samples after " + warmUp(0)
                        + " to warm up, fewer of both for wide windows. The p99 of fewer than 100 samples is the slowest of them.");
    }

    private void tables() {
        report.text("## Turns");
        report.table(
                List.of(
                        "backend",
                        "window",
                        "turn",
                        "keepsake",
                        "p99",
                        "by hand",
                        "p99",
                        "ratio",
                        "p99 ratio",
                        "heap, keepsake",
                        "heap, by hand",
                        "heap ratio",
                        "samples"),
                turns);
        report.text("## LangChain4j's window memory on the store");
        report.text("The same plain turn on LangChain4j's `MessageWindowChatMemory` of the same window over"
                + " `keepsake.chatMemoryStore()`, and as ratios to the plain turn of a `KeepsakeChatMemory`.");
        report.table(
                List.of(
                        "backend",
                        "window",
                        "store",
                        "p99",
                        "memory",
                        "p99",
                        "ratio",
                        "p99 ratio",
                        "heap, store",
                        "heap, memory",
                        "heap ratio",
                        "samples"),
                stores);
    }

    private void tokenCounts() throws Exception {
        TokenCounter counter = TokenCounter.standard();
        Kind plain = kind("plain token counts", 0, turn -> {
            counter.count(turn.question());
            counter.count(turn.answer());
        });
        Kind tools = kind("tools token counts", 0, turn -> {
            counter.count(turn.question());
            counter.count(turn.calls());
            counter.count(turn.first());
            counter.count(turn.second());
            counter.count(turn.answer());
        });
        Operation.interleave(List.of(plain.operation(), tools.operation()), warmUp(0), samples(0));
        report.text("## Token counts");
        report.text("The tokens of each added message are counted with the default counter. This is a part of each turn"
                + " above, except of those by hand.");
        report.table(
                List.of("turn", "time", "heap"),
                List.of(
                        List.of("plain", millis(plain.time().median()), count(plain.bytes())),
                        List.of("tools", millis(tools.time().median()), count(tools.bytes()))));
    }

    private void postgres(Server server, int window) throws Exception {
        PGSimpleDataSource database = server.newDatabase();
        try (MessageLog log = PostgresMessageLog.open(database)) {
            fill(log, window);
        }
        for (String table : List.of("keepsake_memory", "keepsake_message")) {
            Postgres.execute(
                    database, "INSERT INTO " + HandWritten.SCHEMA + "." + table + " SELECT * FROM public." + table);
        }
        Server.settle(database);
        postgres("PostgreSQL", database, window);
        try (DelayingProxy proxy = new DelayingProxy(server.port(), 500_000)) {
            postgres("PostgreSQL, 1 ms", Postgres.database(database.getDatabaseName(), proxy.port()), window);
        }
        PGSimpleDataSource floor = server.database(database.getDatabaseName());
        floor.setCurrentSchema(HandWritten.SCHEMA);
        try (MessageLog log = PostgresMessageLog.open(floor)) {
            requireSound(log);
        }
    }

    /** Checks that the hand-written code writes the same columns as the library. */
    private static void requireSound(MessageLog log) {
        for (ConversationKey key : List.of(PLAIN, TOOLS)) {
            List<Damage> damage = log.check(key);
            if (!damage.isEmpty()) {
                throw new IllegalStateException("by hand, memory " + key + " is not sound: " + damage);
            }
        }
    }

    private void postgres(String backend, DataSource database, int window) throws Exception {
        try (HikariDataSource pool = Postgres.trustingPool(database, 1, true);
                MessageLog log = PostgresMessageLog.open(pool)) {
            compare(backend, window, log, new HandWritten(pool));
        }
    }

    private void sqlite(Path directory, int window) throws Exception {
        Path file = directory.resolve("window" + window + ".db");
        Path copy = directory.resolve("window" + window + "-copy.db");
        try (MessageLog log = SqliteMessageLog.open(file)) {
            fill(log, window);
        }
        Files.copy(file, copy);
        try (MessageLog log = SqliteMessageLog.open(file);
                HandWrittenSqlite byHand = new HandWrittenSqlite(copy)) {
            compare("SQLite", window, log, byHand);
        }
        try (MessageLog log = SqliteMessageLog.open(copy)) {
            requireSound(log);
        }
        Files.delete(file);
        Files.delete(copy);
    }

    private static void fill(MessageLog log, int window) {
        for (ConversationKey key : List.of(PLAIN, TOOLS, STORE)) {
            Dialogue.fill(log, key, window + window / 5);
        }
        for (int i = 0; i < OTHER_MEMORIES; i++) {
            Dialogue.fill(log, ConversationKey.of("benchmark", "other " + i), MESSAGES_OF_OTHERS);
        }
    }

    private void compare(String backend, int window, MessageLog log, HandWrittenMemory byHand) throws Exception {
        String where = backend + " " + window + " ";
        Kind plain = kind(where + "plain keepsake", window, plain(memory(log, PLAIN, window), window));
        Kind plainByHand = kind(where + "plain by hand", window, turn -> {
            byHand.append(PLAIN, turn.question());
            byHand.read(PLAIN, window);
            byHand.append(PLAIN, turn.answer());
        });
        Kind tools = kind(where + "tools keepsake", window, tools(memory(log, TOOLS, window), window));
        Kind toolsByHand = kind(where + "tools by hand", window, turn -> {
            byHand.append(TOOLS, turn.question());
            byHand.read(TOOLS, window);
            byHand.append(TOOLS, turn.calls());
            byHand.append(TOOLS, turn.first(), turn.second());
            byHand.read(TOOLS, window);
            byHand.append(TOOLS, turn.answer());
        });
        ChatMemory overStore = MessageWindowChatMemory.builder()
                .id(STORE)
                .maxMessages(window)
                .chatMemoryStore(keepsake(log, window).chatMemoryStore())
                .build();
        Kind store = kind(where + "plain store", window, plain(overStore, window));
        Operation.interleave(
                List.of(
                        plain.operation(),
                        plainByHand.operation(),
                        tools.operation(),
                        toolsByHand.operation(),
                        store.operation()),
                warmUp(window),
                samples(window));
        turns.add(row(List.of(backend, count(window), "plain"), plain, plainByHand));
        turns.add(row(List.of(backend, count(window), "tools"), tools, toolsByHand));
        stores.add(row(List.of(backend, count(window)), store, plain));
        List.of(plain, plainByHand, tools, toolsByHand, store).forEach(kind -> report.keep(kind.time()));
    }

    /** Creates a kind of turn with messages of its own, which are made before anything is measured. */
    private Kind kind(String name, int window, Turn turn) {
        List<Dialogue.Turn> dialogue = Dialogue.turns(warmUp(window) + samples(window));
        int[] next = new int[1];
        return Kind.of(name, () -> turn.run(dialogue.get(next[0]++)));
    }

    private static Turn plain(ChatMemory memory, int window) {
        return turn -> {
            memory.add(turn.question());
            read(memory, window);
            memory.add(turn.answer());
        };
    }

    private static Turn tools(ChatMemory memory, int window) {
        return turn -> {
            memory.add(turn.question());
            read(memory, window);
            memory.add(turn.calls());
            memory.add(turn.first());
            memory.add(turn.second());
            read(memory, window);
            memory.add(turn.answer());
        };
    }

    private static void read(ChatMemory memory, int window) {
        int size = memory.messages().size();
        if (size > window || size < window - MESSAGES_PER_TURN) {
            throw new IllegalStateException(size + " messages in a window of " + window);
        }
    }

    private static KeepsakeChatMemory memory(MessageLog log, ConversationKey key, int window) {
        return keepsake(log, window).chatMemory(key);
    }

    private static Keepsake keepsake(MessageLog log, int window) {
        return Keepsake.builder()
                .messageLog(log)
                .strategy(SlidingWindow.withMaxMessages(window))
                .build();
    }

    /** Returns the number of turns before the samples: what runs less often is not compiled yet. */
    private int warmUp(int window) {
        return Math.max(FEWEST, warmUp * SMALLEST_WINDOW / Math.max(SMALLEST_WINDOW, window));
    }

    /** Returns the number of samples of a window: all of a small one, and of a large one as many as take about as long. */
    private int samples(int window) {
        int affordable = (int) ((long) samples * SMALL_WINDOW / Math.max(SMALL_WINDOW, window));
        return Math.max(Math.min(FEWEST, samples), affordable);
    }

    private static List<String> row(List<String> names, Kind ours, Kind other) {
        List<String> row = new ArrayList<>(names);
        row.addAll(List.of(
                millis(ours.time().median()),
                millis(ours.time().p99()),
                millis(other.time().median()),
                millis(other.time().p99()),
                ratio(ours.time().median(), other.time().median()),
                ratio(ours.time().p99(), other.time().p99()),
                count(ours.bytes()),
                count(other.bytes()),
                ratio(ours.bytes(), other.bytes()),
                count(ours.time().size())));
        return row;
    }

    private static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static void step(String name) {
        System.err.println(java.time.LocalTime.now().withNano(0) + " " + name);
    }
}
