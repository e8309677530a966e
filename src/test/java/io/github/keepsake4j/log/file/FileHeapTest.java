package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MemoryTooLargeException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How much heap a process needs, and what it says if it has too little. */
@Tag("landing")
@Timeout(1200)
class FileHeapTest {

    private static final int BATCH = 500;
    private static final int ROUNDS = Counts.of(2, 5);

    @TempDir
    Path directory;

    /** A process with little heap. Arguments: directory, messages of the large memory, memories, messages of each. */
    static final class SmallHeap {

        private SmallHeap() {}

        public static void main(String[] arguments) {
            Path root = Path.of(arguments[0]);
            int large = Integer.parseInt(arguments[1]);
            int memories = Integer.parseInt(arguments[2]);
            int each = Integer.parseInt(arguments[3]);
            try (MessageLog log =
                    FileMessageLog.builder().directory(root).fsync(false).build()) {
                fill(log, KEY, large);
                use(log, KEY, large, "large");
            }
            try (MessageLog log =
                    FileMessageLog.builder().directory(root).fsync(false).build()) {
                use(log, KEY, large + 1, "again");
                for (int i = 0; i < memories; i++) {
                    fill(log, key(i), each);
                }
                for (int round = 0; round < 3; round++) {
                    for (int i = 0; i < memories; i++) {
                        use(log, key(i), each + round, "round" + round);
                    }
                }
                use(log, KEY, large + 2, "last");
            }
            System.out.println("done");
        }

        private static MemoryKey key(int number) {
            return ConversationKey.of("acme", "small" + number);
        }

        private static void use(MessageLog log, MemoryKey key, int messages, String id) {
            if (log.append(key, batch(id)).lastSequence() != messages + 1
                    || log.read(key, ReadQuery.newest(20)).messages().size() != 20) {
                throw new IllegalStateException("memory " + key + " has other messages");
            }
        }
    }

    /** A process that reads a memory for which it has too little heap, and another one. Argument: directory. */
    static final class TooSmallHeap {

        private TooSmallHeap() {}

        public static void main(String[] arguments) {
            try (MessageLog log = FileMessageLog.in(Path.of(arguments[0]))) {
                for (int i = 0; i < 3; i++) {
                    try {
                        log.append(KEY, batch("x"));
                        System.out.println("appended");
                    } catch (MemoryTooLargeException e) {
                        System.out.println(e.getMessage());
                    }
                }
                MemoryKey other = ConversationKey.of("acme", "other");
                log.append(other, batch("a"));
                System.out.println(log.read(other, ReadQuery.newest(1)).head());
            }
        }
    }

    private static List<String> options(String heap) {
        return List.of(
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");
    }

    private static void fill(MessageLog log, MemoryKey key, int messages) {
        for (int from = 0; from < messages; from += BATCH) {
            List<NewMessage> batch = new ArrayList<>();
            for (int i = from; i < Math.min(messages, from + BATCH); i++) {
                batch.add(user(String.format("message-%028d", i)));
            }
            log.append(key, Append.under(Parent.head(), batch));
        }
    }

    @Test
    void one_large_memory_and_many_small_ones_fit_into_64_megabytes() throws Exception {
        int large = Counts.of(20_000, 100_000);
        int memories = Counts.of(30, 300);
        int each = Counts.of(300, 1_000);
        List<String> lines;
        try (Child child = Child.start(options("64m"), SmallHeap.class, root(), large, memories, each)) {
            lines = child.awaitEnd();
        }
        assertThat(lines).containsExactly("done");
    }

    @Test
    @ExpectedLog(maybe = "serves it better")
    void a_memory_that_does_not_fit_is_an_error_that_says_so() throws Exception {
        int messages = 60_000;
        try (MessageLog log =
                FileMessageLog.builder().directory(root()).fsync(false).build()) {
            fill(log, KEY, messages);
        }
        List<String> lines;
        try (Child child = Child.start(options("24m"), TooSmallHeap.class, root())) {
            lines = child.awaitEnd();
        }
        assertThat(lines).hasSize(4).endsWith("a");
        assertThat(lines.subList(0, 3))
                .allSatisfy(line -> assertThat(line).contains(KEY.canonical(), "-Xmx", "SQLite"));
    }

    /** The figures of the guide. */
    @Test
    @ExpectedLog(maybe = "serves it better")
    void the_first_use_reads_the_file_and_an_append_writes_the_same_bytes_however_long_it_is() throws Exception {
        List<Long> written = new ArrayList<>();
        for (int messages : new int[] {1_000, 10_000, Counts.of(20_000, 100_000)}) {
            Path root = directory.resolve("log" + messages);
            try (MessageLog log =
                    FileMessageLog.builder().directory(root).fsync(false).build()) {
                fill(log, KEY, messages);
            }
            long size = Files.size(Names.of(root, KEY).data());
            long[] best = {Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE};
            for (int round = 0; round < ROUNDS; round++) {
                Disk.Opener opener = new Disk.Opener();
                try (MessageLog log =
                        FileMessageLog.builder().directory(root).opener(opener).build()) {
                    String id = String.format("round%02d", round);
                    best[0] = Math.min(best[0], micros(1, i -> log.read(KEY, ReadQuery.newest(20))));
                    assertThat(opener.read.sum()).isGreaterThanOrEqualTo(size);
                    opener.read.reset();
                    best[1] = Math.min(best[1], micros(90, i -> log.append(KEY, batch(id + (10 + i)))));
                    best[2] = Math.min(best[2], micros(100, i -> log.read(KEY, ReadQuery.newest(20))));
                    assertThat(opener.read.sum()).isLessThan(190 * 12_000);
                    written.add(opener.written.sum());
                }
            }
            Tell.line(
                    "%d messages: first use %d µs, append %d µs, read of 20 %d µs",
                    messages, best[0], best[1], best[2]);
        }
        // Numbers have more digits.
        assertThat(written).allSatisfy(bytes -> assertThat(bytes).isCloseTo(written.get(0), withinPercentage(10)));
    }

    private static long micros(int calls, IntConsumer call) {
        long begin = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            call.accept(i);
        }
        return (System.nanoTime() - begin) / calls / 1_000;
    }

    private Path root() {
        return directory.resolve("log");
    }
}
