package io.github.keepsake4j.recall.memories;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.recall.jdbc.FileMemoryStore;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryProcessesTest {

    @TempDir
    Path directory;

    /** Each message was processed once, in order, and each passage has its memories. */
    private static void checkComplete(MemoryStore store, int messages) {
        for (MemoryKind kind : List.of(MemoryKind.CHUNK, MemoryKind.FACT)) {
            List<Step> path = store.progress(CreatingProcess.KEY, kind).path();
            List<String> covered = path.stream()
                    .flatMap(step -> step.passage().messageIds().stream())
                    .toList();
            assertThat(covered).isEqualTo(ids(covered.size())).hasSizeGreaterThan(messages - 5);
            List<MadeMemory> memories = kind == MemoryKind.CHUNK
                    ? store.chunks(CreatingProcess.KEY, Integer.MAX_VALUE)
                    : store.facts(CreatingProcess.KEY, Integer.MAX_VALUE);
            int each = kind == MemoryKind.CHUNK ? 1 : 2;
            assertThat(memories).hasSize(path.size() * each);
            for (int i = 0; i < memories.size(); i++) {
                assertThat(memories.get(i).source())
                        .isEqualTo(path.get(i / each).passage());
            }
        }
    }

    private static List<String> ids(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> "m" + i).toList();
    }

    @Test
    void two_creators_in_two_processes_make_no_duplicates() throws Exception {
        int messages = Counts.of(40, 600);
        try (Child other = Child.start(CreatingProcess.class, directory, messages);
                MemoryStore store = FileMemoryStore.of(directory)) {
            assertThat(other.line()).isEqualTo("made");
            CreatingProcess.run(store, messages, false);
            assertThat(other.awaitEnd()).last().isEqualTo("done");
            checkComplete(store, messages);
        }
    }

    @Test
    void of_a_process_that_is_killed_again_and_again_no_chunk_is_there_twice_and_none_is_missing() throws Exception {
        int kills = Counts.of(2, 100);
        int messages = Counts.of(40, 600);
        Random random = new Random(1);
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = Child.start(CreatingProcess.class, directory, messages)) {
                for (int lines = 1 + random.nextInt(3); lines > 0; lines--) {
                    child.line();
                }
                // Now and then in the middle of a write.
                for (int spins = random.nextInt(20_000); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                child.kill();
            }
        }
        try (MemoryStore store = FileMemoryStore.of(directory)) {
            CreatingProcess.run(store, messages, false);
            checkComplete(store, messages);
        }
    }
}
