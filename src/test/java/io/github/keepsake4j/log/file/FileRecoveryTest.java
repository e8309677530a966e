package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.base.LockFile;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Tell;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that are cut, damaged, replaced or removed, and indexes that are gone, stale or of another file. */
class FileRecoveryTest {

    private static final String TORN = "have no end of a line";

    @TempDir
    Path directory;

    private FileFixture files;

    @BeforeEach
    void fill() {
        files = new FileFixture(directory);
        try (MessageLog log = files.open()) {
            log.append(KEY, batch("a", "b"));
            log.append(KEY, batch("c"));
            log.append(KEY, batch("d", "e"));
        }
    }

    @Test
    @ExpectedLog(TORN)
    void a_file_that_is_cut_at_any_byte_of_its_last_two_lines_keeps_each_whole_line() throws Exception {
        byte[] all = files.bytes();
        List<String> lines = files.lines();
        int last = all.length - lines.get(3).length() - 1;
        int before = last - lines.get(2).length() - 1;
        int cuts = 0;
        for (int cut = before; cut <= all.length; cut += Counts.of(5, 1)) {
            files.write(Arrays.copyOf(all, cut));
            Files.deleteIfExists(files.names().torn());
            List<String> expected = new ArrayList<>(List.of("a", "b"));
            expected.addAll(cut >= last ? List.of("c") : List.of());
            expected.addAll(cut == all.length ? List.of("d", "e") : List.of());
            boolean isTorn = cut != before && cut != last && cut != all.length;
            try (MessageLog log = files.open()) {
                assertThat(branch(log, KEY)).as("cut at %s", cut).isEqualTo(expected);
                log.append(KEY, batch("x"));
                expected.add("x");
                assertThat(branch(log, KEY)).as("cut at %s", cut).isEqualTo(expected);
                assertThat(log.check(KEY)).isEmpty();
            }
            assertThat(Files.exists(files.names().torn())).as("cut at %s", cut).isEqualTo(isTorn);
            if (isTorn) {
                byte[] torn = Files.readAllBytes(files.names().torn());
                int from = cut > last ? last : before;
                assertThat(Arrays.copyOf(torn, torn.length - 1)).isEqualTo(Arrays.copyOfRange(all, from, cut));
            }
            cuts++;
        }
        Tell.line("%d cuts of a file of %d bytes", cuts, all.length);
    }

    @Test
    void a_line_that_is_no_json_any_more_leaves_a_marker_in_its_place() throws Exception {
        for (int damaged = 0; damaged < 20; damaged++) {
            List<String> ids = twenty();
            byte[] all = files.bytes();
            int at = lineOf(damaged).indexOf("\"message\":{") + "\"message\":".length();
            all[offsetOf(damaged) + at] = '#';
            files.write(all);
            try (MessageLog log = files.open()) {
                Repair repair = log.repair(KEY);
                assertThat(repair.head()).isEqualTo("m19");
                assertThat(branch(log, KEY)).isEqualTo(ids);
                assertThat(ids(history(log, KEY))).isEqualTo(ids);
                assertThat(history(log, KEY))
                        .filteredOn(message -> Outcome.UNREADABLE.equals(message.outcome()))
                        .containsExactly(history(log, KEY).get(damaged));
                assertThat(log.repair(KEY).damage()).isEqualTo(repair.damage()).hasSize(1);
                log.append(KEY, batch("next"));
            }
            try (MessageLog log = files.open()) {
                assertThat(branch(log, KEY)).hasSize(21).startsWith("m0").endsWith("m19", "next");
            }
        }
    }

    @Test
    void a_line_of_which_nothing_is_left_leaves_a_marker_too_if_a_message_follows() throws Exception {
        for (int damaged = 0; damaged < 19; damaged++) {
            List<String> ids = new ArrayList<>(twenty());
            byte[] all = files.bytes();
            Arrays.fill(
                    all, offsetOf(damaged), offsetOf(damaged) + lineOf(damaged).length(), (byte) 'x');
            files.write(all);
            try (MessageLog log = files.open()) {
                log.repair(KEY);
                ids.set(damaged, "unreadable-" + (damaged + 1));
                assertThat(ids(history(log, KEY))).isEqualTo(ids);
                assertThat(log.repair(KEY).damage()).isNotEmpty();
                log.append(KEY, batch("next"));
                assertThat(branch(log, KEY)).endsWith("next");
            }
        }
    }

