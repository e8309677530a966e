package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.cli.Shell.Result;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the commands do and print, on SQLite and files. */
class CommandsTest {

    private static final String[] ODD_IDS = {
        "-1", "--session", "a/b/../c", "with spaces", "@file", "\"quoted\"", "日本 🐝", "a=b", "${x}", "-h"
    };

    @TempDir
    Path directory;

    private final Shell shell = new Shell();

    @BeforeEach
    void log() {
        shell.log("sqlite:" + directory.resolve("my chat.db"));
    }

    private void use(String kind) {
        shell.log(kind + ":" + directory.resolve("my chats"));
    }

    /** Opens the log of the commands, to prepare what no command can. */
    private MessageLog open(String kind) {
        return new LogUri("log", kind + ":" + directory.resolve("my chats"), true, false, name -> null).open();
    }

    private static NewMessage user(String id, String text) {
        return new NewMessage(id, UserMessage.from(text), 1, "words", null);
    }

    private static NewMessage assistant(String id, String text) {
        return new NewMessage(id, AiMessage.from(text), 1, "words", null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void the_actions_return_what_the_component_does(String kind) {
        use(kind);
        Result first = shell.good("add", "--session", "s", "--content", "What is Python?", "--json");
        assertThat(first.out())
                .isEqualTo("{\"messages\":[{\"role\":\"user\",\"content\":\"What is Python?\"}],\"message_count\":1,"
                        + "\"token_count\":11,\"summary\":null}\n");

        shell.good("add", "--session", "s", "--role", "assistant", "--content", "A language.");
        assertThat(shell.good("get", "--session", "s").out())
                .isEqualTo("user       What is Python?\nassistant  A language.\n2 messages, 18 tokens\n");
        assertThat(shell.good("get", "--session", "s", "--max-messages", "1", "--max-tokens", "9", "--json")
                        .json())
                .singleElement()
                .satisfies(output -> assertThat(output.get("message_count")).isEqualTo(0));
        assertThat(shell.good("get", "--session", "s", "--strategy", "summarization")
                        .lines())
                .hasSize(3);

        assertThat(shell.good("clear", "--session", "s").out()).isEqualTo("0 messages, 0 tokens\n");
        assertThat(shell.good("history", "--session", "s", "--json").lines()).hasSize(2);
        shell.good("clear", "--session", "s", "--erase");
        assertThat(shell.run("history", "--session", "s").out()).isEmpty();
    }

    @Test
    void a_message_may_come_as_json_or_from_the_standard_input() {
        String call = "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
                + "\"function\":{\"name\":\"weather\",\"arguments\":\"{}\"}}]}";
        shell.input("two\nlines\n").good("add", "--session", "s", "--content", "-");
        shell.input(call).good("add", "--session", "s", "--message", "-");
        shell.good("add", "--session", "s", "--role", "tool", "--tool-call-id", "c1", "--content", "sun");
        shell.good(
                "add",
                "--session",
                "s",
                "--message",
                "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"This\"},{\"type\":\"image_url\","
                        + "\"image_url\":{\"url\":\"http://a/b.png\"}}]}");

        assertThat(shell.good("get", "--session", "s").lines())
                .containsExactly(
                        "user       two",
                        "           lines",
                        "assistant  calls weather {}",
                        "tool       sun",
                        "user       This",
                        "           [image http://a/b.png]",
                        "4 messages, 797 tokens");
        assertThat(shell.input(new byte[] {(byte) 0xff}).run("add", "--session", "s", "--content", "-"))
                .isEqualTo(new Result(2, "", "keepsake: standard input: is not UTF-8; convert it to UTF-8\n"));
    }

    @Test
    void any_id_names_one_conversation() {
        for (String id : ODD_IDS) {
            shell.good("add", "--session=" + id, "--tenant=" + id, "--content=" + id);
        }
        for (String id : ODD_IDS) {
            assertThat(shell.good("list", "--tenant=" + id, "--json").json())
                    .singleElement()
                    .satisfies(memory -> {
                        assertThat(memory.get("session_id")).isEqualTo(id);
                        assertThat(memory.get("messages")).isEqualTo(1);
                    });
            assertThat(shell.good("get", "--session=" + id, "--tenant=" + id).lines())
                    .startsWith("user       " + id);
        }
        // A space instead of the equals sign is as good, if the id is no option.
        assertThat(shell.good("get", "--session", "-1", "--tenant", "-1").lines())
                .hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void history_and_branches_show_all_that_was_said(String kind) {
        use(kind);
        ConversationKey key = ConversationKey.of("default", "s");
        try (MessageLog log = open(kind)) {
            log.append(key, Append.under(Parent.root(), List.of(user("q", "Which?"), assistant("a1", "This."))));
            log.append(key, Append.under(Parent.of("q"), List.of(assistant("a2", "That."))));
            Logs.setOutcome(log, key, "a1", Outcome.rejected("Guard"), null);
        }

        assertThat(shell.good("history", "--session", "s").out().replaceAll("\\d{4}-\\S+Z", "<time>"))
                .isEqualTo(
                        """
                        1  <time>  q
                        user       Which?
                        2  <time>  a1  rejected (Guard)
                        assistant  This.
                        3  <time>  a2  follows q
                        assistant  That.
                        """);
        assertThat(shell.good("history", "--session", "s", "--json").json())
                .extracting(message -> message.get("id"), message -> message.get("parent_id"))
                .containsExactly(tuple("q", null), tuple("a1", "q"), tuple("a2", "q"));
        assertThat(shell.good("history", "--session", "s", "--json", "--newest", "2")
                        .json())
                .extracting(message -> message.get("id"))
                .isEqualTo(List.of("a1", "a2"));
        assertThat(shell.good("history", "--session", "s", "--branch", "a1", "--json")
                        .json())
                .extracting(message -> message.get("id"))
                .isEqualTo(List.of("q", "a1"));
        assertThat(shell.good("branches", "--session", "s").out().replaceAll("\\d{4}-\\S+Z", "<time>"))
                .isEqualTo("* a2  <time>  2 messages\n  a1  <time>  2 messages\n");
        assertThat(shell.good("branches", "--session", "s", "--json").json())
                .extracting(branch -> branch.get("leaf_id"), branch -> branch.get("current"))
                .containsExactly(tuple("a2", true), tuple("a1", false));
    }

    private static org.assertj.core.groups.Tuple tuple(Object... values) {
        return org.assertj.core.api.Assertions.tuple(values);
    }

    @Test
    void a_long_history_is_printed_page_by_page_and_whole() {
        ConversationKey key = ConversationKey.of("default", "s");
        use("file");
        try (MessageLog log = open("file")) {
            for (int batch = 0; batch < 12; batch++) {
                List<NewMessage> messages = new java.util.ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    messages.add(user("m" + (batch * 100 + i), "text"));
                }
                log.append(key, Append.under(Parent.head(), messages));
            }
        }
        List<Map<?, ?>> all = shell.good("history", "--session", "s", "--json").json();
        assertThat(all).hasSize(1_200);
        assertThat(all.get(1_199).get("id")).isEqualTo("m1199");
        assertThat(shell.good("history", "--session", "s", "--json", "--newest", "1100")
                        .lines())
                .isEqualTo(all.subList(100, 1_200).stream()
                        .map(io.github.keepsake4j.codec.PlainJson::write)
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void a_node_has_a_memory_of_its_own(String kind) {
        use(kind);
        try (MessageLog log = open(kind)) {
            log.append(
                    NodeKey.of("default", "app", "s", "n"), Append.under(Parent.head(), List.of(user("x", "Inside"))));
            log.append(ConversationKey.of("default", "s"), Append.under(Parent.head(), List.of(user("y", "Outside"))));
        }
        String[] node = {"history", "--session", "s", "--app", "app", "--node", "n"};
        assertThat(shell.good(node).out()).contains("Inside").doesNotContain("Outside");
        assertThat(shell.run("history", "--session", "s", "--app", "app"))
                .isEqualTo(new Result(
                        2, "", "keepsake: --node: is required: --app and --node name a node's memory together\n"));
        assertThat(shell.good("list").out()).contains("node/default/app/s/n", "  s  1 message");

        assertThat(shell.good("erase", "--session", "s", "--with-nodes").out())
                .isEqualTo("erased  s, and 1 memory of its nodes\n");
        assertThat(shell.run("list").out()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void all_memories_of_a_tenant_or_of_a_user_are_erased(String kind) {
        use(kind);
        try (MessageLog log = open(kind)) {
            for (String id : List.of("a", "b", "c")) {
                ConversationKey key = ConversationKey.of("acme", id);
                log.append(key, Append.under(Parent.head(), List.of(user(id, "Inside"))));
                log.change(key, Change.Describe.as(null, Map.of("user", id.equals("c") ? "bob=1" : "ann")));
            }
            log.append(NodeKey.of("acme", "app", "a", "n"), Append.under(Parent.head(), List.of(user("x", "Inside"))));
        }
        assertThat(shell.run("erase", "--all"))
                .isEqualTo(
                        new Result(2, "", "keepsake: --all: needs --tenant, and neither --session nor --with-nodes\n"));
        assertThat(shell.run("erase", "--where", "user=ann").code()).isEqualTo(2);
        assertThat(shell.run("erase", "--all", "--tenant", "acme", "--where", "user")
                        .code())
                .isEqualTo(2);
        assertThat(shell.good("erase", "--all", "--tenant", "acme", "--where", "user=ann")
                        .out())
                .isEqualTo("erased  3 memories with 3 messages\n");
        assertThat(shell.good("erase", "--all", "--tenant", "acme", "--where", "user=bob=1", "--json")
                        .out())
                .isEqualTo("{\"tenant\":\"acme\",\"memories\":1,\"messages\":1,\"failed\":0}\n");
        assertThat(shell.good("erase", "--all", "--tenant", "acme").out())
                .isEqualTo("erased  0 memories with 0 messages\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void nodes_of_a_conversation_that_has_no_memory_of_its_own_are_counted(String kind) {
        use(kind);
        for (boolean json : new boolean[] {false, true}) {
            try (MessageLog log = open(kind)) {
                for (String node : List.of("n", "m")) {
                    log.append(
                            NodeKey.of("default", "app", "s", node),
                            Append.under(Parent.head(), List.of(user("x", "Inside"))));
                }
            }
            String[] erase = {"erase", "--session", "s", "--with-nodes", "--json"};
            assertThat(shell.run(json ? erase : Arrays.copyOf(erase, 4)).out())
                    .contains(json ? "\"erased\":false,\"erased_nodes\":2" : "erased  2 memories of its nodes  s\n")
                    .doesNotContain("nothing");
            assertThat(shell.run("list").out()).isEmpty();
        }
        assertThat(shell.run("erase", "--session", "s", "--with-nodes").out()).isEqualTo("nothing to erase  s\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void idle_conversations_are_cleaned_up_unless_it_is_a_dry_run(String kind) {
        use(kind);
        shell.good("add", "--session", "a", "--content", "Hi");
        shell.good("add", "--session", "b", "--content", "Hi");

        assertThat(shell.good("clean-up", "--idle", "1d").out())
                .isEqualTo("2 memories checked, 0 deleted with 0 messages\n");
        Result dry = shell.good("clean-up", "--idle", "PT0.000001S", "--dry-run", "--json");
        assertThat(dry.out()).contains("\"session_id\":\"a\"", "\"session_id\":\"b\"");
        assertThat(dry.lines().get(2))
                .isEqualTo("{\"dry_run\":true,\"looked\":2,\"removed\":2,\"messages\":2,\"failed\":0}");
        assertThat(shell.good("list").lines()).hasSize(3).first().asString().startsWith("last message");

        assertThat(shell.good("clean-up", "--idle", "PT0.000001S").out())
                .contains("deletes  a  ", "deletes  b  ")
                .endsWith("2 memories checked, 2 deleted with 2 messages\n");
        assertThat(shell.run("list").out()).isEmpty();
        assertThat(shell.run("clean-up").err()).startsWith("keepsake: Missing required option: '--idle=<period>'");
        assertThat(shell.run("clean-up", "--idle", "soon"))
                .isEqualTo(new Result(2, "", "keepsake: --idle: must be a period such as 180d, 12h or PT90M\n"));
    }

    @Test
    void a_copy_is_whole_and_can_be_repeated() {
        shell.good("add", "--session", "a", "--content", "Hi");
        shell.good("add", "--session", "b", "--content", "Hi");
        String from = "sqlite:" + directory.resolve("my chat.db");
        String to = "file:" + directory.resolve("copy");
        for (int run = 0; run < 2; run++) {
            assertThat(shell.good("copy", "--from", from, "--to", to).out())
                    .isEqualTo("2 memories with 2 messages copied and compared\n");
        }
        Result original = shell.good("get", "--session", "b", "--json");
        assertThat(shell.good("get", "--log", to, "--session", "b", "--json")).isEqualTo(original);

        shell.good("erase", "--log", to, "--session", "a");
        assertThat(shell.good("copy", "--from", from, "--to", to, "--json").out())
                .isEqualTo("{\"memories\":1,\"messages\":1,\"erased\":[{\"memory\":\"conversation/default/a\","
                        + "\"session_id\":\"a\"}],\"damaged\":0}\n");
        assertThat(shell.good("copy", "--from", from, "--to", "memory:", "--session", "a")
                        .out())
                .isEqualTo("1 memory with 1 message copied and compared\n");
        assertThat(shell.run("copy", "--from", from, "--to", from).err())
                .isEqualTo("keepsake: --to: must be another log than --from\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "file"})
    void an_export_is_imported_whole(String kind) {
        use(kind);
        shell.good("add", "--session", "a", "--tenant", "acme", "--content", "Hi 🐝");
        shell.good("add", "--session", "b", "--tenant", "acme", "--content", "Ho");
        String export = shell.good("export", "--tenant", "acme").out();
        String one = shell.good("export", "--tenant", "acme", "--session", "a", "--format", "ndjson")
                .out();
        assertThat(export).contains("Hi 🐝", "Ho");
        assertThat(one).contains("Hi 🐝").doesNotContain("Ho");

        String to = "file:" + directory.resolve("imported");
        for (int run = 0; run < 2; run++) {
            assertThat(shell.input(export).good("import", "--log", to).out())
                    .isEqualTo("2 memories with 2 messages imported and compared\n");
        }
        assertThat(shell.good("export", "--log", to, "--tenant", "acme", "--session", "a")
                        .out())
                .isEqualTo(one);

        Result torn = shell.input(export.substring(0, export.length() / 2)).run("import", "--log", "memory:");
        // What came before the tear stays, so it is not the code of a wrong input.
        assertThat(torn.code()).isEqualTo(1);
        assertThat(torn.err()).startsWith("keepsake: ").hasLineCount(1);
    }

    @Test
    void an_import_reads_a_file() throws Exception {
        shell.good("add", "--session", "a", "--content", "Hi");
        Path file = directory.resolve("export.ndjson");
        Files.writeString(file, shell.good("export").out());
        assertThat(shell.good("import", "--log", "memory:", "--input", file.toString(), "--json")
                        .out())
                .isEqualTo("{\"memories\":1,\"messages\":1,\"erased\":[],\"damaged\":0}\n");
        assertThat(shell.run("import", "--log", "memory:", "--input", "nowhere").err())
                .isEqualTo("keepsake: --input: names a file that does not exist: nowhere\n");
        assertThat(shell.run("import", "--log", "memory:", "--input", directory.toString())
                        .err())
                .isEqualTo("keepsake: --input: is a directory: " + directory + "; name a file\n");
    }

    @Test
    void people_read_what_is_exported_as_markdown() {
        shell.good("add", "--session", "a", "--content", "Hi");
        shell.good("add", "--session", "b", "--content", "Ho");
        assertThat(shell.good("export", "--format", "markdown").out()).contains("# ", "Hi", "Ho");
        assertThat(shell.good("export", "--format", "markdown", "--session", "a")
                        .out())
                .contains("# ", "Hi")
                .doesNotContain("Ho");
    }

    @Test
    void langchain4j_reads_what_is_exported_for_it() {
        shell.good("add", "--session", "a", "--content", "Hi");
        shell.good("add", "--session", "a", "--role", "assistant", "--content", "Hello 🐝");
        String json = shell.good("export", "--session", "a", "--format", "langchain4j")
                .out();
        assertThat(ChatMessageDeserializer.messagesFromJson(json))
                .containsExactly(UserMessage.from("Hi"), AiMessage.from("Hello 🐝"));
        assertThat(shell.run("export", "--format", "langchain4j").err())
                .isEqualTo("keepsake: --session: is required\n");
    }

    @Test
    void an_unknown_conversation_is_empty_and_the_user_is_told() {
        shell.good("add", "--session", "a", "--content", "Hi");
        String note = "keepsake: memory conversation/default/typo is not in the log\n";
        assertThat(shell.run("history", "--session", "typo")).isEqualTo(new Result(1, "", note));
        assertThat(shell.run("erase", "--session", "typo")).isEqualTo(new Result(0, "nothing to erase  typo\n", note));
        assertThat(shell.run("branches", "--session", "typo")).isEqualTo(new Result(0, "", note));
        assertThat(shell.run("check", "--session", "typo"))
                .isEqualTo(new Result(0, "1 memory checked, 0 damaged\n", note));
    }
}
