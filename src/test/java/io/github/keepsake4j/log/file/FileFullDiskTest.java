package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.branch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Tell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

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
        Files.delete(Names.of(root, KEY).index());
        try (MessageLog log = FileMessageLog.in(root)) {
            assertThat(branch(log, KEY)).isEqualTo(acknowledged);
        }
        assertThat(failures).isPositive();
        Tell.line("%d writes failed half way, %d messages there", failures, acknowledged.size());
    }

    @Test
    @ExpectedLog(maybe = "have no end of a line")
    void a_full_file_system_is_told_and_works_again_when_there_is_room() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("small"));
        if (!run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount.toString())) {
            String reason = "a tmpfs cannot be mounted here; the test with a disk that fails covers it";
            LoggerFactory.getLogger(getClass()).warn("Skipped: {}", reason);
            Assumptions.abort(reason);
        }
        try {
            fill(mount);
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