    /** Makes the file anew, with 20 messages in as many lines, and returns their ids. */
    private List<String> twenty() throws Exception {
        List<String> ids = new ArrayList<>();
        try (MessageLog log = files.open()) {
            log.erase(KEY);
            for (int i = 0; i < 20; i++) {
                ids.add("m" + i);
                log.append(KEY, batch("m" + i));
            }
        }
        return ids;
    }

    private String lineOf(int message) throws Exception {
        return files.lines().get(message + 1);
    }

    private int offsetOf(int message) throws Exception {
        return files.lines().subList(0, message + 1).stream()
                .mapToInt(line -> line.length() + 1)
                .sum();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\0\0\0", "{\"revision\":1,\"messages\":[{\"seq\":6,\"id\":\"z\"", "\u00e9\ud83d\ude00", "random"
            })
    @ExpectedLog(TORN)
    void garbage_without_an_end_is_moved_beside_and_told_once(String garbage) throws Exception {
        byte[] bytes = garbage.getBytes(StandardCharsets.UTF_8);
        if (garbage.equals("random")) {
            bytes = new byte[100_000];
            new Random(1).nextBytes(bytes);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = bytes[i] == '\n' ? 0 : bytes[i];
            }
        }
        byte[] before = files.bytes();
        files.add(bytes);

