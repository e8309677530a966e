package io.github.keepsake4j.memories;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("landing")
class MemoryProcessesTest {

    @TempDir
    Path directory;

    /** Each message was processed once, in order, and each passage has its memories. */
    private static void checkComplete(LongTermMemoryStore store, int messages) {
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            List<Progress.Step> path = store.progress(CreatingProcess.KEY, kind).path();
            List<String> covered = path.stream()
                    .flatMap(step -> step.passage().messageIds().stream())
                    .toList();
            assertThat(covered).isEqualTo(ids(covered.size())).hasSizeGreaterThan(messages - 5);
            List<MadeMemory> memories = kind == MadeMemory.Kind.CHUNK
                    ? store.chunks(CreatingProcess.KEY, Integer.MAX_VALUE)
                    : store.facts(CreatingProcess.KEY, Integer.MAX_VALUE);
            int each = kind == MadeMemory.Kind.CHUNK ? 1 : 2;
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

    /** The default build starts processes on one home. */
    static List<String> shared() {
        return List.of("PostgreSQL", "files").subList(0, Counts.of(1, 2));
    }

    private String stores(String storage) throws SQLException {
        return storage.equals("files") ? directory.toString() : SharedStores.inPostgres();
    }

    @ParameterizedTest
    @MethodSource("shared")
    void two_creators_in_two_processes_make_no_duplicates(String storage) throws Exception {
        int messages = Counts.of(40, 600);
        String name = stores(storage);
        try (Child other = Child.start(CreatingProcess.class, name, messages);
                SharedStores stores = SharedStores.open(name)) {
            assertThat(other.line()).isEqualTo("made");
            CreatingProcess.run(stores.memories, messages, false);
            assertThat(other.awaitEnd()).last().isEqualTo("done");
            checkComplete(stores.memories, messages);
        }
    }

    @ParameterizedTest
    @MethodSource("shared")
    void of_a_process_that_is_killed_again_and_again_no_chunk_is_there_twice_and_none_is_missing(String storage)
            throws Exception {
        int kills = Counts.of(1, 100);
        int messages = Counts.of(40, 600);
        String name = stores(storage);
        Random random = new Random(1);
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = Child.start(CreatingProcess.class, name, messages)) {
                killed(child, 3, random);
            }
        }
        try (SharedStores stores = SharedStores.open(name)) {
            CreatingProcess.run(stores.memories, messages, false);
            checkComplete(stores.memories, messages);
        }
    }

    /** The default build makes memories of one kind. */
    static List<MadeMemory.Kind> kinds() {
        return List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT).subList(0, Counts.of(1, 2));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void a_process_that_is_killed_in_a_try_loses_no_count_of_those_that_failed(MadeMemory.Kind kind) throws Exception {
        Map<String, MadeMemory.Kind> homes = Map.of(stores("files"), kind, stores("PostgreSQL"), kind);
        for (int kill = 0; kill < 2; kill++) {
            // Two tries fail in each process, and it is killed in the next one.
            List<String> lines = killedWhenAllHang(kill == 0 ? 4 : 3, false, homes, 6);
            for (String home : List.of("0", "1")) {
                assertThat(lines)
                        .filteredOn(line -> line.startsWith(home))
                        .containsExactly(home + " failed", home + " failed", home + " hangs");
            }
        }
        for (String name : homes.keySet()) {
            assertNoCountIsLost(name, kind);
        }
    }

    /** Starts a process that makes memories on some homes, and kills it behind some lines. */
    private static List<String> killedWhenAllHang(
            int call, boolean isLong, Map<String, MadeMemory.Kind> homes, int count) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(call, isLong));
        homes.forEach((name, kind) -> arguments.addAll(List.of(name, kind)));
        List<String> lines = new ArrayList<>();
        try (Child child = Child.start(HangingProcess.class, arguments.toArray())) {
            while (lines.size() < count) {
                lines.add(child.line());
            }
            child.kill();
        }
        return lines;
    }

    private static void assertNoCountIsLost(String name, MadeMemory.Kind kind) {
        try (SharedStores stores = SharedStores.open(name)) {
            List<String> sent = new ArrayList<>();
            Discussion.Run run = FailingPassages.discussion(stores.memories, CreatingProcess.KEY, kind, inputs -> {
                        sent.add(FailingPassages.word(inputs));
                        return FailingPassages.answerOrFail(kind, inputs);
                    })
                    .qualityMemory(FailingPassages.CHAT);
            assertThat(sent).as(name).containsExactly("poison", "three", "four");
            assertThat(run.problems()).as(name).hasSize(1);
            assertThat(FailingPassages.shown(stores.memories, CreatingProcess.KEY, kind))
                    .as(name)
                    .containsExactly("one", "three", "four");
        }
    }

    @Test
    void a_process_that_is_killed_after_a_part_of_a_long_message_has_stored_all_parts_or_none() throws Exception {
        Map<String, MadeMemory.Kind> homes =
                Map.of(stores("files"), MadeMemory.Kind.CHUNK, stores("PostgreSQL"), MadeMemory.Kind.FACT);
        // The sixth call is of the messages behind it.
        for (int call : Counts.isFull() ? List.of(2, 3, 4, 5, 6) : List.of(4, 6)) {
            assertThat(killedWhenAllHang(call, true, homes, 2)).containsExactlyInAnyOrder("0 hangs", "1 hangs");
            homes.forEach((name, kind) -> {
                try (SharedStores stores = SharedStores.open(name)) {
                    assertThat(FailingPassages.shown(stores.memories, CreatingProcess.KEY, kind))
                            .as(name)
                            .hasSize(call == 6 ? 5 : 0);
                }
            });
        }
        homes.forEach(MemoryProcessesTest::assertAllPartsAreStored);
    }

    private static void assertAllPartsAreStored(String name, MadeMemory.Kind kind) {
        try (SharedStores stores = SharedStores.open(name)) {
            List<String> sent = new ArrayList<>();
            FailingPassages.discussion(stores.memories, CreatingProcess.KEY, kind, inputs -> {
                        sent.add(inputs.get(0));
                        return FailingPassages.repeat(kind, inputs);
                    })
                    .qualityMemory(FailingPassages.LONG_CHAT);
            assertThat(sent).as(name).containsExactly("User: yes\nUser: yes");
            List<String> shown = FailingPassages.shown(stores.memories, CreatingProcess.KEY, kind);
            assertThat(String.join(" ", shown.subList(0, 5))).isEqualTo(String.join(" ", FailingPassages.SENTENCES));
            assertThat(stores.memories.progress(CreatingProcess.KEY, kind).path())
                    .extracting(step -> step.passage().messages())
                    .containsExactly(1, 2);
        }
    }

    /** Kills a process now and then in the middle of a write. */
    private static void killed(Child child, int mostLines, Random random) throws Exception {
        for (int lines = 1 + random.nextInt(mostLines); lines > 0; lines--) {
            child.line();
        }
        for (int spins = random.nextInt(20_000); spins > 0; spins--) {
            Thread.onSpinWait();
        }
        child.kill();
    }

    @ParameterizedTest
    @MethodSource("shared")
    void of_a_process_that_is_killed_while_creators_run_in_its_background_no_chunk_is_there_twice_and_none_is_missing(
            String storage) throws Exception {
        int kills = Counts.of(1, 100);
        String name = stores(storage);
        Random random = new Random(2);
        for (int kill = 0; kill < kills; kill++) {
            try (Child child = Child.start(RememberingProcess.class, name)) {
                killed(child, 20, random);
            }
        }
        try (SharedStores stores = SharedStores.open(name);
                MessageLog log = stores.newLog()) {
            Keepsake keepsake = RememberingProcess.keepsake(stores, log, Duration.ofDays(1), passage -> {});
            int messages = 0;
            int chunks = 0;
            for (String id : RememberingProcess.CONVERSATIONS) {
                RememberingProcess.turn(keepsake, id);
                keepsake.longTermMemories().make(id);
                List<String> ids = keepsake.conversation(id).branch(1_000_000).messages().stream()
                        .map(LoggedMessage::id)
                        .toList();
                MemoryKey key = ConversationKey.of("default", id);
                List<Progress.Step> path =
                        stores.memories.progress(key, MadeMemory.Kind.CHUNK).path();
                List<String> covered = path.stream()
                        .flatMap(step -> step.passage().messageIds().stream())
                        .toList();
                assertThat(covered).hasSizeGreaterThan(ids.size() - 5).isEqualTo(ids.subList(0, covered.size()));
                List<MadeMemory> made = stores.memories.chunks(key, Integer.MAX_VALUE);
                assertThat(made.stream().map(MadeMemory::source))
                        .containsExactlyElementsOf(
                                path.stream().map(Progress.Step::passage).toList());
                assertThat(stores.memories.summary(key)).isNotNull();
                messages += ids.size();
                chunks += made.size();
            }
            Tell.line(
                    "memories in %s: %d kills with creators in the background, %d messages, %d chunks",
                    storage, kills, messages, chunks);
        }
    }
}
