package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.FoundLongTermMemory;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Posting;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Stored forms as version 0.1.0 wrote them, in {@code src/test/resources/golden}. A copy of each is read and continued by today's
 * code, and today's code writes the same. The files are never changed: the file of a new form is written by
 * {@code -Dkeepsake.golden=write -Dtest=GoldenFormsTest}. Files of the log, exports, messages and the memory component have
 * tests of their own beside their code.
 */
class GoldenFormsTest {

    private static final MemoryKey KEY = ConversationKey.of("acme", "trip/42");
    private static final MemoryKey ERASED = ConversationKey.of("acme", "erased");
    private static final Instant AT = Instant.parse("2026-01-07T10:00:00.000001Z");
    private static final String MODEL = "a model";

    /** A time of the storage's own clock, in ISO, milliseconds or microseconds. */
    private static final Pattern TIME = Pattern.compile(
            "(?<![0-9a-f])20\\d\\d-\\d\\d-\\d\\dT[0-9:]{8}(?:\\.\\d+)?Z|(?<![0-9a-f])1[78]\\d{11}(?:\\d{3})?(?![0-9a-f])");

    /** The day on which a model was used last, in days since 1970, and the one that the golden files have. */
    private static final Pattern DAY = Pattern.compile("(?<=\\(1, 'a model', |\"used\":)\\d{5}");

    private static final String USED = "20784";

    /** The random part of the name of an object that holds contents. */
    private static final Pattern OBJECT =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** The ids of the last writes of a document, which are random. */
    private static final Pattern WRITES = Pattern.compile("(?<=\\\\\"writes\\\\\":\\[)[^]]+");

    @TempDir
    Path directory;

    /** What is stored, and where. */
    enum Form {
        LOG_SQLITE("sqlite/V1__keepsake.sql"),
        LOG_POSTGRESQL("postgresql/V1__keepsake.sql"),
        LOG_REDIS(""),
        LOG_S3(""),
        INDEX_SQLITE("index/sqlite/V1__keepsake_index.sql"),
        INDEX_POSTGRESQL("index/postgresql/V1__keepsake_index.sql"),
        MEMORIES_FILES("memories/sqlite/V1__keepsake_memories.sql"),
        MEMORIES_POSTGRESQL("memories/postgresql/V1__keepsake_memories.sql");

        private final String script;

        Form(String script) {
            this.script = script;
        }

        Path file() {
            return Path.of(
                    "src/test/resources/golden", name().toLowerCase(Locale.ROOT).replace('_', '-') + ".txt");
        }

        Dump emptyPlace(Path directory) throws Exception {
            return switch (this) {
                case LOG_SQLITE, INDEX_SQLITE -> new Dump.SqliteFile(directory.resolve("golden.db"), script);
                case LOG_POSTGRESQL, INDEX_POSTGRESQL, MEMORIES_POSTGRESQL ->
                    new Dump.PostgresDatabase(
                            Postgres.newest().database(Postgres.newest().newDatabase()), script);
                case LOG_REDIS -> new Dump.RedisKeys(Redis.shared(), Redis.newPrefix());
                case LOG_S3 ->
                    new Dump.Bucket(S3Server.shared(), S3Server.shared().newBucket());
                case MEMORIES_FILES -> new Dump.Directory(directory.resolve("memories"), script);
            };
        }
    }

    private static MessageLog log(Dump place) {
        if (place instanceof Dump.SqliteFile sqlite) {
            return SqliteMessageLog.open(sqlite.file(), "profile.name");
        }
        if (place instanceof Dump.PostgresDatabase postgres) {
            return JdbcMessageLog.builder()
                    .dataSource(postgres.database())
                    .schema(SchemaMode.ALWAYS)
                    .listedMetadata("profile.name")
                    .build();
        }
        if (place instanceof Dump.RedisKeys redis) {
            return RedisMessageLog.builder()
                    .server(redis.server().uri())
                    .prefix(redis.prefix())
                    .checks(RedisMessageLog.Checks.NONE)
                    .listedMetadata("profile.name")
                    .build();
        }
        Dump.Bucket bucket = (Dump.Bucket) place;
        S3Client client = S3Server.client(bucket.server().port());
        return S3MessageLog.builder()
                .client(client)
                .bucket(bucket.bucket())
                .moveContentsAbove(1_000)
                .listedMetadata("profile.name")
                .build();
    }

