package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.keepsake4j.base.LockFile;
import io.github.keepsake4j.log.KeyContract;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user of files meets: names, locks, open files, lists and interrupted threads. */
class FileUseTest {

    @TempDir
    Path directory;

    private FileFixture files;

    @BeforeEach
    void start() {
        files = new FileFixture(directory);
    }

    @Test
    void each_line_is_json_that_tells_its_message_and_its_place() throws Exception {
        try (MessageLog log = files.open()) {
            log.append(KEY, batch("a", "b"));
            log.append(KEY, batch("c \u00e9\ud83d\ude00"));
        }
        List<String> lines = files.lines();
        assertThat(lines).hasSize(3);
        JsonNode first = new ObjectMapper().readTree(lines.get(0));
        assertThat(first.get("tenant").asText()).isEqualTo("acme");
        assertThat(first.get("conversation").asText()).isEqualTo("42");
        JsonNode second = new ObjectMapper().readTree(lines.get(1)).get("messages");
        assertThat(second).hasSize(2);
        assertThat(second.get(1).get("parent").asText()).isEqualTo("a");
        assertThat(second.get(1).get("depth").asInt()).isEqualTo(2);
        assertThat(second.get(1).get("path").asInt()).isEqualTo(20);
        assertThat(second.get(0).at("/message/contents/0/text").asText()).isEqualTo("Sesame a");
        assertThat(lines.get(2)).contains("c \u00e9\ud83d\ude00");
    }

    @Test
    void no_id_leaves_the_directory_and_no_two_meet_where_case_is_ignored() {
        Set<String> names = new HashSet<>();
        List<MemoryKey> keys = new ArrayList<>();
        for (String id : KeyContract.ODD_IDS) {
            keys.add(ConversationKey.of("acme", id));
            keys.add(NodeKey.of("acme", id, "c", "n"));
            keys.add(ConversationKey.of(id, "42"));
        }
        for (MemoryKey key : keys) {
            Names each = Names.of(files.root(), key);
            assertThat(each.data().normalize().startsWith(files.root())).isTrue();
            assertThat(files.root().relativize(each.data()).getNameCount()).isEqualTo(2);
            assertThat(Names.isData(each.data().getFileName().toString())).isTrue();
            assertThat(each.base().length()).isLessThanOrEqualTo(Names.MAX_BASE);
            assertThat(names.add(each.data().toString())).isTrue();
        }
    }

    @Test
    void an_interrupted_thread_appends_and_reads_and_stays_interrupted() {
        try (MessageLog log = files.open()) {
            Thread.currentThread().interrupt();
            log.append(KEY, batch("a"));
            assertThat(branch(log, KEY)).containsExactly("a");
            log.append(KEY, batch("b"));
            log.acquireLease(KEY, "work", "one", Duration.ofSeconds(1));
            log.erase(KEY);
            log.append(KEY, batch("c"));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(branch(log, KEY)).containsExactly("c");
        } finally {
            Thread.interrupted();
        }
    }

