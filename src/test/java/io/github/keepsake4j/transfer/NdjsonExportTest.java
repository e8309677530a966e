package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Logs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** What goes out as lines comes in as it was, or as an error that names the line. */
class NdjsonExportTest {

    private static final MemoryKey KEY = MemoryCopyTest.key(1);

    private static byte[] lines(MessageLog log) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NdjsonExport.of(log).writeTenant("acme", out);
        return out.toByteArray();
    }

    private static List<String> split(byte[] lines) {
        return new String(lines, StandardCharsets.UTF_8).lines().toList();
    }

    private static MemoryCopy.Report read(byte[] lines, MessageLog log) throws IOException {
        return NdjsonExport.of(log).read(new ByteArrayInputStream(lines));
    }

    private static MemoryCopy.Report read(List<String> lines, MessageLog log) throws IOException {
        return read((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8), log);
    }

    private static void assertSame(MessageLog one, MessageLog other, int memories, String what) {
        for (int i = 0; i < memories; i++) {
            MemoryCopyTest.assertSame(one, other, MemoryCopyTest.key(i), what);
        }
    }

    @ParameterizedTest
    @Homes
    void e3_memories_are_the_same_out_and_in(Home home) throws Exception {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        int memories = Counts.of(2, home.counts(4, 100));
        MessageLog first = MemoryCopyTest.filled(seed, memories, Counts.of(20, 60));
        byte[] lines = lines(first);
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            MemoryCopy.Report report = read(lines, log);
            assertThat(report.memories()).as("seed %d", seed).isEqualTo(memories);
            assertSame(first, log, memories, "seed " + seed);
            assertThat(split(lines(log))).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(split(lines));
            List<String> stored = split(lines(log));
            assertThat(read(lines, log)).as("again, seed %d", seed).isEqualTo(report);
            assertThat(split(lines(log))).as("again, seed %d", seed).isEqualTo(stored);
        }
    }

    /** What a released version wrote stays readable: the file's lines are never changed. */
    @Test
    void e3_the_format_is_that_of_the_golden_file() throws Exception {
        String golden = GoldenMemory.file("golden-v1.ndjson");
        assertThat(new String(lines(GoldenMemory.log()), StandardCharsets.UTF_8))
                .isEqualTo(golden);
        MessageLog log = new InMemoryMessageLog();
        assertThat(read(golden.getBytes(StandardCharsets.UTF_8), log).memories())
                .isEqualTo(2);
        MemoryCopyTest.assertSame(GoldenMemory.log(), log, GoldenMemory.KEY, "golden");
        MemoryCopyTest.assertSame(GoldenMemory.log(), log, GoldenMemory.NODE, "golden");
    }

    @Test
    void e3_an_export_that_was_cut_anywhere_is_an_error_and_the_whole_one_goes_on() throws Exception {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        for (int run = 0; run < Counts.of(5, 300); run++) {
            long seed = first + run;
            MessageLog source = MemoryCopyTest.filled(seed, 2, 40);
            byte[] lines = lines(source);
            MessageLog target = new InMemoryMessageLog();
            Random random = new Random(seed);
            for (int tries = 0; tries < 5; tries++) {
                byte[] cut = Arrays.copyOf(lines, random.nextInt(lines.length - 1));
                long number = 1 + split(cut).size();
                assertThatThrownBy(() -> read(cut, target))
                        .as("seed %d, %d bytes", seed, cut.length)
                        .isInstanceOf(InvalidInputException.class)
                        .message()
                        .containsAnyOf("line " + number + ":", "line " + (number - 1) + ":");
            }
            read(lines, target);
            assertSame(source, target, 2, "seed " + seed);
        }
    }

    @Test
    void e3_a_line_that_is_missing_doubled_moved_or_changed_is_an_error() throws Exception {
        List<String> lines = split(lines(MemoryCopyTest.filled(3, 2, Counts.of(15, 40))));
        Random random = new Random(3);
        // The last line has nothing behind it, and without it the export is cut.
        for (int at = 0; at < lines.size() - 1; at++) {
            List<String> missing = new ArrayList<>(lines);
            missing.remove(at);
            assertThatThrownBy(() -> read(missing, new InMemoryMessageLog()))
                    .as("without line %d", at + 1)
                    .isInstanceOf(KeepsakeException.class);
            List<String> foreign = new ArrayList<>(lines);
            foreign.set(at, "{\"text\": \"secret\"}");
            assertThatThrownBy(() -> read(foreign, new InMemoryMessageLog()))
                    .as("foreign line %d", at + 1)
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("line " + (at + 1) + ":")
                    .hasMessageNotContaining("secret");
            String line = lines.get(at);
            if (at > 0 && !line.contains("\"kind\":\"end\"")) {
                List<String> changed = new ArrayList<>(lines);
                int place = random.nextInt(line.length());
                changed.set(at, line.substring(0, place) + '7' + line.substring(place + 1));
                if (!changed.equals(lines)) {
                    assertThatThrownBy(() -> read(changed, new InMemoryMessageLog()))
                            .as("line %d changed", at + 1)
                            .isInstanceOf(KeepsakeException.class);
                }
            }
        }
    }

    @Test
    void e3_lines_that_were_edited_are_read_without_their_hash_and_only_with_their_number() throws Exception {
        List<String> lines = new ArrayList<>();
        split(lines(GoldenMemory.log()))
                .forEach(line -> lines.add(
                        line.replaceFirst(",\"sha256\":\"[^\"]*\"", "").replace("Be brief.", "Be nice.")));
        MessageLog log = new InMemoryMessageLog();
        read(lines, log);
        assertThat(Logs.find(log, GoldenMemory.KEY, List.of("s1")).get(0).message())
                .isEqualTo(SystemMessage.from("Be nice."));
        lines.removeIf(line -> line.contains("Imported."));
        assertThrown(
                InvalidInputException.class,
                () -> read(lines, new InMemoryMessageLog()),
                "line 22:",
                "9 messages of 10");
    }

    @Test
    void e3_a_memory_that_was_changed_since_is_not_the_one_that_was_read() throws Exception {
        MessageLog log = GoldenMemory.log();
        byte[] lines = lines(log);
        Logs.setOutcome(log, GoldenMemory.KEY, "a3", Outcome.incomplete("cut"), null);
        assertThrown(KeepsakeException.class, () -> read(lines, log), GoldenMemory.KEY.toString());
    }

    @Test
    void e3_a_target_with_other_messages_is_refused_and_unchanged() throws Exception {
        byte[] lines = lines(MemoryCopyTest.filled(1, 2, 10));
        MessageLog target = new InMemoryMessageLog();
        target.append(KEY, Append.underHead(NewMessage.of(UserMessage.from("secret"), 1, "words")));
        assertThrown(KeepsakeException.class, () -> read(lines, target), KEY.toString())
                .hasMessageNotContaining("secret");
        assertThat(target.history(KEY, HistoryQuery.oldest(10)).messages()).hasSize(1);
    }

    @Test
    void e3_a_memory_that_has_grown_since_is_refused_and_unchanged() throws Exception {
        MessageLog log = MemoryCopyTest.filled(1, 2, 10);
        byte[] lines = lines(log);
        log.append(KEY, Append.underHead(NewMessage.of(UserMessage.from("late"), 1, "words")));
        List<String> before = split(lines(log));
        assertThrown(KeepsakeException.class, () -> read(lines, log), KEY.toString());
        assertThat(split(lines(log))).isEqualTo(before);
    }

    @Test
    void e3_a_memory_that_was_erased_in_the_target_stays_erased() throws Exception {
        byte[] lines = lines(MemoryCopyTest.filled(1, 2, 10));
        MessageLog target = new InMemoryMessageLog();
        target.erase(KEY);
        MemoryCopy.Report report = read(lines, target);
        assertThat(report.erased()).containsExactly(KEY);
        assertThat(report.memories()).isEqualTo(1);
        assertThat(target.history(KEY, HistoryQuery.oldest(10)).messages()).isEmpty();
    }

    @Test
    void e3_a_memory_that_is_erased_while_it_is_written_is_an_error() {
        MessageLog log = MemoryCopyTest.filled(1, 2, 10);
        assertThrown(
                KeepsakeException.class,
                () -> NdjsonExport.of(log)
                        .onProgress(progress -> log.erase(progress.memory()))
                        .writeMemory(KEY, new ByteArrayOutputStream()),
                "erased");
    }

    @Test
    void e3_exports_may_follow_one_another_and_lines_may_end_as_on_windows() throws Exception {
        MessageLog source = MemoryCopyTest.filled(5, 3, 20);
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 3; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            NdjsonExport.of(source).writeMemory(MemoryCopyTest.key(i), out);
            all.append(out.toString(StandardCharsets.UTF_8).replace("\n", "\r\n"));
        }
        MessageLog target = new InMemoryMessageLog();
        assertThat(read(all.toString().getBytes(StandardCharsets.UTF_8), target).memories())
                .isEqualTo(3);
        assertSame(source, target, 3, "one after another");
    }

    @Test
    void e3_what_a_newer_version_adds_is_ignored() throws Exception {
        MessageLog source = MemoryCopyTest.filled(7, 1, 20);
        List<String> newer = new ArrayList<>();
        for (String line : split(lines(source))) {
            newer.add(
                    line.contains("\"sha256\"")
                            ? line.replaceFirst(",\"sha256\":\"[^\"]*\"", "")
                            : line.replaceFirst("\\{\"kind\"", "{\"new\":[1],\"kind\""));
            newer.add("{\"kind\":\"newer\",\"id\":4}");
        }
        newer.remove(newer.size() - 1);
        MessageLog target = new InMemoryMessageLog();
        read(newer, target);
        assertSame(source, target, 1, "newer");
    }

    @Test
    void e3_a_cut_names_the_memory_and_what_came_before_it() throws Exception {
        List<String> lines = split(lines(GoldenMemory.log()));
        int end = lines.indexOf(lines.stream()
                .filter(line -> line.contains("\"kind\":\"end\""))
                .findFirst()
                .orElseThrow());
        List<String> whole = lines.subList(0, end + 3);
        String rest = ": the export ends within memory " + GoldenMemory.KEY
                + ". Complete memories imported before: 1. Import the whole file again; nothing is added twice";
        assertThatThrownBy(() -> read(whole, new InMemoryMessageLog()))
                .hasMessage("line " + (end + 4) + ": is missing" + rest);
        String text = String.join("\n", whole);
        byte[] torn = text.substring(0, text.length() - 7).getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> read(torn, new InMemoryMessageLog()))
                .hasMessage("line " + (end + 3) + ": is cut off" + rest);
        byte[] between = (String.join("\n", lines.subList(0, end + 1)) + "\n").getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> read(between, new InMemoryMessageLog()))
                .hasMessageContaining("line " + (end + 2) + ": is missing: the export ends before its last line. "
                        + "Complete memories imported before: 1. Import");
    }

    @Test
    void e3_what_is_no_export_says_what_it_is() {
        for (String text : List.of("Hello!\n", "{", "[]\n", "{\"a\":1}\n", "x".repeat(1 << 20))) {
            assertThatThrownBy(() -> read(text.getBytes(StandardCharsets.UTF_8), new InMemoryMessageLog()))
                    .hasMessageStartingWith("line 1: does not begin an export");
        }
        assertThatThrownBy(() -> read(new byte[0], new InMemoryMessageLog()))
                .hasMessage("line 1: is missing: the file is empty");
        assertThatThrownBy(() -> read("Hello!\n".getBytes(StandardCharsets.UTF_8), new InMemoryMessageLog()))
                .hasMessage(
                        "line 1: does not begin an export of this library, whose first line has the kind export. Import the"
                                + " whole file; for the data of another program, write an ImportSource");
        assertThatThrownBy(() -> read(new byte[] {0x1F, (byte) 0x8B, 8, 0}, new InMemoryMessageLog()))
                .hasMessage("line 1: is compressed with gzip; decompress the file first, with gunzip");
    }

    @Test
    void e3_other_files_are_refused_at_once() {
        for (String other : List.of("", "{", "[]", "{\"keepsake\":1}", "\u0000\u0001", "7\n", "x".repeat(1 << 20))) {
            assertThrown(
                            InvalidInputException.class,
                            () -> read(other.getBytes(StandardCharsets.UTF_8), new InMemoryMessageLog()))
                    .hasMessageStartingWith("line 1:");
        }
    }

    @Test
    void e3_nothing_is_an_export_without_memories() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NdjsonExport.of(new InMemoryMessageLog()).writeMemory(ConversationKey.of("acme", "none"), out);
        assertThat(split(out.toByteArray())).hasSize(2);
        assertThat(read(out.toByteArray(), new InMemoryMessageLog()).memories()).isZero();
    }

    @Test
    void e3_a_newer_export_with_more_messages_brings_their_outcomes_and_what_is_beside_them() throws Exception {
        MessageLog source = MemoryCopyTest.filled(1, 2, 10);
        MessageLog target = new InMemoryMessageLog();
        read(lines(source), target);
        String first =
                source.history(KEY, HistoryQuery.oldest(1)).messages().get(0).id();
        Logs.setOutcome(source, KEY, first, Outcome.failed("timeout"), null);
        source.append(KEY, Append.underHead(NewMessage.of(UserMessage.from("late"), 1, "words")));
        Logs.describe(source, KEY, "newer title", Map.of());
        read(lines(source), target);
        assertSame(source, target, 2, "newer");
    }

    @Test
    void e3_an_older_export_changes_nothing() throws Exception {
        MessageLog log = MemoryCopyTest.filled(1, 2, 10);
        byte[] older = lines(log);
        List<Runnable> changes = List.of(
                () -> Logs.describe(log, KEY, "renamed", Map.of("profile.name", "Ada")),
                () -> Logs.moveHead(
                        log,
                        KEY,
                        log.history(KEY, HistoryQuery.oldest(1))
                                .messages()
                                .get(0)
                                .id(),
                        null),
                () -> Logs.setOutcome(
                        log,
                        KEY,
                        log.history(KEY, HistoryQuery.newest(1))
                                .messages()
                                .get(0)
                                .id(),
                        Outcome.failed("timeout"),
                        null));
        for (Runnable change : changes) {
            change.run();
            List<String> before = split(lines(log));
            assertThrown(KeepsakeException.class, () -> read(older, log), KEY.toString());
            assertThat(split(lines(log))).isEqualTo(before);
        }
    }

    @Test
    void e3_an_import_that_broke_off_anywhere_goes_on() throws Exception {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        for (int run = 0; run < Counts.of(6, 300); run++) {
            long seed = first + run;
            Random random = new Random(seed);
            MessageLog source = new InMemoryMessageLog();
            RandomMemory memory = new RandomMemory(seed, source, KEY);
            MessageLog target = new InMemoryMessageLog();
            for (int part = 0; part < 3; part++) {
                memory.fill(30);
                byte[] lines = lines(source);
                boolean done = false;
                for (int tries = 0; !done && tries < 1_000; tries++) {
                    try {
                        read(lines, MemoryCopyTest.breaking(target, 1 + random.nextInt(20)));
                        done = true;
                    } catch (IllegalStateException e) {
                        assertThat(e).hasMessage("broken off");
                    }
                }
                MemoryCopyTest.assertSame(source, target, KEY, "seed " + seed + ", part " + part);
            }
        }
    }

    @Test
    void e3_an_export_of_a_newer_version_is_refused() throws Exception {
        List<String> newer = new ArrayList<>(split(lines(GoldenMemory.log())));
        newer.set(0, newer.get(0).replace("\"version\":1", "\"version\":2"));
        MessageLog log = new InMemoryMessageLog();
        assertThrown(InvalidInputException.class, () -> read(newer, log), "line 1:", "version");
        assertThat(Logs.details(log, GoldenMemory.KEY)).isEqualTo(MemoryDetails.NONE);
    }

    @Test
    void e3_an_edited_memory_that_names_what_is_not_there_is_an_error_with_a_line() throws Exception {
        MessageLog source = new InMemoryMessageLog();
        MemoryKey key = ConversationKey.of("acme", "c");
        source.append(
                key,
                Append.underHead(
                        new NewMessage("q", UserMessage.from("secret"), 1, "words", Instant.EPOCH),
                        new NewMessage("a", UserMessage.from("secret too"), 1, "words", Instant.EPOCH)));
        Logs.putSummary(source, key, new Summary("q", "secret", 1, "words", 1, 1, null, Instant.EPOCH), 1);
        source.append(key, Append.viewOnly(View.of(null, List.of())));
        Logs.moveBranch(source, key, "tab", "q", null);
        List<String> lines = split(lines(source)).stream()
                .map(line -> line.replaceFirst(",\"sha256\":\"[^\"]*\"", ""))
                .toList();
        List<String> names = List.of(
                "\"kind\":\"message\",\"id\":\"a\"",
                "\"covers\":\"q\"",
                "\"anchor\":\"a\"",
                "\"end\":\"q\"",
                "\"kind\":\"head\",\"id\":\"a\"");
        for (String name : names) {
            String other = name.contains("message") ? "q" : "nope";
            List<String> edited = lines.stream()
                    .map(line -> line.replace(name, name.replaceFirst("\"[qa]\"$", "\"" + other + "\"")))
                    .toList();
            assertThat(edited).as(name).isNotEqualTo(lines);
            assertThatThrownBy(() -> read(edited, new InMemoryMessageLog()))
                    .as(name)
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("line " + (lines.size() - 1) + ":")
                    .hasMessageNotContaining("secret");
        }
    }
}
