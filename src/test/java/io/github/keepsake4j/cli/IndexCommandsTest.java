package io.github.keepsake4j.cli;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.cli.Shell.Result;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Postgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands index, search and recall. */
class IndexCommandsTest {

    private static final String LAGGING =
            "keepsake: messages may be missing, because they are not indexed yet; keepsake"
                    + " index completes the index\n";

    @TempDir
    Path directory;

    private final Shell shell = new Shell();
    private Path log;
    private Path index;

    @BeforeEach
    void files() {
        log = directory.resolve("chat.db");
        index = directory.resolve("index.db");
        shell.log("sqlite:" + log).with("KEEPSAKE_INDEX", "sqlite:" + index);
    }

    private void add(String session, String... texts) {
        for (String text : texts) {
            shell.good("add", "--session", session, "--content", text);
        }
    }

    private void fails(int code, String problem, String... arguments) {
        Result result = shell.run(arguments);
        assertThat(result.err()).startsWith("keepsake: " + problem).hasLineCount(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.code()).as(result.err()).isEqualTo(code);
    }

    @Test
    void an_index_is_made_completed_and_checked() {
        add("a", "My parrot is called Polly.", "It speaks French.");
        add("b", "Book a table.");
        assertThat(shell.good("index").out()).isEqualTo("2 memories with 3 messages indexed, 3 of them now\n");
        String checked = "2 memories compared, 0 wrong, 0 erased; 0 messages not indexed\n";
        assertThat(shell.good("index", "--check").out()).isEqualTo(checked);

        add("b", "For two.");
        shell.good("erase", "--session", "a");
        Result behind = shell.run("index", "--check");
        assertThat(behind)
                .isEqualTo(new Result(
                        1,
                        "erased  a  is in the index and no longer in the log\n"
                                + "1 memory compared, 0 wrong, 1 erased; 1 message not indexed\n",
                        "keepsake: the index is not complete; keepsake index completes it\n"));
        assertThat(shell.good("index", "--json").json())
                .containsExactly(Map.of("memories", 1, "messages", 2, "added", 1, "damaged", 0));
        assertThat(shell.good("index", "--check", "--json").json())
                .containsExactly(
                        Map.of("memories", 1, "messages", 2, "missing", 0, "wrong", 0, "erased", 0, "damaged", 0));
        assertThat(shell.good("index", "--rebuild").out())
                .isEqualTo("1 memory with 2 messages indexed, 2 of them now\n");
    }

