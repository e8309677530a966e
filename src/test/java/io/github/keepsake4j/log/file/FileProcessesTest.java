package io.github.keepsake4j.log.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.HistoryChecker;
import io.github.keepsake4j.testing.HistoryChecker.Attempt;
import io.github.keepsake4j.testing.HistoryChecker.Stored;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One directory, several processes, and some of them killed. */
@Tag("landing")
@Timeout(1200)
class FileProcessesTest {

    private static final int PROCESSES = 2;
    private static final int THREADS = 8;

    @TempDir
    Path directory;

    @Test
    void two_processes_of_eight_threads_lose_and_double_nothing() throws Exception {
        int count = Counts.of(8, 300);
        List<Attempt> attempts = Collections.synchronizedList(new ArrayList<>());
        try (Child child = Child.start(FileWriter.class, root(), "p0", THREADS, count)) {
            // The other process is this one, which begins when the child writes.
            attempts.add(Attempt.of(child.line()));
            FileWriter.append(root(), "p1", THREADS, count, attempts::add);
            child.awaitEnd().forEach(line -> attempts.add(Attempt.of(line)));
        }

        try (MessageLog log = FileMessageLog.in(root())) {
            List<Stored> stored = stored(log);
            assertThat(HistoryChecker.check(attempts, stored)).isEmpty();
            assertThat(new HashSet<>(attempts.stream().map(Attempt::ids).toList()))
                    .hasSize(PROCESSES * THREADS * count);
            assertThat(log.check(FileWriter.KEY)).isEmpty();
            assertThat(log.branches(FileWriter.KEY)).hasSize(1);
            Tell.line("%d messages of %d writers, none lost or doubled", stored.size(), PROCESSES * THREADS);
        }
    }

    @Test
    @ExpectedLog(maybe = "have no end of a line")
    void what_was_acknowledged_survives_a_kill_and_batches_are_whole() throws Exception {
        int kills = Counts.of(2, 200);
        List<Attempt> attempts = new ArrayList<>();
        Deque<Child> writers = new ArrayDeque<>();
        try {
            for (int kill = 0; kill < kills; kill++) {
                while (writers.size() < PROCESSES) {
                    writers.add(Child.start(FileWriter.class, root(), "k" + kill + "-" + writers.size(), 4, 1_000_000));
                }
                Child killed = writers.remove();
                // Some way into its work, each time another, while the other one writes.
                for (int i = 0; i < 10 + kill % 23; i++) {
                    attempts.add(Attempt.of(killed.line()));
                }
                List<String> rest = killed.kill();
                // The last line may have been cut by the kill.
                rest.stream().limit(Math.max(0, rest.size() - 1L)).forEach(line -> attempts.add(Attempt.of(line)));
            }
        } finally {
            writers.forEach(Child::close);
        }

        try (MessageLog log = FileMessageLog.in(root())) {
            List<Stored> stored = stored(log);
            Set<String> ids = new HashSet<>();
            stored.forEach(message -> assertThat(ids.add(message.id())).isTrue());
            for (Attempt attempt : attempts) {
                assertThat(ids).containsAll(attempt.ids());
            }
            // What was not acknowledged is there as a whole or not at all, and all of it on one branch.
            for (Stored message : stored) {
                String batch = message.id().substring(0, message.id().lastIndexOf('-'));
                int last = Integer.parseInt(batch.substring(batch.lastIndexOf('-') + 1)) % 3;
                assertThat(ids).contains(batch + "-0", batch + "-" + last);
            }
            assertThat(log.branches(FileWriter.KEY)).hasSize(1);
            assertThat(log.check(FileWriter.KEY)).isEmpty();
            long torn = Files.exists(Names.of(root(), FileWriter.KEY).torn())
                    ? Files.size(Names.of(root(), FileWriter.KEY).torn())
                    : 0;
            Tell.line(
                    "%d kills: %d batches acknowledged, all there; %d messages stored; %d torn bytes moved",
                    kills, attempts.size(), stored.size(), torn);
        }
    }

    private static List<Stored> stored(MessageLog log) {
        List<LoggedMessage> all = LogTesting.history(log, FileWriter.KEY);
        return all.stream()
                .map(message -> new Stored(message.id(), message.parentId(), message.sequence()))
                .toList();
    }

    private Path root() {
        return directory.resolve("log");
    }
}
