package io.github.keepsake4j.log.file;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.branch;
import static io.github.keepsake4j.log.LogTesting.history;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Logs;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that each version wrote, with fields and a line that a later version added. They are never changed. */
class FileFormatTest {

    private static final Instant AT = Instant.parse("2026-01-02T03:04:05.123456Z");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void a_file_of_each_version_is_read_with_all_that_it_holds(int version) throws Exception {
        FileFixture files = new FileFixture(directory);
        Files.createDirectories(files.names().directory());
        files.write(golden(version).getBytes(StandardCharsets.UTF_8));

        try (MessageLog log = files.open()) {
            assertThat(history(log, KEY).stream().map(LoggedMessage::message))
                    .containsExactly(
                            SystemMessage.from("Be brief."),
                            UserMessage.from("Hello, \u00e9\ud83d\ude00 \ud83d!"),
                            AiMessage.from("Hi."),
                            UserMessage.from("Again"),
                            AiMessage.from("Hey."),
                            UserMessage.from("In a tab"));
            assertThat(history(log, KEY))
                    .extracting(LoggedMessage::outcome)
                    .containsExactly(
                            null, null, null, Outcome.failed("java.io.IOException"), Outcome.incomplete("cut"), null);
            assertThat(history(log, KEY)).extracting(LoggedMessage::createdAt).containsOnly(AT);
            assertThat(branch(log, KEY)).containsExactly("s", "q1", "a1");
            Tail tab = log.read(KEY, ReadQuery.wholeBranch().onBranch("tab 2"));
            assertThat(tab.position()).isEqualTo(new Position(1, 4, "q3"));
            assertThat(tab.view()).isEqualTo(new View("a2", 5, List.of(new View.Run(null, "q1")), null));
            assertThat(Objects.requireNonNull(tab.system()).id()).isEqualTo("s");
            assertThat(Logs.summaries(log, KEY))
                    .containsExactly(
                            new Summary("a1", "They greeted.", 3, "words", 3, 12, "a model", AT).withVersion(1));
            assertThat(Logs.made(log, KEY, "a1"))
                    .contains(new Made(
                            new Seen(List.of(new Seen.Range(1, 2)), List.of(), 0, false), new Usage(10, 2, 1)));
            MemoryInfo info = log.list("acme", ListQuery.first(1)).memories().get(0);
            assertThat(info).isEqualTo(new MemoryInfo(KEY, "A title", Map.of("user", "7"), 6, 24, AT, AT, AT));
            assertThat(log.check(KEY)).isEmpty();
        }
    }

    @Test
    void an_outcome_of_a_later_versions_kind_is_ignored() throws Exception {
        FileFixture files = new FileFixture(directory);
        try (MessageLog log = files.open()) {
            log.append(
                    KEY, Append.underHead(message("a", AiMessage.from("Hi")).withOutcome(Outcome.incomplete("cut"))));
        }
        files.write(new String(files.bytes(), StandardCharsets.UTF_8)
                .replace("INCOMPLETE", "LATER_KIND")
                .getBytes(StandardCharsets.UTF_8));
        try (MessageLog log = files.open()) {
            assertThat(history(log, KEY)).extracting(LoggedMessage::outcome).containsOnlyNulls();
        }
    }

