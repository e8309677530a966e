package io.github.keepsake4j.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A node's loop whose iterations are processes of their own on one store, some of them killed. */
@Tag("landing")
@Timeout(600)
class LoopProcessesTest {

    private static final int ITERATIONS = Counts.of(2, 5);

    @TempDir
    Path directory;

    /** The default build starts processes on one home. */
    static List<String> kinds() {
        return List.of("s3", "sqlite", "postgres").subList(0, Counts.of(1, 3));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a18_equal_iterations_in_as_many_processes_see_each_other_and_are_as_many(String kind) throws Exception {
        String store = store(kind);
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < ITERATIONS; i++) {
            seen.addAll(i == 0 ? here(store, "-") : iteration(store, "-", "never"));
        }
        assertThat(seen)
                .containsExactlyElementsOf(List.of("0", "2", "4", "6", "8").subList(0, ITERATIONS));
        assertThat(stored(store)).hasSize(2 * ITERATIONS);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a18_equal_iterations_in_as_many_processes_at_the_same_time_are_as_many(String kind) throws Exception {
        String store = store(kind);
        List<Child> children = new ArrayList<>();
        for (int i = 1; i < ITERATIONS; i++) {
            children.add(Child.start(LoopProcess.class, store, "m1", "-", "never"));
        }
        // This iteration has read before another one writes, and writes when that one has read.
        LoopProcess.onLog(
                store,
                log -> LoopProcess.iterate(log, "m1", "-", "never", seen -> assertThat(children.get(0))
                        .satisfies(other -> assertThat(other.line()).isNotNull())));
        for (Child child : children) {
            child.awaitEnd();
        }
        assertThat(stored(store)).hasSize(2 * ITERATIONS);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a18_a_process_that_is_killed_and_repeated_with_its_run_key_is_one_iteration(String kind) throws Exception {
        String store = store(kind);
        assertThat(here(store, "run-1")).containsExactly("0");
        assertThat(iteration(store, "run-2", "before")).containsExactly("2");
        assertThat(iteration(store, "run-2", "after")).containsExactly("2");
        assertThat(here(store, "run-2")).containsExactly("2");
        assertThat(here(store, "run-3")).containsExactly("4");
        assertThat(stored(store))
                .extracting(LoggedMessage::message)
                .filteredOn(AiMessage.class::isInstance)
                .extracting(message -> ((AiMessage) message).text())
                .containsExactly("draft of run-1never", "draft of run-2after", "draft of run-3never");
    }

    private String store(String kind) throws Exception {
        return switch (kind) {
            case "s3" -> {
                S3Server server = S3Server.shared();
                yield "s3:" + server.port() + ":" + server.newBucket();
            }
            case "postgres" ->
                "postgres:" + Postgres.newest().port() + ":" + Postgres.newest().newDatabase();
            default -> "sqlite::" + directory.resolve("log.db");
        };
    }

    /** Runs an iteration in this process, whose log is as new as another process's. */
    private static List<String> here(String store, String run) {
        List<String> seen = new ArrayList<>();
        LoopProcess.onLog(store, log -> LoopProcess.iterate(log, "m1", run, "never", seen::add));
        return seen;
    }

    private static List<String> iteration(String store, String run, String killed) throws Exception {
        return Child.start(LoopProcess.class, store, "m1", run, killed).awaitEnd();
    }

    private static List<LoggedMessage> stored(String store) {
        List<LoggedMessage> stored = new ArrayList<>();
        LoopProcess.onLog(
                store,
                log -> stored.addAll(
                        log.history(LoopProcess.KEY, HistoryQuery.oldest(100)).messages()));
        return stored;
    }
}
