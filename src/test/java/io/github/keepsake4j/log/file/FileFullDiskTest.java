package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Tell;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A device without room: an error that can be retried, no acknowledged message lost, and it works again with room. */
class FileFullDiskTest {

    @TempDir
    Path directory;

    /** A disk on which a number of bytes fit. What does not fit is written as far as it does. */
    private static final class Small extends Disk.Opener {

        private long room = Long.MAX_VALUE;

        @Override
        Disk open(Path path) throws IOException {
            return new Disk(path, this) {
                @Override
                void write(long position, byte[] bytes) throws IOException {
                    int fits = (int) Math.min(room, bytes.length);
                    super.write(position, Arrays.copyOf(bytes, fits));
                    room -= fits;
                    if (fits < bytes.length) {
                        throw new IOException("No space left on device (as the test says)");
                    }
                }
            };
        }
    }

    @Test
    @ExpectedLog(maybe = "have no end of a line")
    void a_write_that_fails_at_any_byte_loses_nothing() throws Exception {
        Small disk = new Small();
        Path root = directory.resolve("log");
        List<String> acknowledged = new ArrayList<>();
        int failures = 0;
        try (MessageLog log = FileMessageLog.builder()
                .directory(root)
                .opener(disk)
                .fsync(false)
                .build()) {
            for (int room = 0; room < 2_500; room += Counts.of(13, 1)) {
                String id = "m" + room;
                disk.room = room;
                try {
                    log.append(KEY, batch(id));
                    acknowledged.add(id);
                } catch (StorageUnavailableException e) {
                    failures++;
                    assertThat(e.isRetryable()).isTrue();
                    disk.room = Long.MAX_VALUE;
                    List<String> now = acknowledged.isEmpty() ? List.of() : branch(log, KEY);
                    // What was written whole may be there without having been acknowledged.
                    assertThat(now.subList(0, Math.min(now.size(), acknowledged.size())))
                            .isEqualTo(acknowledged);
                    log.append(KEY, batch(id));
                    acknowledged.add(id);
                }
            }
            disk.room = Long.MAX_VALUE;
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
            assertThat(log.check(KEY)).isEmpty();
        }
        try (MessageLog log = FileMessageLog.in(root)) {
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
        }
        assertThat(failures).isPositive();
        Tell.line("%d writes failed half way, %d messages there", failures, acknowledged.size());
    }

    @Test
    @Tag("mounts")
    @ExpectedLog(maybe = "have no end of a line")
    void a_full_file_system_is_told_and_works_again_when_there_is_room() throws Exception {
        onSmallFileSystem(FileFullDiskTest::fill);
    }

    @Test
    @Tag("mounts")
    void an_erasure_needs_no_room() throws Exception {
        onSmallFileSystem(FileFullDiskTest::eraseWithoutRoom);
    }

    /** Does something with a file system. */
    private interface OnFileSystem {
        void run(Path mount) throws Exception;
    }

    private void onSmallFileSystem(OnFileSystem work) throws Exception {
        Path mount = Files.createDirectory(directory.resolve("small"));
        assertThat(run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount.toString()))
                .as("a tmpfs can be mounted, which -Dgroups=mounts asks for")
                .isTrue();
        try {
            work.run(mount);
        } finally {
            assertThat(run("umount", mount.toString())).isTrue();
        }
    }

    private static void fill(Path mount) throws Exception {
        Path ballast = mount.resolve("ballast");
        Files.write(ballast, new byte[64 << 10]);
        List<String> acknowledged = new ArrayList<>();
        try (MessageLog log = FileMessageLog.in(mount.resolve("log"))) {
            StorageUnavailableException full = null;
            while (full == null) {
                String id = "m" + acknowledged.size();
                try {
                    log.append(KEY, Append.underHead(LogTesting.message(id, UserMessage.from("x".repeat(500)), 1)));
                    acknowledged.add(id);
                } catch (StorageUnavailableException e) {
                    full = e;
                }
            }
            assertThat(full).hasMessageContaining(KEY.canonical()).hasMessageNotContaining("xxx");
            assertThatThrownBy(() -> log.append(ConversationKey.of("acme", "new"), batch("a")))
                    .isInstanceOf(StorageUnavailableException.class);
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
            Files.delete(ballast);
            log.append(KEY, batch("last"));
            acknowledged.add("last");
            log.append(ConversationKey.of("acme", "new"), batch("a"));
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
            assertThat(log.check(KEY)).isEmpty();
        }
        try (MessageLog log = FileMessageLog.in(mount.resolve("log"))) {
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
        }
        Tell.line("a file system of 1 MB was full after %d messages, all there", acknowledged.size());
    }

    private static void eraseWithoutRoom(Path mount) throws Exception {
        List<ConversationKey> keys = IntStream.range(0, Counts.of(3, 10))
                .mapToObj(i -> ConversationKey.of("acme", "c" + i))
                .toList();
        Passage source = new Passage(List.of("a"), 1, "hash", "", "up to");
        try (MessageLog log = FileMessageLog.in(mount.resolve("log"));
                LongTermMemoryStore memories = FileLongTermMemoryStore.of(mount.resolve("memories"))) {
            for (ConversationKey key : keys) {
                log.append(key, batch("a", "b"));
                memories.add(
                        key,
                        MadeMemory.Kind.CHUNK,
                        0,
                        source,
                        List.of(MadeMemory.ofText(MadeMemory.Kind.CHUNK, LogTesting.SECRET, source, Trust.USER)));
            }
            for (ConversationKey key : keys) {
                leaveNoRoom(mount);
                assertThatThrownBy(() -> log.append(ConversationKey.of("acme", "new"), batch("a")))
                        .isInstanceOf(StorageUnavailableException.class);
                assertThat(log.erase(key)).isEqualTo(2);
                leaveNoRoom(mount);
                memories.erase(key);
                assertThat(branch(log, key)).isEmpty();
                assertThat(memories.chunks(key, 1)).isEmpty();
                assertThat(memories.progress(key, MadeMemory.Kind.CHUNK).revision())
                        .as("who saw it before adds nothing")
                        .isPositive();
            }
            assertThat(log.list("acme", ListQuery.first(100)).memories()).isEmpty();
            memories.discussions("acme", key -> fail("not erased"));
        }
        try (Stream<Path> files = Files.walk(mount)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain(LogTesting.SECRET);
            }
        }
    }

    private static void leaveNoRoom(Path mount) throws IOException {
        Path ballast = Files.createTempFile(mount, "ballast", "");
        byte[] page = new byte[4_096];
        try (OutputStream out = Files.newOutputStream(ballast)) {
            while (true) {
                out.write(page);
            }
        } catch (IOException full) {
            assertThat(Files.size(ballast) % page.length).isZero();
        }
    }

    private static boolean run(String... command) throws Exception {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
