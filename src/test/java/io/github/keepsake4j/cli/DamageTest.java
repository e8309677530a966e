package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.cli.Shell.Result;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A line of a file log that something else has changed: what is sound beside it stays usable. */
class DamageTest {

    @TempDir
    Path directory;

    private final Shell shell = new Shell();

    /** Makes conversations a to d, and damages b. */
    private void log() throws IOException {
        shell.log("file:" + directory.resolve("chats"));
        for (String session : List.of("a", "b", "c", "d")) {
            shell.good("add", "--session", session, "--content", "Question " + session);
            shell.good("add", "--session", session, "--role", "assistant", "--content", "Answer " + session);
        }
        try (Stream<Path> files = Files.walk(directory.resolve("chats"))) {
            Path data = files.filter(file -> file.getFileName().toString().matches("b-.*\\.jsonl"))
                    .findFirst()
                    .orElseThrow();
            List<String> lines = Files.readAllLines(data);
            lines.set(2, lines.get(2).replace("\"messages\"", "\"mess"));
            Files.write(data, lines);
        }
    }

    @Test
    void a_damaged_file_is_checked_and_repaired() throws IOException {
        log();
        Result check = shell.run("check", "--session", "b");
        assertThat(check.code()).isEqualTo(3);
        assertThat(check.out()).startsWith("damaged  b\n").endsWith("1 memory checked, 1 damaged\n");

        assertThat(shell.good("repair", "--session", "b").out()).startsWith("repaired  b\n");
        // A question whose answer cannot be read leaves the view with it.
        assertThat(shell.good("get", "--session", "b").lines()).startsWith("0 messages, 0 tokens");
        // The line that was passed over stays in the file.
        assertThat(shell.good("export").out()).contains("Question b").doesNotContain("Answer b");
    }

    @Test
    void a_damaged_file_can_be_erased() throws IOException {
        log();
        assertThat(shell.good("erase", "--session", "b").out()).isEqualTo("erased  b\n");
        assertThat(shell.good("list").lines()).hasSize(4);
    }

    /** Damage that is met only when a part of the memory was read already. */
    @Test
    void an_export_has_no_line_of_a_damaged_memory_and_a_large_one_is_whole() throws Exception {
        String uri = "sqlite:" + directory.resolve("chat.db");
        shell.log(uri);
        for (int size : new int[] {10, 3_000}) {
            for (String state : List.of("sound", "damaged")) {
                try (MessageLog log = new LogUri("log", uri, true, false, name -> null).open()) {
                    List<NewMessage> messages = new ArrayList<>();
                    for (int i = 0; i < 600; i++) {
                        messages.add(NewMessage.of(UserMessage.from(state + "x".repeat(size)), 1, "words"));
                    }
                    log.append(ConversationKey.of("default", state + size), Append.under(Parent.head(), messages));
                }
            }
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("chat.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE keepsake_message SET message = '{' WHERE seq = 590 AND message LIKE '%damaged%'");
        }
        Result export = shell.run("export");
        assertThat(export.err()).isEqualTo("keepsake: 2 memories could not be read; the command check lists them\n");
        assertThat(export.code()).isEqualTo(3);
        assertThat(export.out()).contains("soundx").doesNotContain("damagedx");
        assertThat(shell.input(export.out()).good("import", "--log", "memory:").out())
                .isEqualTo("2 memories with 1,200 messages imported and compared\n");

        Result text = shell.run("export", "--format", "markdown", "--session", "damaged10");
        assertThat(text.out()).endsWith("**The rest of this memory is damaged and cannot be read.**\n\n");
        assertThat(text.code()).isEqualTo(3);
    }

    @Test
    void a_copy_passes_over_what_is_damaged() throws IOException {
        log();
        String note = "keepsake: 1 memory could not be read; the command check lists them\n";
        String to = "sqlite:" + directory.resolve("copy.db");
        assertThat(shell.run("copy", "--from", "file:" + directory.resolve("chats"), "--to", to))
                .isEqualTo(new Result(3, "3 memories with 6 messages copied and compared\n", note));
        for (String session : List.of("a", "c", "d")) {
            assertThat(shell.good("get", "--log", to, "--session", session).lines())
                    .startsWith("user       Question " + session);
        }

        Result export = shell.run("export");
        assertThat(export.code()).isEqualTo(3);
        assertThat(export.err()).isEqualTo(note);
        assertThat(export.out()).doesNotContain("Question b");
        assertThat(shell.input(export.out()).good("import", "--log", "memory:").out())
                .isEqualTo("3 memories with 6 messages imported and compared\n");

        Result text = shell.run("export", "--format", "markdown");
        assertThat(text.code()).isEqualTo(3);
        assertThat(text.err()).isEqualTo(note);
        assertThat(text.out()).contains("Answer a", "Answer c", "Answer d");
    }
}
