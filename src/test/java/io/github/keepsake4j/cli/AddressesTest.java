package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.cli.Shell.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files and directories that are not what an address says. A command that only looks leaves them as they are. */
class AddressesTest {

    private static final String[][] LOOKING = {
        {"list"},
        {"get", "--session", "a"},
        {"clear", "--session", "a"},
        {"history", "--session", "a"},
        {"branches", "--session", "a"},
        {"check"},
        {"repair", "--session", "a"},
        {"export"},
        {"erase", "--session", "a"},
        {"clean-up", "--idle", "1d"}
    };

    @TempDir
    Path directory;

    private final Shell shell = new Shell();

    private void refused(String problem, String... arguments) {
        Result result = shell.run(arguments);
        assertThat(result.err()).contains(problem).hasLineCount(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.code()).as(result.err()).isEqualTo(2);
    }

    @Test
    void a_foreign_sqlite_file_is_refused_and_not_changed() throws Exception {
        Path file = directory.resolve("other.db");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE other (id INTEGER)");
        }
        byte[] before = Files.readAllBytes(file);
        shell.log("sqlite:" + file);
        for (String[] command : LOOKING) {
            refused("KEEPSAKE_LOG: " + file + " has no tables of Keepsake4j", command);
        }
        refused("--from: " + file + " has no tables", "copy", "--from", "sqlite:" + file, "--to", "memory:");
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).containsExactly(file);
        }
        shell.good("add", "--session", "a", "--content", "Hi");
        assertThat(shell.good("list").lines()).hasSize(2);
    }

    @Test
    void a_file_that_is_no_database_is_damage() throws IOException {
        Path file = directory.resolve("text.db");
        Files.writeString(file, "This is no database. ".repeat(100));
        Result result = shell.log("sqlite:" + file).run("list");
        assertThat(result.code()).as(result.err()).isEqualTo(3);
        assertThat(result.err()).endsWith(file + ": the file is not a SQLite database; choose another path\n");
        assertThat(Files.readString(file)).startsWith("This is no database.");
    }

    @Test
    void damage_names_the_commands_and_no_methods() throws IOException {
        Path file = directory.resolve("chat.db");
        shell.log("sqlite:" + file).good("add", "--session", "a", "--content", "Hi");
        byte[] bytes = Files.readAllBytes(file);
        Arrays.fill(bytes, 100, bytes.length, (byte) 7);
        Files.write(file, bytes);
        Result result = shell.run("list");
        assertThat(result.code()).as(result.err()).isEqualTo(3);
        assertThat(result.err())
                .contains("the file is damaged", "call the command check to list the damage and repair to repair it")
                .doesNotContain("()");
    }

    @Test
    void a_foreign_directory_is_refused_and_not_changed() throws IOException {
        Path other = Files.createDirectory(directory.resolve("other"));
        Path file = Files.writeString(other.resolve("notes.txt"), "mine");
        shell.log("file:" + other);
        for (String[] command : LOOKING) {
            refused("KEEPSAKE_LOG: " + other + " is not a log", command);
        }
        try (Stream<Path> files = Files.list(other)) {
            assertThat(files).containsExactly(file);
        }
        shell.good("add", "--session", "a", "--content", "Hi");
        Files.delete(other.resolve("keepsake.lock"));
        assertThat(shell.good("list").lines()).as("a backup without its lock").hasSize(2);
    }

    @Test
    void a_hint_is_one_that_helps() throws IOException {
        Path file = Files.createFile(directory.resolve("chat.db"));
        refused("--log: " + file + " is a file; write sqlite:", "list", "--log", "file:" + file);
        refused("--log: " + directory + " is a directory; write file:", "list", "--log", "sqlite:" + directory);
        Path missing = directory.resolve("nowhere");
        for (String kind : List.of("file:", "sqlite:")) {
            for (String[] command : new String[][] {
                {"list", "--log", kind + missing.resolve("chat")},
                {"add", "--session", "a", "--content", "Hi", "--log", kind + missing.resolve("chat")}
            }) {
                refused("--log: the directory " + missing + " does not exist", command);
            }
        }
    }

    @Test
    void a_log_is_not_copied_to_itself_by_another_name() throws IOException {
        for (String kind : List.of("sqlite:", "file:")) {
            Path log = directory.resolve(kind.substring(0, 4));
            shell.good("add", "--session", "a", "--content", "Hi", "--log", kind + log);
            Path dotted = directory.resolve(".").resolve(log.getFileName());
            Path link = Files.createSymbolicLink(directory.resolve("link-" + log.getFileName()), log);
            for (Path same : List.of(dotted, link)) {
                refused("--to: must be another log than --from", "copy", "--from", kind + log, "--to", kind + same);
            }
        }
        Path log = directory.resolve("sqli");
        refused("--to: must be another log", "copy", "--from", "sqlite:" + log, "--to", "jdbc:sqlite:" + log);
    }

    @Test
    void a_copy_of_an_unknown_conversation_tells_that_it_is_none() {
        String log = "file:" + directory.resolve("log");
        shell.good("add", "--session", "a", "--content", "Hi", "--log", log);
        assertThat(shell.run("copy", "--from", log, "--to", "memory:", "--session", "nobody"))
                .isEqualTo(new Result(
                        0,
                        "0 memories with 0 messages copied and compared\n",
                        "keepsake: memory conversation/default/nobody is not in the log\n"));
    }

    @Test
    void a_bucket_without_a_region_names_the_variable() {
        System.setProperty("aws.disableEc2Metadata", "true");
        try {
            refused("AWS_REGION", "list", "--log", "s3://bucket");
        } finally {
            System.clearProperty("aws.disableEc2Metadata");
        }
    }
}