    @Test
    void the_same_calls_write_the_same_lines() throws Exception {
        FileFixture files = new FileFixture(directory);
        try (MessageLog log = FileMessageLog.builder()
                .directory(files.root())
                .clock(Clock.fixed(AT, ZoneOffset.UTC))
                .build()) {
            log.append(
                    KEY,
                    Append.underHead(
                            message("s", SystemMessage.from("Be brief.")),
                            message("q1", UserMessage.from("Hello, \u00e9\ud83d\ude00 \ud83d!")),
                            message("a1", AiMessage.from("Hi."))
                                    .withUsage(new Usage(10, 2, 1))
                                    .withSeen(new Seen(Seen.ranges(List.of(1L, 2L)), List.of(), 0, false))));
            log.append(KEY, Append.underHead(message("q2", UserMessage.from("Again"))));
            NewMessage cut = message("a2", AiMessage.from("Hey.")).withOutcome(Outcome.incomplete("cut"));
            log.append(
                    KEY,
                    Append.under(Parent.of("q1"), List.of(cut))
                            .withView(View.of(null, List.of(new View.Run(null, "q1")))));
            log.append(
                    KEY,
                    Append.underHead(message("q3", UserMessage.from("In a tab")))
                            .onBranch("tab 2"));
            Logs.putSummary(log, KEY, new Summary("a1", "They greeted.", 3, "words", 3, 12, "a model", AT), 1);
            Logs.setOutcome(log, KEY, "q2", Outcome.failed("java.io.IOException"), null);
            Logs.describe(log, KEY, "A title", Map.of("user", "7"));
            Logs.moveHead(log, KEY, "a1", null);
        }
        List<String> golden = golden(2)
                .lines()
                .filter(line -> !line.contains("later version"))
                .map(line -> line.replace("\"later\":{\"x\":[1,\"y\"]},", "").replace("\"newer\":true,", ""))
                .toList();
        List<String> lines = files.lines();
        assertThat(lines.get(0).replaceAll("\"file\":\"[^\"]*\"", ""))
                .isEqualTo(golden.get(0).replaceAll("\"file\":\"[^\"]*\"", ""));
        assertThat(lines.subList(1, lines.size())).isEqualTo(golden.subList(1, golden.size()));
    }

    @Test
    void a_directory_of_version_1_opens_and_its_other_files_are_removed() throws Exception {
        FileFixture files = new FileFixture(directory);
        Path tenant = Files.createDirectories(files.names().directory());
        files.write(golden(1).getBytes(StandardCharsets.UTF_8));
        Names away = Names.of(files.root(), ConversationKey.of("acme", "away"));
        for (String old : List.of(files.names().base() + ".idx", files.names().base() + ".side", "list.idx")) {
            Files.write(tenant.resolve(old), new byte[100]);
        }
        Files.write(tenant.resolve(away.base() + ".idx"), new byte[100]);

        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).containsExactly("s", "q1", "a1");
            assertThat(log.list("acme", ListQuery.first(9)).memories()).hasSize(1);
            assertThatThrownBy(() -> branch(log, ConversationKey.of("acme", "away")))
                    .isInstanceOf(StorageUnavailableException.class)
                    .hasMessageContaining("was removed");
            log.append(KEY, LogTesting.batch("next"));
        }
        try (Stream<Path> paths = Files.list(tenant)) {
            assertThat(paths.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            files.names().data().getFileName().toString(), "list.jsonl");
        }
        List<String> lines = files.lines();
        assertThat(lines.get(0)).as("an older version refuses it").startsWith("{\"keepsake\":2,");
        assertThat(lines.get(lines.size() - 1)).contains("\"totals\":{\"messages\":7,\"tokens\":34,");
        assertThat(lines.subList(1, lines.size() - 1))
                .isEqualTo(golden(1).lines().skip(1).toList());
        try (MessageLog log = files.open()) {
            assertThat(branch(log, KEY)).endsWith("a1", "next");
            assertThat(log.check(KEY)).isEmpty();
        }
    }

    @Test
    void a_later_version_is_refused_by_name() throws Exception {
        FileFixture files = new FileFixture(directory);
        Files.createDirectories(files.names().directory());
        files.write(golden(2).replaceFirst("\"keepsake\":2", "\"keepsake\":3").getBytes(StandardCharsets.UTF_8));
        try (MessageLog log = files.open()) {
            assertThatThrownBy(() -> branch(log, KEY))
                    .isInstanceOf(UnreadableDataException.class)
                    .hasMessageContaining("version 3");
        }
    }

    private static NewMessage message(String id, ChatMessage message) {
        return new NewMessage(id, message, 4, "words", null);
    }

    private static String golden(int version) throws Exception {
        try (InputStream in = FileFormatTest.class.getResourceAsStream("golden-v" + version + ".jsonl")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