    @Test
    void the_number_of_open_files_is_bounded() throws Exception {
        int most = 5;
        long before = openFiles();
        try (MessageLog log = FileMessageLog.builder()
                .directory(files.root())
                .fsync(false)
                .maxOpenMemories(most)
                .build()) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 40; i++) {
                    ConversationKey key = ConversationKey.of("acme", "c" + i);
                    log.append(key, batch("r" + round));
                    assertThat(branch(log, key)).hasSize(round + 1);
                    if (before > 0) {
                        assertThat(openFiles()).isLessThanOrEqualTo(before + 3 * most + 2);
                    }
                }
            }
            assertThat(list(log, "acme", 7)).hasSize(40);
        }
        assertThat(openFiles()).isLessThanOrEqualTo(before + 1);
    }

    /** Of this process; 0 where the system does not tell. */
    private static long openFiles() throws Exception {
        Path descriptors = Path.of("/proc/self/fd");
        if (!Files.isDirectory(descriptors)) {
            return 0;
        }
        try (var open = Files.list(descriptors)) {
            return open.count();
        }
    }

    @Test
    void a_memory_that_is_erased_while_another_log_opens_it_is_empty() {
        try (MessageLog erasing = files.open()) {
            erasing.append(KEY, batch("m1"));
            AtomicBoolean erased = new AtomicBoolean();
            Disk.Opener opener = new Disk.Opener() {
                @Override
                Disk open(Path path) throws IOException {
                    if (!path.endsWith("list.jsonl") && !erased.getAndSet(true)) {
                        erasing.erase(KEY);
                    }
                    return super.open(path);
                }
            };
            try (MessageLog log = FileMessageLog.builder()
                    .directory(files.root())
                    .opener(opener)
                    .build()) {
                assertThat(log.read(KEY, ReadQuery.newest(1)).messages()).isEmpty();
                assertThat(erased).isTrue();
            }
        }
    }

    @Test
    void a_list_reads_what_it_shows_and_not_the_files() {
        Disk.Opener opener = new Disk.Opener();
        try (MessageLog log = FileMessageLog.builder()
                .directory(files.root())
                .fsync(false)
                .opener(opener)
                .build()) {
            for (int i = 0; i < 60; i++) {
                ConversationKey key = ConversationKey.of("acme", "c" + i);
                for (int message = 0; message < 30; message++) {
                    log.append(key, batch("m" + message));
                }
            }
            long before = opener.read.sum();
            assertThat(log.list("acme", ListQuery.first(5)).memories()).hasSize(5);
            assertThat(opener.read.sum() - before).isLessThan(30_000);
        }
        opener.read.reset();
        try (MessageLog log =
                FileMessageLog.builder().directory(files.root()).opener(opener).build()) {
            assertThat(log.list("acme", ListQuery.first(5)).memories()).hasSize(5);
            assertThat(opener.read.sum()).isLessThan(30_000);
        }
    }

    @Test
    void a_list_that_is_gone_is_made_again_in_the_same_order() throws Exception {
        List<MemoryKey> keys = new ArrayList<>();
        try (MessageLog log = files.open()) {
            for (int i = 0; i < 12; i++) {
                keys.add(0, ConversationKey.of("acme", "c" + i));
                log.append(keys.get(0), batch("a"));
            }
            log.erase(keys.remove(5));
            Path file = Names.tenant(files.root(), "acme").resolve("list.jsonl");
            for (int round = 0; round < 3; round++) {
                if (round == 0) {
                    Files.delete(file);
                } else {
                    Files.write(file, new byte[round == 1 ? 0 : 100]);
                }
                assertThat(list(log, "acme", 5)).extracting(MemoryInfo::key).isEqualTo(keys);
                keys.add(0, ConversationKey.of("acme", "new" + round));
                log.append(keys.get(0), batch("a"));
                assertThat(list(log, "acme", 5)).extracting(MemoryInfo::key).isEqualTo(keys);
            }
        }
    }

    @Test
    void a_memory_that_an_older_list_does_not_know_is_listed_when_it_is_written() throws Exception {
        Path file = Names.tenant(files.root(), "acme").resolve("list.jsonl");
        ConversationKey other = ConversationKey.of("acme", "other");
        byte[] old;
        try (MessageLog log = files.open()) {
            log.append(KEY, batch("a"));
            old = Files.readAllBytes(file);
            log.append(other, batch("a"));
        }
        Files.write(file, old);
        try (MessageLog log = files.open()) {
            log.append(other, batch("b"));
            assertThat(list(log, "acme", 5)).extracting(MemoryInfo::key).containsExactly(other, KEY);
        }
    }

    @Test
    void a_directory_that_cannot_be_one_is_refused() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> FileMessageLog.in(file)).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> FileMessageLog.in(directory.resolve("no/log")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("does not exist");
        assertThatThrownBy(() -> FileMessageLog.builder().build()).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> FileMessageLog.builder().maxOpenMemories(0)).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> FileMessageLog.builder().busyTimeout(Duration.ZERO))
                .isInstanceOf(InvalidInputException.class);
    }

    @Test
    void a_lock_that_another_holds_for_too_long_is_a_retryable_error_and_readers_do_not_wait() throws Exception {
        try (MessageLog log = FileMessageLog.builder()
                .directory(files.root())
                .fsync(false)
                .busyTimeout(Duration.ofMillis(50))
                .build()) {
            log.append(KEY, batch("a"));
            assertThat(branch(log, KEY)).containsExactly("a");
            LockFile locks = LockFile.open(files.root());
            locks.holding(files.names().lock(), "test", Duration.ofSeconds(1), () -> {
                Thread[] other = {
                    new Thread(() -> {
                        assertThatThrownBy(() -> log.append(KEY, batch("b")))
                                .isInstanceOf(StorageUnavailableException.class)
                                .hasMessageContaining(KEY.canonical());
                        assertThat(branch(log, KEY)).containsExactly("a");
                    })
                };
                List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
                other[0].setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
                other[0].start();
                join(other[0]);
                assertThat(failures).isEmpty();
                return true;
            });
            locks.close();
            log.append(KEY, batch("b"));
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_closed_log_says_so() {
        MessageLog log = files.open();
        log.append(KEY, batch("a"));
        log.close();
        assertThatThrownBy(() -> log.append(KEY, batch("b"))).isInstanceOf(StorageClosedException.class);
        assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1))).isInstanceOf(StorageClosedException.class);
        assertThatThrownBy(() -> log.list("acme", ListQuery.first(1))).isInstanceOf(StorageClosedException.class);
    }

    @Test
    void a_directory_that_is_emptied_while_it_is_open_is_not_taken_for_empty_memories() throws Exception {
        try (MessageLog log = files.open()) {
            log.append(KEY, batch("a"));
            Files.move(files.root(), directory.resolve("away"));
            Files.createDirectory(files.root());
            assertThatThrownBy(() -> branch(log, KEY))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining("put it back");
            assertThatThrownBy(() -> Logs.describe(log, KEY, "title", Map.of()))
                    .isInstanceOf(StorageUnavailableException.class);
            try (MessageLog other = files.open()) {
                other.append(KEY, batch("b"));
                log.append(KEY, batch("c"));
                assertThat(branch(other, KEY)).containsExactly("b", "c");
                assertThat(branch(log, KEY)).containsExactly("b", "c");
            }
        }
    }

    @Test
    void old_tombstones_are_removed_and_idle_memories_erased_in_one_step() {
        TestClock clock = new TestClock();
        ConversationKey other = ConversationKey.of("acme", "other");
        try (MessageLog log = FileMessageLog.builder()
                .directory(files.root())
                .fsync(false)
                .clock(clock)
                .build()) {
            log.append(KEY, batch("a"));
            log.append(other, batch("a"));
            clock.advance(Duration.ofHours(1));
            log.append(other, batch("b"));
            Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
            assertThat(log.eraseIfIdle(KEY, now)).isTrue();
            assertThat(log.eraseIfIdle(KEY, now)).isFalse();
            assertThat(log.eraseIfIdle(other, now)).isFalse();
            assertThat(branch(log, other)).containsExactly("a", "b");

            assertThat(log.removeTombstones("acme", now)).isZero();
            assertThat(log.read(KEY, ReadQuery.newest(0)).epoch()).isEqualTo(2);
            clock.advance(Duration.ofHours(1));
            assertThat(log.removeTombstones("acme", clock.instant())).isEqualTo(1);
            assertThat(log.removeTombstones("nobody", clock.instant())).isZero();
            assertThat(log.read(KEY, ReadQuery.newest(0)).epoch()).isEqualTo(1);
            log.append(KEY, batch("c"));
            assertThat(branch(log, KEY)).containsExactly("c");
        }
    }

    @Test
    void what_is_not_there_is_named() {
        try (MessageLog log = files.open()) {
            assertThatThrownBy(() -> log.read(KEY, ReadQuery.newest(1).endingIn("x")))
                    .isInstanceOf(UnknownMessageException.class);
        }
        assertThat(log(files.root())).isEmpty();
    }

    /** The directories of tenants. */
    private static List<Path> log(Path root) {
        try (var paths = Files.list(root)) {
            return paths.filter(Files::isDirectory).toList();
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
