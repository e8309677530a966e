package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.user;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bytes that calls read and write do not depend on the number of messages. */
@Timeout(1800)
class FileCostTest {

    private static final int SMALL = 1_000;
    private static final int CALLS = 200;
    private static final int BATCH = 1_000;

    @TempDir
    Path directory;

    private final Disk.Opener opener = new Disk.Opener();

    /** What one call takes in the mean and at most, in bytes that are read and written. */
    private record Cost(long mean, long most) {}

    private interface Call {
        void run(int number);
    }

    @Test
    @ExpectedLog(maybe = "a database such as SQLite serves it better")
    void append_find_and_read_take_at_most_twice_the_bytes_of_a_small_memory() throws Exception {
        int large = Counts.of(20_000, 1_000_000);
        Map<String, Cost> small = costs(SMALL);
        Map<String, Cost> many = costs(large);

        small.forEach((call, cost) -> Tell.line(
                "%s: %d bytes (at most %d) at %d messages, %d (at most %d) at %d",
                call,
                cost.mean(),
                cost.most(),
                SMALL,
                many.get(call).mean(),
                many.get(call).most(),
                large));
        small.forEach((call, cost) -> {
            assertThat(many.get(call).mean()).as(call).isLessThanOrEqualTo(2 * cost.mean());
            assertThat(many.get(call).most()).as(call).isLessThanOrEqualTo(2 * cost.most());
        });
    }

    private Map<String, Cost> costs(int messages) throws Exception {
        Path root = directory.resolve("log" + messages);
        Map<String, Cost> costs = new LinkedHashMap<>();
        try (MessageLog log = FileMessageLog.builder()
                .directory(root)
                .opener(opener)
                .fsync(false)
                .build()) {
            for (int from = 0; from < messages; from += BATCH) {
                List<NewMessage> batch = new ArrayList<>();
                for (int i = from; i < from + BATCH; i++) {
                    batch.add(user(id(i)));
                }
                log.append(KEY, Append.under(Parent.head(), batch));
            }
            // The first append makes the tree in the heap.
            log.append(KEY, Append.underHead(user("first")));
            Random random = new Random(42);
            costs.put("append", cost(i -> log.append(KEY, Append.underHead(user("new-" + id(i))))));
            costs.put("replay", cost(i -> log.append(KEY, Append.underHead(user("new-" + id(i))))));
            costs.put("find", cost(i -> Logs.find(log, KEY, List.of(id(random.nextInt(messages))))));
            costs.put("find nothing", cost(i -> Logs.find(log, KEY, List.of("none" + i))));
            costs.put("read of 20", cost(i -> log.read(KEY, ReadQuery.newest(20))));
            costs.put(
                    "read of 20 and the first 3",
                    cost(i -> log.read(KEY, ReadQuery.newest(20).alsoOldest(3).upToSummary())));
            costs.put(
                    "regenerated answer",
                    cost(i -> log.append(
                            KEY,
                            Append.under(Parent.of(id(random.nextInt(messages))), List.of(user("other-" + id(i)))))));
            costs.put(
                    "outcome",
                    cost(i -> Logs.setOutcome(
                            log,
                            KEY,
                            id(random.nextInt(messages)),
                            io.github.keepsake4j.message.Outcome.failed("x" + i),
                            null)));
            Tell.line(
                    "%d messages: %d bytes of lines",
                    messages, Files.size(Names.of(root, KEY).data()));
        }
        try (MessageLog log = FileMessageLog.builder().directory(root).build()) {
            long begin = System.nanoTime();
            log.read(KEY, ReadQuery.newest(1));
            Tell.line("%d messages: the first use takes %d ms", messages, (System.nanoTime() - begin) / 1_000_000);
        }
        return costs;
    }

    private static String id(int number) {
        return String.format("message-%024d", number);
    }

    private Cost cost(Call call) {
        long sum = 0;
        long most = 0;
        for (int i = 0; i < CALLS; i++) {
            long before = opener.read.sum() + opener.written.sum();
            call.run(i);
            long bytes = opener.read.sum() + opener.written.sum() - before;
            sum += bytes;
            most = Math.max(most, bytes);
        }
        return new Cost(sum / CALLS, most);
    }
}
