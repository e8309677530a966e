package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Tell;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process has seen of files, and what a list says of them: removed, shortened and flipped ones, and failed syncs. */
@Timeout(600)
class FileWitnessTest {

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

    /** A device whose syncs fail on demand. */
    private static final class Syncs extends Disk.Opener {

        private final AtomicInteger calls = new AtomicInteger();
        private volatile boolean fail;

        @Override
        Disk open(Path path) throws IOException {
            return new Disk(path, this) {
                @Override
                void force() throws IOException {
                    calls.incrementAndGet();
                    if (fail) {
                        throw new IOException("Input/output error (as the test says)");
                    }
                    super.force();
                }
            };
        }

        MessageLog log(Path root) {
            return FileMessageLog.builder().directory(root).opener(this).build();
        }
    }

    /** A backup may be put back under the name of another memory. */
    @Test
    void a_file_of_another_memory_is_not_read_as_this_one() throws Exception {
        ConversationKey other = ConversationKey.of("acme", "other");
        Path ofOther = Names.of(files.names().directory().getParent(), other).data();
        try (MessageLog log = files.open()) {
            log.append(other, batch("secret"));
        }
        Files.copy(ofOther, files.names().data(), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        try (MessageLog log = files.open()) {
            assertThatThrownBy(() -> branch(log, KEY))
                    .isInstanceOf(UnreadableDataException.class)
                    .hasMessageContaining("names another memory");
            assertThatThrownBy(() -> log.append(KEY, batch("x"))).isInstanceOf(UnreadableDataException.class);
            assertThat(log.list("acme", ListQuery.first(5)).memories())
                    .extracting(MemoryInfo::key)
                    .containsExactly(other);
            assertThat(branch(log, other)).hasSize(1);
        }
    }

    @Test
    void a_directory_that_is_removed_while_it_is_in_use_is_not_taken_for_empty_memories() throws Exception {
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).hasSize(5);
            assertThat(log.list("acme", ListQuery.first(5)).memories()).hasSize(1);
            Path away = directory.resolve("away");
            Files.move(files.names().directory(), away);
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(StorageUnavailableException.class);
            assertThatThrownBy(() -> log.append(KEY, batch("x"))).isInstanceOf(StorageUnavailableException.class);
            assertThatThrownBy(() -> log.list("acme", ListQuery.first(5)))
                    .isInstanceOf(StorageUnavailableException.class);
            Files.move(away, files.names().directory());
            assertThat(branch(log, KEY)).hasSize(5);
        }
    }

    @Test
    void a_file_that_was_removed_while_no_process_ran_is_not_taken_for_an_empty_memory() throws Exception {
        Path away = directory.resolve("away");
        Files.move(files.names().data(), away);
        ConversationKey other = ConversationKey.of("acme", "other");
        try (MessageLog log = files.open()) {
            log.append(other, batch("a"));
            assertThatThrownBy(() -> branch(log, KEY))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining("put it back");
            assertThatThrownBy(() -> log.append(KEY, batch("a", "b"))).isInstanceOf(StorageUnavailableException.class);
            ListQuery used = ListQuery.first(5).withUsage(LocalDate.EPOCH, LocalDate.EPOCH.plusDays(1));
            assertThat(log.list("acme", used).damaged()).hasSize(1);
            for (ListQuery query :
                    List.of(ListQuery.first(5), ListQuery.first(5).byActivity())) {
                MemoryPage page = log.list("acme", query);
                assertThat(page.memories()).extracting(MemoryInfo::key).containsExactly(other);
                assertThat(page.damaged()).hasSize(1);
            }
            Files.move(away, files.names().data());
            assertThat(branch(log, KEY)).hasSize(5);
        }
        Files.delete(files.names().data());
        try (MessageLog log = files.open()) {
            assertThat(log.erase(KEY)).isEqualTo(2);
            assertThat(branch(log, KEY)).isEmpty();
            log.append(KEY, batch("x"));
        }
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).containsExactly("x");
            assertThat(list(log, "acme", 1)).extracting(MemoryInfo::key).containsExactly(KEY, other);
        }
    }

    @Test
    void no_id_stays_in_the_list_after_an_erasure() throws Exception {
        Path list = files.names().directory().resolve("list.jsonl");
        assertThat(Files.readAllLines(list)).hasSize(2);
        try (MessageLog log = files.open()) {
            log.erase(KEY);
            assertThat(Files.readAllLines(list)).hasSize(3);
            assertThat(Files.readString(list)).doesNotContain("acme", "\"42", "42-", "a\"");
            log.removeTombstones("acme", Instant.now().plusSeconds(9));
            assertThat(branch(log, KEY)).isEmpty();
        }
    }

    /** As if a creation had been killed before its file had its name, and an erasure before the list had its line. */
    @Test
    void what_a_killed_process_left_is_neither_a_memory_nor_a_removed_one() throws Exception {
        Files.move(files.names().data(), files.names().made());
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).isEmpty();
            assertThat(log.list("acme", ListQuery.first(5)).damaged()).isEmpty();
            log.append(KEY, batch("x"));
            assertThat(branch(log, KEY)).containsExactly("x");
            assertThat(Files.exists(files.names().made())).isFalse();
            new Tombstone(2, 7, Instant.EPOCH).write(files.names().tombstone(), false);
            assertThat(branch(log, KEY)).isEmpty();
            Files.delete(files.names().data());
            assertThat(log.list("acme", ListQuery.first(5)).damaged()).isEmpty();
            assertThat(log.removeTombstones("acme", Instant.now())).isEqualTo(1);
            assertThat(branch(log, KEY)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_file_that_is_shorter_than_a_process_has_seen_is_damage_that_names_the_bytes(boolean inPlace)
            throws Exception {
        byte[] all = files.bytes();
        List<String> lines = files.lines();
        int last = all.length - lines.get(3).length() - 1;
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).hasSize(5);
            if (!inPlace) {
                Files.delete(files.names().data());
            }
            files.write(Arrays.copyOf(all, last));
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> branch(log, KEY))
                        .isInstanceOf(UnreadableDataException.class)
                        .hasMessageContaining("bytes " + last + " to " + (all.length - 1))
                        .hasMessageContaining(KEY.canonical());
                assertThatThrownBy(() -> log.append(KEY, batch("d", "x"))).isInstanceOf(UnreadableDataException.class);
            }
            assertThat(log.check(KEY)).extracting(Damage::kind).containsExactly(Damage.Kind.MEMORY);
            assertThat(files.bytes()).hasSize(last);
            files.write(all);
            assertThat(branch(log, KEY)).hasSize(5);

            files.write(Arrays.copyOf(all, last));
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(UnreadableDataException.class);
            assertThat(log.repair(KEY).head()).isEqualTo("c");
            assertThat(branch(log, KEY)).containsExactly("a", "b", "c");
        }
    }

    @Test
    void another_file_of_the_same_length_is_read_again_if_it_is_of_another_generation() throws Exception {
        String text = new String(files.bytes(), StandardCharsets.UTF_8);
        String other = text.replaceFirst("\"file\":\"[^\"]{8}", "\"file\":\"00000000")
                .replaceAll("\"e\"", "\"f\"")
                .replaceAll("\"last\":\"\\d{4}", "\"last\":\"2001")
                .replaceAll("\"at\":\"\\d{4}", "\"at\":\"2001");
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).endsWith("e");
            files.write(other.getBytes(StandardCharsets.UTF_8));
            assertThat(branch(log, KEY)).endsWith("f");
            files.write(text.replaceAll("\"last\":\"\\d{4}", "\"last\":\"2001").getBytes(StandardCharsets.UTF_8));
            assertThat(log.check(KEY)).isNotEmpty();
        }
    }

    /** What is flipped within a text or an id cannot be known, but no message gets lost. */
    @Test
    @ExpectedLog(maybe = {"have no end of a line", "is rebuilt"})
    void a_flipped_bit_is_damage_or_harmless() throws Exception {
        byte[] all = files.bytes();
        int found = 0;
        int harmless = 0;
        for (int at = files.lines().get(0).length() + 1; at < all.length - 1; at += Counts.of(7, 1)) {
            byte[] flipped = all.clone();
            flipped[at] ^= (byte) (1 << (at % 7));
            files.write(flipped);
            try (MessageLog log = files.open()) {
                try {
                    assertThat(history(log, KEY)).hasSize(5);
                    assertThat(log.read(KEY, ReadQuery.wholeBranch()).messages())
                            .hasSize(5);
                    harmless++;
                } catch (UnreadableDataException e) {
                    found++;
                    assertThat(log.check(KEY)).as("byte %s", at).isNotEmpty();
                    assertThatThrownBy(() -> log.history(KEY, HistoryQuery.oldest(9)))
                            .isInstanceOf(UnreadableDataException.class);
                    log.repair(KEY);
                }
                log.append(KEY, batch("next"));
                assertThat(ids(history(log, KEY))).as("byte %s", at).endsWith("next");
                assertThat(Arrays.copyOf(files.bytes(), all.length)).isEqualTo(flipped);
            }
        }
        assertThat(found).isPositive();
        Tell.line("%d flipped bits were found, %d were within texts or changed nothing", found, harmless);
    }

    @Test
    void a_failed_sync_is_made_good_before_anything_is_answered() throws Exception {
        Syncs syncs = new Syncs();
        try (MessageLog log = syncs.log(files.root());
                MessageLog reader = files.open()) {
            log.append(KEY, batch("f"));
            byte[] before = files.bytes();
            syncs.fail = true;
            assertThatThrownBy(() -> log.append(KEY, batch("g")))
                    .isInstanceOfSatisfying(StorageUnavailableException.class, e -> assertThat(e.isRetryable())
                            .isTrue());
            byte[] with = files.bytes();
            assertThat(with.length).as("nothing is cut off").isGreaterThan(before.length);
            assertThat(branch(reader, KEY)).as("others may see it").endsWith("f", "g");
            assertThatThrownBy(() -> branch(log, KEY)).isInstanceOf(StorageUnavailableException.class);
            assertThatThrownBy(() -> log.append(KEY, batch("g"))).isInstanceOf(StorageUnavailableException.class);
            long written = syncs.written.sum();
            syncs.fail = false;
            assertThat(log.append(KEY, batch("g")).replayed()).isTrue();
            assertThat(syncs.written.sum() - written).isEqualTo(with.length - before.length);
            assertThat(files.bytes()).isEqualTo(with);
            log.append(KEY, batch("h"));
            assertThat(branch(log, KEY)).endsWith("f", "g", "h");
            assertThat(log.check(KEY)).isEmpty();
        }
    }

    @Test
    void a_process_that_sees_the_line_of_a_failed_sync_syncs_before_it_says_that_it_is_there() throws Exception {
        Syncs first = new Syncs();
        Syncs second = new Syncs();
        try (MessageLog log = first.log(files.root());
                MessageLog other = second.log(files.root())) {
            other.append(KEY, batch("f"));
            first.fail = true;
            assertThatThrownBy(() -> log.append(KEY, batch("g"))).isInstanceOf(StorageUnavailableException.class);
            second.fail = true;
            assertThatThrownBy(() -> other.append(KEY, batch("g"))).isInstanceOf(StorageUnavailableException.class);
            assertThatThrownBy(() -> branch(other, KEY)).isInstanceOf(StorageUnavailableException.class);
            second.fail = false;
            int before = second.calls.get();
            long written = second.written.sum();
            assertThat(other.append(KEY, batch("g")).replayed()).isTrue();
            assertThat(second.calls.get()).isGreaterThan(before);
            assertThat(second.written.sum()).as("the line is written again").isGreaterThan(written);
            int known = second.calls.get();
            assertThat(other.append(KEY, batch("g")).replayed()).isTrue();
            assertThat(second.calls.get())
                    .as("what has reached the device is not waited for")
                    .isEqualTo(known);
            other.append(KEY, batch("h"));
            first.fail = false;
            assertThat(branch(log, KEY)).endsWith("f", "g", "h");
        }
    }

    @Test
    void a_first_page_opens_few_files() throws Exception {
        int memories = Counts.of(20, 50);
        int messages = Counts.of(100, 10_000);
        TestClock clock = new TestClock();
        List<MemoryKey> keys = new ArrayList<>();
        AtomicInteger opened = new AtomicInteger();
        Disk.Opener opener = new Disk.Opener() {
            @Override
            Disk open(Path path) throws IOException {
                opened.incrementAndGet();
                return super.open(path);
            }
        };
        FileMessageLog.Builder builder = FileMessageLog.builder()
                .directory(directory.resolve("many"))
                .fsync(false)
                .clock(clock)
                .opener(opener);
        try (MessageLog log = builder.build()) {
            for (int i = 0; i < memories; i++) {
                MemoryKey key = ConversationKey.of("acme", "c" + i);
                keys.add(0, key);
                for (int from = 0; from < messages; from += 100) {
                    int first = from;
                    log.append(
                            key,
                            batch(IntStream.range(first, first + 100)
                                    .mapToObj(n -> "m" + n)
                                    .toArray(String[]::new)));
                }
                // As if it were written at that time.
                Files.setLastModifiedTime(
                        Names.of(directory.resolve("many"), key).data(), FileTime.from(clock.instant()));
                clock.advance(Duration.ofHours(1));
            }
        }
        try (MessageLog log = builder.build()) {
            for (ListQuery query :
                    List.of(ListQuery.first(5), ListQuery.first(5).byActivity())) {
                opened.set(0);
                opener.read.reset();
                long begin = System.nanoTime();
                assertThat(log.list("acme", query).memories())
                        .extracting(MemoryInfo::key)
                        .isEqualTo(keys.subList(0, 5));
                Tell.line(
                        "A first page of 5 of %d memories of %d messages opens %d files, reads %d bytes and takes %d µs",
                        memories, messages, opened.get(), opener.read.sum(), (System.nanoTime() - begin) / 1_000);
                assertThat(opened.get())
                        .as("the list, one more than the page, and the edge")
                        .isLessThanOrEqualTo(8);
                assertThat(opener.read.sum()).isLessThan(20_000);
            }
            assertThat(list(log, "acme", 7)).extracting(MemoryInfo::key).isEqualTo(keys);
        }
    }
}