    private static MessageIndex index(Dump place) {
        return place instanceof Dump.SqliteFile sqlite
                ? JdbcMessageIndex.sqlite(sqlite.file())
                : Postgres.index(((Dump.PostgresDatabase) place).database());
    }

    private static LongTermMemoryStore memories(Dump place) {
        return place instanceof Dump.Directory files
                ? FileLongTermMemoryStore.of(files.root())
                : JdbcLongTermMemoryStore.builder()
                        .dataSource(((Dump.PostgresDatabase) place).database())
                        .schema(SchemaMode.ALWAYS)
                        .build();
    }

    private static void write(Form form, Dump place) throws Exception {
        switch (form) {
            case LOG_SQLITE, LOG_POSTGRESQL, LOG_REDIS, LOG_S3 -> {
                try (MessageLog log = log(place);
                        MessageLog golden = GoldenMemory.inOneOrder()) {
                    log.append(ERASED, batch("a"));
                    log.erase(ERASED);
                    MemoryCopy.between(golden, log).tenant("acme");
                }
            }
            case INDEX_SQLITE, INDEX_POSTGRESQL -> {
                try (MessageIndex index = index(place)) {
                    fill(index);
                }
            }
            case MEMORIES_FILES, MEMORIES_POSTGRESQL -> {
                try (LongTermMemoryStore store = memories(place)) {
                    fill(store);
                }
            }
        }
    }

    private static void readAndContinue(Form form, Dump place) throws Exception {
        switch (form) {
            case LOG_SQLITE, LOG_POSTGRESQL, LOG_REDIS, LOG_S3 -> {
                try (MessageLog log = log(place)) {
                    assertGolden(log);
                }
            }
            case INDEX_SQLITE, INDEX_POSTGRESQL -> {
                try (MessageIndex index = index(place)) {
                    assertGolden(index);
                }
            }
            case MEMORIES_FILES, MEMORIES_POSTGRESQL -> {
                try (LongTermMemoryStore store = memories(place)) {
                    assertGolden(store);
                }
            }
        }
    }

    /** Asserts that a log has the golden memories. */
    static void assertSame(MessageLog golden, MessageLog log) {
        MemoryCopyTest.assertSame(golden, log, GoldenMemory.KEY, "golden");
        MemoryCopyTest.assertSame(golden, log, GoldenMemory.NODE, "golden");
    }

    /** Appends to a memory that has golden messages and to one that was erased. */
    static void assertGoesOn(MessageLog log) {
        assertThat(log.append(GoldenMemory.KEY, batch("later")).previousHead()).isEqualTo("q3");
        assertThat(log.append(ERASED, batch("later")).position().epoch()).isGreaterThan(1);
    }

    private static void assertGolden(MessageLog log) {
        try (MessageLog golden = GoldenMemory.inOneOrder()) {
            assertSame(golden, log);
        }
        assertThat(log.list("acme", ListQuery.first(10)).memories())
                .extracting(MemoryInfo::messages, MemoryInfo::tokens)
                .containsExactly(tuple(10L, 70L), tuple(1L, 7L));
        assertThat(log.list("acme", ListQuery.first(10).withMetadata("profile.name", "Ada\n# Lovelace"))
                        .memories())
                .hasSize(1);
        assertGoesOn(log);
        MemoryCopyTest.assertSound(log, GoldenMemory.KEY);
    }

    private static IndexedMessage message(long sequence, String... terms) {
        Map<String, Integer> counts = new TreeMap<>();
        for (String term : terms) {
            counts.merge(term, 1, Integer::sum);
        }
        return new IndexedMessage(sequence, ChatMessageType.USER, terms.length, counts);
    }

