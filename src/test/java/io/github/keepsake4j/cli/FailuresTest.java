package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.cli.Shell.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Help.Ansi;

/** What is wrong is said in one line, by the exit code, and without the text of a message. */
class FailuresTest {

    private static final String SECRET = "secret";

    @TempDir
    Path directory;

    private final Shell shell = new Shell();

    @BeforeEach
    void log() {
        shell.log("sqlite:" + directory.resolve("chat.db"));
    }

    private void fails(int code, String problem, String... arguments) {
        Result result = shell.run(arguments);
        assertThat(result.err()).contains(problem).endsWith("\n").doesNotContain(SECRET);
        assertThat(result.err().lines()).as(result.err()).hasSize(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.code()).as(result.err()).isEqualTo(code);
    }

    @Test
    void no_command_at_all_prints_what_the_help_prints() {
        Result result = shell.run();
        assertThat(result.err()).isEqualTo(shell.good("--help").out()).contains("Commands:");
        assertThat(result.out()).isEmpty();
        assertThat(result.code()).isEqualTo(2);
    }

    @Test
    void wrong_usage_names_the_option() {
        fails(2, "the command histroy is not known; did you mean history", "histroy");
        fails(2, "the option --sesion is not known; did you mean --session", "get", "--sesion", "a");
        fails(2, "the option --contnt is not known", "add", "--session", "a", "--contnt=" + SECRET);
        fails(2, "quote a text that has spaces; see keepsake add --help", "add", "--content", "a", SECRET);
        fails(2, "Missing required option: '--session=<id>'", "get");
        fails(2, "--session: is required", "history");
        fails(
                2,
                "keepsake: --max-messages: must be a whole number, is few",
                "get",
                "--max-messages",
                "few",
                "--session=a");
        fails(2, "the option --session lacks its value", "get", "--session", "--json");
        fails(2, "the option --session lacks its value", "get", "--session", "--log=memory:");
        fails(2, "'--session' ", "get", "--session");
        fails(2, "the command summarize is not known", "summarize", "--session", "a");
        fails(2, "--format: must be one of", "export", "--session", "a", "--format", "word");
    }