    @Test
    void a_check_finds_what_is_indexed_otherwise() throws Exception {
        add("a", "My parrot is called Polly.", "It speaks French.");
        add("b", "Book a table.");
        shell.good("index");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + index);
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate("DELETE FROM keepsake_index_posting WHERE memory = 1"))
                    .isPositive();
        }
        Result wrong = shell.run("index", "--check");
        assertThat(wrong.code()).as(wrong.toString()).isEqualTo(3);
        assertThat(wrong.out()).contains("wrong  ", "2 memories compared, 1 wrong, 0 erased; 0 messages not indexed\n");
        assertThat(wrong.err())
                .isEqualTo("keepsake: the index differs from the log; keepsake index --rebuild makes it again\n");
        shell.good("index", "--rebuild");
        shell.good("index", "--check");
    }

    @Test
    void messages_are_found_and_nothing_is_written_for_it() {
        add("a\u001b[2J", "My parrot is called Polly. \u001b[31m", "It speaks French.");
        add("b", "A parrot and a table.");
        shell.good("index");
        assertThat(shell.good("search", "--query", "parrots", "--session", "b").out())
                .matches("(?s)b  1  \\S+  \\S+\nuser       A parrot and a table.\n");
        assertThat(shell.good("search", "--query", "polly").out())
                .startsWith("a\\u001b[2J  1  ")
                .endsWith("\nuser       My parrot is called Polly. \\u001b[31m\n");
        assertThat(shell.good("search", "--query", "parrot").lines()).hasSize(4);
        assertThat(shell.good("search", "--query", "parrot", "--max-hits", "1").lines())
                .hasSize(2);
        assertThat(shell.good("search", "--query", "nothing like it").out()).isEmpty();
        Map<?, ?> hit =
                shell.good("search", "--query", "table", "--json").json().get(0);
        assertThat(hit.get("session_id")).isEqualTo("b");
        assertThat(hit.get("highlights")).isEqualTo(List.of(Map.of("start", 15, "end", 20)));
        assertThat(hit.get("message")).isEqualTo(Map.of("role", "user", "content", "A parrot and a table."));

        add("b", "A zebra.");
        assertThat(shell.run("search", "--query", "zebra")).isEqualTo(new Result(0, "", LAGGING));
        assertThat(shell.good("search", "--query", "zebra", "--session", "b").lines())
                .as("read from the log")
                .hasSize(2);
        assertThat(shell.run("index", "--check").out()).endsWith("1 message not indexed\n");
        shell.good("clear", "--session", "b");
        shell.good("index");
        assertThat(shell.good("search", "--query", "zebra").lines()).hasSize(2);
        assertThat(shell.good("search", "--query", "zebra", "--visible").lines())
                .isEmpty();
    }

    @Test
    void what_answers_a_question_is_recalled_with_its_neighbours() {
        add("a", "My parrot is called Polly.", "It speaks French.", "Book a table.");
        shell.good("index");
        List<String> lines = shell.good("recall", "--session", "a", "--query", "What is the parrot called?")
                .lines();
        assertThat(lines.get(0)).matches("a  1  \\S+  \\S+  score \\d+\\.\\d");
        assertThat(lines.subList(1, 3))
                .containsExactly("user       My parrot is called Polly.", "user       It speaks French.");
        Map<?, ?> passage = shell.good("recall", "--session", "a", "--query", "parrot", "--max-passages", "1", "--json")
                .json()
                .get(0);
        assertThat((Map<?, ?>) passage.get("features")).hasSize(5);
        assertThat((List<?>) passage.get("messages")).hasSize(2);
        assertThat(shell.good("recall", "--session", "a", "--query", "parrot", "--max-tokens", "1")
                        .out())
                .isEmpty();
        shell.good("clear", "--session", "a");
        assertThat(shell.good("recall", "--session", "a", "--query", "parrot").out())
                .isEmpty();
        assertThat(shell.good("recall", "--session", "a", "--query", "parrot", "--hidden")
                        .out())
                .contains("Polly");
    }

    @ParameterizedTest
    @CsvSource({"search", "recall", "index"})
    void what_is_missing_or_wrong_is_named(String command) throws Exception {
        add("a", "Hi");
        Shell bare = new Shell().log("sqlite:" + log);
        String[] arguments = command.equals("index")
                ? new String[] {command, "--check"}
                : new String[] {command, "--session", "a", "--query", "Hi"};
        assertThat(bare.run(arguments))
                .isEqualTo(new Result(
                        2,
                        "",
                        "keepsake: --index: is required, such as sqlite:index.db; the variable KEEPSAKE_INDEX sets it"
                                + " too\n"));
        fails(2, "KEEPSAKE_INDEX: the file " + index + " does not exist; the command index creates it", arguments);
        shell.with("KEEPSAKE_INDEX", "sqlite:" + log);
        fails(2, "KEEPSAKE_INDEX: " + log + " is a log; an index has a file of its own", arguments);
        shell.with("KEEPSAKE_INDEX", "sqlite:" + directory);
        fails(2, "KEEPSAKE_INDEX: " + directory + " is a directory; name a file", arguments);
        shell.with("KEEPSAKE_INDEX", "sqlite:" + directory.resolve("no/i.db"));
        fails(2, "KEEPSAKE_INDEX: the directory " + directory.resolve("no") + " does not exist", arguments);
        shell.with("KEEPSAKE_INDEX", "redis://secret");
        fails(2, "KEEPSAKE_INDEX: must begin with sqlite:, postgresql: or jdbc:postgresql:", arguments);
        shell.with("KEEPSAKE_INDEX", "index.db");
        fails(
                2,
                "KEEPSAKE_INDEX: must begin with sqlite:, postgresql: or jdbc:postgresql:; for a file, write sqlite:index.db",
                arguments);
        shell.with("KEEPSAKE_INDEX", "sqlite:");
        fails(2, "KEEPSAKE_INDEX: must have a path, such as sqlite:index.db", arguments);

        Path foreign = directory.resolve("other.db");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + foreign);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE other (id INTEGER)");
        }
        byte[] before = Files.readAllBytes(foreign);
        shell.with("KEEPSAKE_INDEX", "sqlite:" + foreign);
        fails(2, "KEEPSAKE_INDEX: " + foreign + " has no index; the command index makes it", arguments);
        assertThat(Files.readAllBytes(foreign)).isEqualTo(before);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.filter(file -> file.toString().contains("other"))).containsExactly(foreign);
        }
    }

    @Test
    void wrong_options_are_named() {
        add("a", "Hi");
        shell.good("index");
        fails(2, "--max-hits: must be 1 to 100, is 0", "search", "--query", "Hi", "--max-hits", "0");
        fails(2, "--query: must have a word", "search", "--query", " ");
        fails(2, "--session: is required", "recall", "--query", "Hi");
        fails(2, "--max-passages: must be 1 to 100, is 101", recall("--max-passages", "101"));
        fails(2, "--max-tokens: must be 1 or more, is 0", recall("--max-tokens", "0"));
        fails(2, "--check: changes nothing; leave out --rebuild", "index", "--check", "--rebuild");
        fails(2, "--index: " + log + " is a log", "index", "--index", "sqlite:" + log);
    }

    private static String[] recall(String... more) {
        List<String> all = new ArrayList<>(List.of("recall", "--session", "a", "--query", "Hi"));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    @Test
    void a_file_that_cannot_be_used_tells_the_command_that_helps() throws Exception {
        add("a", "My parrot");
        Files.writeString(index, "This is no database. ".repeat(100));
        String opening = "opening of the index on SQLite file " + index;
        fails(3, opening + ": the file is not a SQLite database; choose another path", "search", "--query", "parrot");
        Files.writeString(index, "SQLite format 3\0" + "This is damage. ".repeat(100));
        fails(
                3,
                opening + ": the file is damaged; keepsake index --rebuild starts a new file",
                "search",
                "--query",
                "parrot");
        shell.good("index", "--rebuild");
        assertThat(directory.resolve("index.db.damaged")).exists();
        assertThat(shell.good("search", "--query", "parrot").lines()).hasSize(2);

        shell.good("index", "--rebuild");
        try (MessageIndex other = JdbcMessageIndex.sqlite(index)) {
            other.clear();
            other.open("other words");
        }
        fails(1, "The index was built with the words other words, not with ", "search", "--query", "parrot");
        assertThat(shell.run("index").err()).contains("The command line has the standard words: use another index");
    }

    @Test
    void an_index_in_postgresql_needs_its_tables() throws Exception {
        Postgres server = Postgres.newest();
        String uri = "postgresql://postgres@127.0.0.1:" + server.port() + "/" + server.newDatabase();
        shell.with("KEEPSAKE_INDEX", uri);
        add("a", "My parrot");
        fails(1, "The tables of the index (127.0.0.1:", "index");
        shell.good("index", "--make-tables");
        shell.good("index", "--check");
        assertThat(shell.good("search", "--query", "parrot").lines()).hasSize(2);
    }

    /** A long memory is indexed by one process at a time, which has a lease in the log. */
    @Test
    void a_memory_that_another_process_indexes_is_waited_for() {
        add("a", "first");
        List<Duration> slept = new ArrayList<>();
        try (MessageLog opened = SqliteMessageLog.open(log);
                MessageIndex made = JdbcMessageIndex.sqlite(index)) {
            ProgressLine progress = new ProgressLine(new PrintWriter(new StringWriter()), false, () -> 0);
            MessageIndex busy = new ForwardingIndex(made) {
                @Override
                public boolean add(
                        MemoryKey memory, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
                    return slept.size() >= 3 && super.add(memory, before, after, messages);
                }
            };
            IndexRun.Report report = new IndexRun(opened, busy, "default", progress, slept::add).run();
            assertThat(slept).hasSize(3);
            assertThat(report.state().isComplete()).isTrue();

            made.clear();
            MessageIndex stuck = new ForwardingIndex(made) {
                @Override
                public boolean add(
                        MemoryKey memory, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages) {
                    return false;
                }
            };
            IndexRun run = new IndexRun(opened, stuck, "default", progress, pause -> {});
            assertThrown(StorageUnavailableException.class, run::run)
                    .hasMessageStartingWith("Memory conversation/default/a could not be indexed within 90 seconds.");
        }
    }

    @Test
    void a_damaged_memory_does_not_keep_others_out() throws Exception {
        add("a", "My parrot", "My table");
        add("b", "A parrot");
        add("c", "Another parrot");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + log);
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate(
                            "UPDATE keepsake_message SET message = '{' WHERE message LIKE '%My parrot%'"))
                    .isEqualTo(1);
        }
        Result result = shell.run("index");
        assertThat(result.code()).as(result.toString()).isEqualTo(3);
        assertThat(result.err()).isEqualTo("keepsake: 1 memory could not be read; the command check lists them\n");
        assertThat(shell.run("search", "--query", "parrot").lines()).hasSize(4);
        assertThat(shell.run("index", "--check").code()).isEqualTo(3);
    }

    @Test
    void progress_tells_all_messages_and_the_rest_of_the_time() throws Exception {
        add("a", "My parrot is called Polly.", "It speaks French.");
        add("b", "Book a table.");
        shell.onATerminal();
        assertThat(shell.run("index").err())
                .contains("0 of 3 messages indexed: ", "1 of 3 messages indexed: b, about ", " s left");
        assertThat(shell.run("index", "--check").err()).contains("1 of 3 messages compared: b, about ");
        assertThat(shell.run("check").err())
                .contains(
                        "1 of 2 memories checked, 1 of 3 messages, about ", "2 of 2 memories checked, 3 of 3 messages");
        assertThat(shell.run("copy", "--from", "sqlite:" + log, "--to", "memory:")
                        .err())
                .contains(
                        "memory 1 of 2: a, 2 messages, 2 of 3 messages, about ",
                        "memory 2 of 2: b, 1 message, 3 of 3 messages");
        Path export = directory.resolve("export.ndjson");
        String lines = shell.run("export").out();
        assertThat(shell.run("export").err()).contains("memory 1 of 2: a, 2 messages, 2 of 3 messages, about ");
        Files.writeString(export, lines);
        assertThat(shell.run("import", "--log", "memory:", "--input", export.toString())
                        .err())
                .contains("memory 2: b, 3 messages in all, 100 % of the file");
    }
}