    private static MessageVector vector(long sequence) {
        return new MessageVector(sequence, AT.plusSeconds(sequence), new float[] {1, sequence % 3, -0.5f, 0});
    }

    private static void fill(MessageIndex index) {
        index.open("words 1");
        index.add(
                KEY,
                null,
                new Watermark(1, 2),
                List.of(message(1, "rome", "hotel", "rome"), message(2, "hotel", "\u00e9t\u00e9", "\ud83d\ude00")));
        index.add(GoldenMemory.NODE, null, new Watermark(7, 1), List.of(message(1, "rome")));
        index.addVectors(MODEL, KEY, null, new VectorMark(1, 2, 0.75, 2), List.of(vector(1), vector(2)));
    }

    private static void assertGolden(MessageIndex index) {
        index.open("words 1");
        assertThat(index.watermarks(List.of(KEY, GoldenMemory.NODE)))
                .isEqualTo(Map.of(KEY, new Watermark(1, 2), GoldenMemory.NODE, new Watermark(7, 1)));
        assertThat(index.match(Scope.tenant("acme"), List.of("rome", "\u00e9t\u00e9"), 100)
                        .frequencies())
                .isEqualTo(Map.of("rome", 2L, "\u00e9t\u00e9", 1L));
        assertThat(index.vectorMarks(MODEL, List.of(KEY))).isEqualTo(Map.of(KEY, new VectorMark(1, 2, 0.75, 2)));
        assertThat(index.add(KEY, new Watermark(1, 2), new Watermark(1, 3), List.of(message(3, "rome"))))
                .isTrue();
        assertThat(index.addVectors(
                        MODEL, KEY, new VectorMark(1, 2, 0.75, 2), new VectorMark(1, 3, 0.75, 2), List.of(vector(3))))
                .isTrue();
        List<String> cosines = new ArrayList<>();
        index.cosines(
                MODEL,
                Scope.memory(KEY),
                new float[] {1, 0, 0, 0},
                10,
                Map.of(),
                (key, sequence, time, cosine) ->
                        cosines.add("%d %s %.1f".formatted(sequence, time.truncatedTo(ChronoUnit.SECONDS), cosine)));
        assertThat(cosines)
                .containsExactlyInAnyOrder(
                        "1 2026-01-07T10:00:01Z 0.7", "2 2026-01-07T10:00:02Z 0.4", "3 2026-01-07T10:00:03Z 0.9");
        assertThat(index.match(Scope.memory(KEY), List.of("rome"), 100)
                        .postings()
                        .get("rome"))
                .extracting(Posting::sequence, Posting::count)
                .containsExactlyInAnyOrder(tuple(1L, 2), tuple(3L, 1));
    }

    private static Passage passage(int number) {
        return new Passage(
                List.of("m" + number, "n" + number),
                2,
                "hash" + number,
                number == 1 ? "" : "h" + (number - 1),
                "h" + number);
    }

    private static MadeMemory made(String id, MadeMemory.Kind kind, String text, int passage) {
        boolean isFact = kind == MadeMemory.Kind.FACT;
        return new MadeMemory(
                id,
                kind,
                text,
                isFact ? "A title" : "",
                isFact ? text : "",
                isFact ? List.of("Ada", "Rome") : List.of(),
                isFact ? List.of("grand tour") : List.of(),
                passage(passage),
                MODEL,
                "a prompt",
                AT,
                Trust.ASSISTANT,
                id.endsWith("2"),
                null,
                Status.CURRENT,
                null);
    }

    private static List<MadeMemory> madeOf(MadeMemory.Kind kind) {
        return IntStream.rangeClosed(1, 2)
                .mapToObj(i -> made(kind + "-" + i, kind, "Ada\nbooked hotel " + i + " in Rome \ud83d\ude00.", i))
                .toList();
    }