    @Test
    void wrong_input_names_the_input_and_nothing_is_changed() {
        shell.good("add", "--session", "a", "--content", "Hi");
        String before = shell.good("history", "--session", "a").out();
        fails(2, "keepsake: --max-messages: must be 1 or more, is 0", "get", "--session", "a", "--max-messages", "0");
        fails(2, "keepsake: --strategy: must be one of", "get", "--session", "a", "--strategy", "all");
        fails(2, "keepsake: --role: must be", "add", "--session", "a", "--role", "boss", "--content", SECRET);
        fails(2, "keepsake: --content: is required", "add", "--session", "a");
        fails(2, "--content: is required", "add", "--session", "a", "--role", "user");
        fails(2, "keepsake: --message: is not valid JSON", "add", "--session", "a", "--message", "{" + SECRET);
        fails(2, "--message: already contains", "add", "--session", "a", "--message", "{}", "--content", SECRET);
        fails(2, "keepsake: --tool-call-id: ", "add", "--session", "a", "--role", "tool", "--content", SECRET);
        fails(2, "keepsake: --session: must not be empty", "get", "--session=");
        fails(2, "keepsake: --tenant: must not be empty", "list", "--tenant=");
        fails(2, "keepsake: --session: must not be empty", "history", "--session=");
        fails(2, "keepsake: --max-tokens: must be 1", "get", "--session", "a", "--max-tokens", "0");
        fails(2, "keepsake: --idle: must be more than zero", "clean-up", "--idle", "0d");
        fails(2, "keepsake: --tombstones: must be", "clean-up", "--idle", "1d", "--tombstones", "0d");
        fails(2, "keepsake: --branch: ", "history", "--session", "a", "--branch", "x");
        fails(2, "keepsake: --branch: ", "export", "--format", "langchain4j", "--session", "a", "--branch", "x");
        assertThat(shell.good("history", "--session", "a").out()).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "chat.db                             | memory:; for a file, write sqlite:chat.db",
                "sqllite:secret.db                   | memory:; did you mean sqlite:?",
                "postgres-sql://u:secret@h/d         | memory:; did you mean postgresql:?",
                "jdbc:mysql://u:secret@h/d           | must begin with sqlite:",
                "http://u:secret@h                   | must begin with sqlite:",
                "memory:                             | memory: is always empty",
                "sqlite:                             | must have a path",
                "sqlite:nowhere.db                   | the file nowhere.db does not exist; the commands add",
                "sqlite:nowhere/secretless.db        | the directory nowhere does not exist; create it first",
                "file:nowhere                        | the directory nowhere does not exist; the commands add",
                "s3:///prefix                        | must have a bucket",
                "s3://b?colour=secret                | chunked-signing, default-tenant, endpoint",
                "s3://b?path-style=secret            | path-style: must be true or false",
                "s3://b?endpoint=a secret            | is not a URI at character",
                "redis://u:secret@h:1?time-to-live=x | time-to-live: must be a period",
                "redis://u:sec ret@h                 | is not a URI at character",
                "redis:secret                        | must begin with redis:// or rediss://",
                "postgresql:secret                   | must be such as postgresql://user@host/database",
                "postgresql://bob:secret/pw@h/d      | must be such as postgresql://user@host/database",
                "postgresql://bob:secret?pw@h/d      | must be such as postgresql://user@host/database",
                "postgresql://bob:secret#pw@h/d      | must be such as postgresql://user@host/database",
                "postgresql://bob:12/34@h            | must be such as postgresql://user@host/database",
                "postgresql://bob:12?secret=34@h/d   | write @ as %40",
                "postgresql://bob:12#secret@h/d      | must be such as postgresql://user@host/database",
                "postgresql://u:secret@h:0/d         | has an invalid port",
                "postgresql://u:secret@h:65536/d     | has an invalid port",
                "postgresql://u:secret@h/d/x         | must be such as postgresql://user@host/database",
                "postgresql://u:secret@/d            | must be such as postgresql://user@host/database",
                "postgresql://u:sec%zzret@h/d        | is not a URI at character",
                "jdbc:postgresql://localhost:1/db/x?user=bob&password=secret | must be such as",
                "jdbc:postgresql://bob:secret/pw@h/d | must be such as postgresql://user@host/database",
                "jdbc:postgresql://h:secret/d        | must be such as postgresql://user@host/database",
                "jdbc:postgresql://h/d?password=secret%zz | is not a URI at character",
                "postgresql://h/d?sslmode=secret     | sslmode: must be one of disable, allow, prefer, require",
                "jdbc:postgresql://h/d?sslmode=secret | sslmode: must be one of disable, allow, prefer, require",
                "postgresql://h/d?socketTimeout=secret | socketTimeout: must be a whole number",
            })
    void a_wrong_address_names_the_option_and_does_not_tell_its_password(String uri, String problem) {
        Result result = shell.run("list", "--log", uri);
        assertThat(result.err()).startsWith("keepsake: --log").contains(problem).doesNotContain(SECRET + "@");
        assertThat(result.err().lines()).hasSize(1);
        assertThat(result.code()).isEqualTo(2);
        // The library that reads a kind of address must not tell it either.
        String verbose = withStandardError(() ->
                assertThat(shell.run("list", "--verbose", "--log", uri).code()).isEqualTo(2));
        assertThat(verbose).doesNotContain(SECRET);
        assertThat(shell.run("list", "--verbose", "--log", uri).err())
                .doesNotContain(SECRET + "@", SECRET + "/", "=" + SECRET, ":" + SECRET);
        assertThat(new LogUri("--log", uri, false, false, name -> null).toString())
                .doesNotContain(SECRET);
    }

    private static String withStandardError(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void a_log_that_is_only_read_is_not_made() throws IOException {
        for (String kind : List.of("sqlite:", "file:")) {
            for (String[] command : new String[][] {
                {"get", "--session", "a"},
                {"clear", "--session", "a"},
                {"list"},
                {"history", "--session", "a"},
                {"check"},
                {"clean-up", "--idle", "1d"}
            }) {
                shell.log(kind + directory.resolve("typo"));
                fails(2, "KEEPSAKE_LOG: the ", command);
            }
        }
        assertThat(shell.run("copy", "--from", "file:" + directory.resolve("typo"), "--to", "memory:")
                        .err())
                .startsWith("keepsake: --from: the directory");
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
        assertThat(new Shell().run("list").err())
                .isEqualTo(
                        "keepsake: --log: is required, such as sqlite:chat.db; the variable KEEPSAKE_LOG sets it too\n");
    }

    @Test
    void damage_is_found_by_exit_code_3_and_repaired() throws Exception {
        shell.good("add", "--session", "sound", "--content", "Hi");
        shell.good("add", "--session", "a", "--content", "Hi");
        shell.good("add", "--session", "a", "--role", "assistant", "--content", SECRET);
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("chat.db"));
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "UPDATE keepsake_message SET message = '{" + SECRET + "' WHERE message LIKE '%" + SECRET + "%'");
        }

        Result all = shell.run("check");
        assertThat(all.code()).isEqualTo(3);
        assertThat(all.out())
                .startsWith("damaged  a\n  message 2: ")
                .endsWith("\n2 memories checked, 1 damaged\n")
                .doesNotContain(SECRET);
        assertThat(shell.run("check", "--session", "sound"))
                .isEqualTo(new Result(0, "1 memory checked, 0 damaged\n", ""));
        Result json = shell.run("check", "--session", "a", "--json");
        assertThat(json.code()).isEqualTo(3);
        assertThat(json.json()).singleElement().satisfies(memory -> assertThat((List<?>) memory.get("damage"))
                .first()
                .satisfies(
                        damage -> assertThat(((Map<?, ?>) damage).get("kind")).isEqualTo("message")));
        fails(3, "conversation/default/a", "get", "--session", "a");

        assertThat(shell.good("repair", "--session", "a").out())
                .startsWith("repaired  a\n")
                .contains("the head stays", "dropped: 0 views, 0 summaries, 0 named branches");
        assertThat(shell.good("get", "--session", "a").out()).startsWith("0 messages, 0 tokens");
        assertThat(shell.good("history", "--session", "a").out())
                .contains("Hi", "unreadable")
                .doesNotContain(SECRET);
        assertThat(shell.good("repair", "--session", "sound").out()).isEqualTo("not damaged  sound\n");
        assertThat(shell.good("repair", "--session", "sound", "--json").json())
                .singleElement()
                .satisfies(repair -> assertThat(repair.get("damage")).isEqualTo(List.of()));
    }

    @Test
    void storage_that_cannot_be_reached_is_exit_code_4() {
        fails(
                4,
                "Redis at 127.0.0.1:1 cannot be reached: the connection is refused; check the address",
                "get",
                "--session",
                "a",
                "--log",
                "redis://u:secret@127.0.0.1:1");
    }

    @Test
    void an_empty_log_says_so_and_prints_no_data() {
        shell.good("add", "--session", "a", "--content", "Hi");
        assertThat(shell.run("list", "--tenant", "other"))
                .isEqualTo(new Result(0, "", "keepsake: tenant other has no memories in this log\n"));
        shell.good("list");
    }

    @Test
    void an_error_shows_its_stack_only_when_asked() {
        Result result = shell.run("get", "--session", "a", "--verbose", "--log", "redis://127.0.0.1:1");
        assertThat(result.err()).contains("StorageUnavailableException", "\tat io.github.keepsake4j");
    }

    @Test
    void an_output_that_nobody_reads_ends_quietly_and_one_that_is_full_does_not() {
        assertThat(withOutput("Broken pipe")).isEqualTo("141 ");
        assertThat(withOutput("No space left on device"))
                .isEqualTo("1 keepsake: the output cannot be written: No space left on device\n");
    }

    private String withOutput(String failure) {
        shell.good("add", "--session", "a", "--content", "Hi");
        StringWriter err = new StringWriter();
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException(failure);
            }
        };
        Host host = new Host(
                java.io.InputStream.nullInputStream(),
                new Output(out, true),
                new PrintWriter(err, true),
                false,
                Ansi.OFF,
                name -> "sqlite:" + directory.resolve("chat.db"),
                () -> 0);
        return CommandTree.run(host, "history", "--session", "a") + " " + err;
    }

    @Test
    void what_would_steer_a_terminal_is_shown_as_an_escape() {
        shell.good(
                "add",
                "--session",
                "a\u001b[2J",
                "--content",
                "red \u001b[31m \u202eevil\ttab\u009b0m\rb\u2028c\u2029d\u0085e\u200ff\u061c");
        assertThat(shell.good("get", "--session", "a\u001b[2J").lines().get(0))
                .isEqualTo(
                        "user       red \\u001b[31m \\u202eevil\ttab\\u009b0m\\u000db\\u2028c\\u2029d\\u0085e\\u200ff\\u061c");
        assertThat(shell.good("list").out()).contains("a\\u001b[2J").doesNotContain("\u001b");
    }

    @Test
    void the_version_is_printed() {
        assertThat(shell.good("--version").out()).startsWith("keepsake ").hasLineCount(1);
    }

    @Test
    void a_terminal_gets_colours_that_no_text_can_change() {
        shell.good("add", "--session", "a", "--content", "@|red,bold plain|@");
        assertThat(new Shell()
                        .coloured()
                        .log("sqlite:" + directory.resolve("chat.db"))
                        .good("get", "--session", "a")
                        .out())
                .startsWith("\u001b[32muser\u001b[39m       @|red,bold plain|@\n");
    }

    @Test
    void the_error_stream_has_colours_and_progress_on_a_terminal_only() {
        shell.good("add", "--session", "a", "--content", "Hi");
        String from = "sqlite:" + directory.resolve("chat.db");
        String export = shell.good("export").out();
        String[] copy = {"copy", "--from", from, "--to", "file:" + directory.resolve("copy")};
        String[] read = {"import", "--log", "memory:"};
        assertThat(shell.coloured().run("list", "--log", "nowhere").err()).doesNotContain("\u001b");

        shell.onATerminal();
        assertThat(shell.run("list", "--log", "nowhere").err()).startsWith("\u001b[");
        String cleared = "\r\u001b[K";
        assertThat(shell.run(copy).err())
                .startsWith(cleared + "memory 1 of 1: a, 1 message")
                .endsWith(cleared);
        assertThat(shell.run("check").err()).isEqualTo(cleared + "1 of 1 memory checked, 1 of 1 message" + cleared);
        assertThat(shell.run("export").err()).contains("memory 1 of 1: a").endsWith(cleared);
        assertThat(shell.input(export).run(read).err()).contains("memory 1: a").endsWith(cleared);
    }
}