        try (MessageLog log = files.open();
                MessageLog second = files.open()) {
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e");
            assertThat(files.bytes()).isEqualTo(before);
            byte[] torn = Files.readAllBytes(files.names().torn());
            assertThat(Arrays.copyOf(torn, torn.length - 1)).isEqualTo(bytes);
            second.append(KEY, batch("f"));
            assertThat(branch(log, KEY)).endsWith("e", "f");
            assertThat(Files.size(files.names().torn())).isEqualTo(torn.length);
        }
    }

    @Test
    @ExpectedLog(TORN)
    void a_line_that_is_just_written_is_ignored_by_readers_and_left_to_its_writer() throws Exception {
        byte[] before = files.bytes();
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).hasSize(5);
            LockFile locks = LockFile.open(files.root());
            CountDownLatch written = new CountDownLatch(1);
            CountDownLatch read = new CountDownLatch(1);
            Thread writer = new Thread(() -> {
                try {
                    locks.holding(files.names().lock(), "test", Duration.ofSeconds(10), () -> {
                        files.add("{\"revision\":1,\"mess".getBytes(StandardCharsets.UTF_8));
                        written.countDown();
                        await(read);
                        return true;
                    });
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            writer.start();
            await(written);
            byte[] during = files.bytes();

            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e");
            assertThat(Logs.find(log, KEY, List.of("c", "z"))).hasSize(1);
            assertThat(files.bytes()).isEqualTo(during);

            read.countDown();
            writer.join();
            locks.close();
            // The writer is gone without an end of the line.
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e");
            assertThat(files.bytes()).isEqualTo(before);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"garbage", "{}", "[]", "{\"revision\":1}", "", "\u0000", "{\"revision\":1,\"head\":{\"seq\":99}}"
            })
    void a_bad_line_with_an_end_is_damage_also_at_the_end_and_nothing_is_written_over_it(String bad) throws Exception {
        files.add((bad + "\n").getBytes(StandardCharsets.UTF_8));
        byte[] damaged = files.bytes();
        try (MessageLog log = files.open()) {
            assertAllUnreadable(log);
            assertThat(files.bytes()).isEqualTo(damaged);
            assertThat(Files.exists(files.names().torn())).isFalse();
            List<Damage> damage = log.check(KEY);
            if (!bad.contains("99")) {
                assertThat(damage).hasSize(1);
                assertThat(damage.get(0).problem())
                        .contains("byte " + (damaged.length - bad.length() - 1) + " of ", ".jsonl cannot be read");
            }

            Repair repair = log.repair(KEY);

            assertThat(repair.damage()).isEqualTo(damage);
            assertThat(repair.head()).isEqualTo("e");
            assertThat(Arrays.copyOf(files.bytes(), damaged.length)).isEqualTo(damaged);
            log.append(KEY, batch("f"));
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e", "f");
            byte[] repaired = files.bytes();
            assertThat(log.repair(KEY).damage()).isEqualTo(damage);
            assertThat(files.bytes()).isEqualTo(repaired);
        }
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e", "f");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void a_bad_line_in_the_middle_or_at_the_end_is_damage(int line) throws Exception {
        files.spoil(line);
        byte[] damaged = files.bytes();
        List<List<String>> lines = List.of(List.of("a", "b"), List.of("c"), List.of("d", "e"));
        List<String> lost = lines.get(line - 1);
        try (MessageLog log = files.open()) {
            assertUnreadable(() -> branch(log, KEY));
            assertUnreadable(() -> history(log, KEY));
            assertThat(log.check(KEY)).isNotEmpty();
            assertThat(log.check(KEY).toString()).doesNotContain(SECRET);
        }
        try (MessageLog log = files.open()) {
            assertAllUnreadable(log);
            assertThat(log.list("acme", ListQuery.first(1)).memories()).hasSize(1);
            assertThat(files.bytes()).isEqualTo(damaged);
            List<Damage> damage = log.check(KEY);
            assertThat(damage).isNotEmpty();

            Repair repair = log.repair(KEY);

            assertThat(repair.head()).isEqualTo(line == 1 ? null : line == 2 ? "b" : "c");
            assertThat(Arrays.copyOf(files.bytes(), damaged.length)).isEqualTo(damaged);
            log.append(KEY, batch("x"));
            assertThat(branch(log, KEY))
                    .isEqualTo(
                            line == 1
                                    ? List.of("x")
                                    : line == 2 ? List.of("a", "b", "x") : List.of("a", "b", "c", "x"));
            assertThat(ids(Logs.find(log, KEY, lost))).isEmpty();
            assertThat(log.repair(KEY).head()).isEqualTo("x");
            log.branches(KEY);
        }
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).endsWith("x");
            log.erase(KEY);
            assertThat(branch(log, KEY)).isEmpty();
        }
    }

    @Test
    void a_line_that_is_gone_is_damage() throws Exception {
        List<String> lines = new ArrayList<>(files.lines());
        lines.remove(2);
        files.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        try (MessageLog log = files.open()) {
            assertAllUnreadable(log);
            assertThat(log.check(KEY)).extracting(Damage::kind).contains(Damage.Kind.SEQUENCE);
            assertThat(log.repair(KEY).head()).isEqualTo("b");
        }
    }

    @Test
    void a_first_line_that_cannot_be_read_is_damage_and_can_be_erased() throws Exception {
        files.spoil(0);
        try (MessageLog log = files.open()) {
            for (ThrowingCallable call : calls(log)) {
                assertThatThrownBy(call).isInstanceOf(UnreadableDataException.class);
            }
            assertThat(log.check(KEY)).extracting(Damage::kind).containsExactly(Damage.Kind.MEMORY);
            ConversationKey other = ConversationKey.of("acme", "other");
            log.append(other, batch("a"));
            assertThat(list(log, "acme", 1)).extracting(MemoryInfo::key).containsExactly(other);
            MemoryPage page = log.list("acme", ListQuery.first(2));
            assertThat(page.memories()).extracting(MemoryInfo::key).containsExactly(other);
            assertThat(page.damaged())
                    .extracting(Damaged::name)
                    .containsExactly(
                            files.root().relativize(files.names().data()).toString());
            assertThat(page.next()).isEmpty();
            assertThatThrownBy(() -> log.repair(KEY)).isInstanceOf(UnreadableDataException.class);
            long epoch = log.erase(KEY);
            assertThat(epoch).isEqualTo(2);
            assertThat(log.append(KEY, batch("a").inEpoch(epoch)).replayed()).isFalse();
        }
    }

    @Test
    void a_process_that_reads_the_file_has_what_the_one_has_that_wrote_it() {
        try (MessageLog log = files.open()) {
            fillMore(log, "m");
            List<String> all = ids(history(log, KEY));
            List<String> shown = branch(log, KEY);
            var tail = log.read(KEY, ReadQuery.newest(2).upToSummary().alsoOldest(1));
            try (MessageLog again = files.open()) {
                assertThat(branch(again, KEY)).isEqualTo(shown);
                assertThat(ids(history(again, KEY))).isEqualTo(all);
                assertThat(again.read(KEY, ReadQuery.newest(2).upToSummary().alsoOldest(1)))
                        .usingRecursiveComparison()
                        .isEqualTo(tail);
                assertThat(again.append(KEY, batch("c")).replayed()).isTrue();
                assertThat(ids(Logs.find(again, KEY, all))).isEqualTo(all);
                assertThat(again.check(KEY)).isEmpty();
                assertThat(Logs.details(again, KEY)).isEqualTo(Logs.details(log, KEY));
            }
        }
    }

    private static void fillMore(MessageLog log, String prefix) {
        log.append(KEY, batch(prefix + 1, prefix + 2));
        log.append(KEY, batchUnder("b", prefix + 3).withView(View.of(null, List.of(new View.Run(null, "a")))));
        log.append(KEY, batch(prefix + 4).onBranch("tab " + prefix));
        Logs.putSummary(log, KEY, new Summary("a", SECRET, 1, "none", 1, 1, null, Instant.EPOCH), 1);
        Logs.putSummary(log, KEY, new Summary(prefix + 3, SECRET, 1, "none", 1, 1, null, Instant.EPOCH), 1);
        Logs.setOutcome(log, KEY, "d", Outcome.failed(prefix), null);
        Logs.describe(log, KEY, prefix, Map.of());
        log.append(KEY, batch(prefix + 5));
    }

    @Test
    void a_file_that_is_removed_while_it_is_open_is_not_taken_for_an_empty_memory() throws Exception {
        Path away = directory.resolve("away");
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).hasSize(5);
            Files.move(files.names().data(), away);
            for (ThrowingCallable call : calls(log)) {
                assertThatThrownBy(call)
                        .isInstanceOf(StorageUnavailableException.class)
                        .hasMessageContaining("put it back");
            }
            Files.move(away, files.names().data());
            log.append(KEY, batch("f"));
            assertThat(branch(log, KEY)).endsWith("e", "f");

            Files.delete(files.names().data());
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(StorageUnavailableException.class);
            log.erase(KEY);
            assertThat(branch(log, KEY)).isEmpty();
        }
    }

    @Test
    void a_copy_of_the_directory_is_a_log() throws Exception {
        Path copy = Files.createDirectory(directory.resolve("copy"));
        files.copyTo(copy);
        try (MessageLog log = FileMessageLog.in(copy)) {
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c", "d", "e");
            log.append(KEY, batch("f"));
        }
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).endsWith("d", "e");
        }
    }

    @Test
    void an_erasure_that_was_interrupted_is_completed() throws Exception {
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).hasSize(5);
            new Tombstone(2, 7, Instant.EPOCH).write(files.names().tombstone(), false);

            assertThat(log.append(KEY, batch("x")).epoch()).isEqualTo(2);
            assertThat(branch(log, KEY)).containsExactly("x");
            assertThat(Files.exists(files.names().tombstone())).isFalse();
            assertThat(log.list("acme", ListQuery.first(9)).memories()).hasSize(1);
        }
    }

    @Test
    void nothing_of_an_erased_memory_is_in_the_directory_but_an_epoch() throws Exception {
        try (MessageLog log = files.open()) {
            log.acquireLease(KEY, "work", "one", Duration.ofHours(1));
            log.erase(KEY);
        }
        try (var paths = Files.walk(files.root())) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                assertThat(path.getFileName().toString()).doesNotContain("42-");
                String text = new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
                assertThat(text).doesNotContain("acme").doesNotContain("42-").doesNotContain(SECRET);
            }
        }
        assertThat(Files.readString(files.names().tombstone())).startsWith("{\"epoch\":2,");
    }

    private static List<ThrowingCallable> calls(MessageLog log) {
        return List.of(
                () -> log.append(KEY, batch("x")),
                () -> log.append(KEY, batch("a", "b")),
                () -> log.append(KEY, Append.viewOnly(View.of(null, List.of()))),
                () -> log.read(KEY, ReadQuery.newest(1)),
                () -> history(log, KEY),
                () -> Logs.find(log, KEY, List.of("a")),
                () -> log.branches(KEY),
                () -> Logs.summaries(log, KEY),
                () -> Logs.moveHead(log, KEY, "a", null),
                () -> Logs.describe(log, KEY, "title", Map.of()),
                () -> Logs.setOutcome(log, KEY, "a", null, null),
                () -> Logs.made(log, KEY, "a"));
    }

    private static void assertAllUnreadable(MessageLog log) {
        calls(log).forEach(FileRecoveryTest::assertUnreadable);
    }

    private static void assertUnreadable(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(UnreadableDataException.class)
                .hasMessageContaining(KEY.canonical())
                .hasMessageNotContaining(SECRET);
    }
}