    private static void fill(LongTermMemoryStore store) {
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            for (MadeMemory each : madeOf(kind)) {
                assertThat(store.add(KEY, kind, store.progress(KEY, kind).revision(), each.source(), List.of(each)))
                        .isTrue();
            }
            assertThat(store.addFailure(KEY, kind, store.progress(KEY, kind).revision(), passage(3)))
                    .isTrue();
        }
        assertThat(store.addSummary(
                        KEY,
                        0,
                        store.progress(KEY, MadeMemory.Kind.CHUNK).revision(),
                        made("SUMMARY-1", MadeMemory.Kind.SUMMARY, "Ada travels.", 2)))
                .isTrue();
        assertThat(store.put(KEY, madeOf(MadeMemory.Kind.FACT).get(0).withStatus(Status.FORGOTTEN)))
                .isTrue();
    }

    private static void assertGolden(LongTermMemoryStore store) {
        assertThat(store.chunks(KEY, 10)).isEqualTo(madeOf(MadeMemory.Kind.CHUNK));
        assertThat(store.facts(KEY, 10)).isEqualTo(madeOf(MadeMemory.Kind.FACT).subList(1, 2));
        assertThat(store.find(KEY, "FACT-1"))
                .contains(madeOf(MadeMemory.Kind.FACT).get(0).withStatus(Status.FORGOTTEN));
        assertThat(store.summaries(KEY)).containsExactly(made("SUMMARY-1", MadeMemory.Kind.SUMMARY, "Ada travels.", 2));
        assertThat(store.search(KEY, FactQuery.of("rome hotels")))
                .extracting(FoundLongTermMemory::memory)
                .extracting(MadeMemory::id)
                .containsExactly("FACT-2");
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            MadeMemory later = made("later-" + kind, kind, "Ada came home.", 3);
            assertThat(store.add(KEY, kind, store.progress(KEY, kind).revision(), later.source(), List.of(later)))
                    .isTrue();
            assertThat(store.shown(KEY, kind, 1)).containsExactly(later);
        }
        List<MemoryKey> keys = new ArrayList<>();
        store.discussions("acme", keys::add);
        assertThat(keys).containsExactly(KEY);
    }

    /** Puts one time in the place of those at which the storage wrote, and one id in the place of random ones. */
    private static List<String> alike(List<String> lines) {
        return lines.stream()
                .map(line -> TIME.matcher(line)
                        .replaceAll(found -> isNow(found.group()) ? like(found.group(), AT) : found.group()))
                .map(line -> DAY.matcher(line).replaceAll(found -> isToday(found.group()) ? USED : found.group()))
                .map(line -> OBJECT.matcher(line).replaceAll("00000000-0000-7000-8000-000000000000"))
                .map(line -> WRITES.matcher(line).replaceAll(Matcher.quoteReplacement("\\\"AAAAAAAAAAAA\\\"")))
                .toList();
    }

    private static boolean isNow(String time) {
        Instant instant = time.contains("T")
                ? Instant.parse(time)
                : Instant.EPOCH.plus(Long.parseLong(time), time.length() == 13 ? ChronoUnit.MILLIS : ChronoUnit.MICROS);
        return Duration.between(instant, Instant.now()).abs().toDays() < 2;
    }

    private static boolean isToday(String day) {
        return Math.abs(Long.parseLong(day) - LocalDate.now(ZoneOffset.UTC).toEpochDay()) < 2;
    }

    private static String like(String form, Instant time) {
        ChronoUnit unit = form.length() == 13 ? ChronoUnit.MILLIS : ChronoUnit.MICROS;
        return form.contains("T") ? time.toString() : Long.toString(unit.between(Instant.EPOCH, time));
    }

    @ParameterizedTest
    @EnumSource
    void a_copy_is_read_and_continued(Form form) throws Exception {
        Dump place = form.emptyPlace(directory);
        place.load(Files.readAllLines(form.file()));
        readAndContinue(form, place);
    }

    @ParameterizedTest
    @EnumSource
    void the_same_is_written(Form form) throws Exception {
        Dump place = form.emptyPlace(directory);
        write(form, place);
        List<String> written = alike(place.dump());
        if (Files.notExists(form.file()) && "write".equals(System.getProperty("keepsake.golden"))) {
            Files.write(form.file(), written);
        }
        assertThat(written).containsExactlyElementsOf(Files.readAllLines(form.file()));
    }
}
