package io.github.keepsake4j.workflow.files;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.ImageContent.DetailLevel;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.FileReference.Type;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.workflow.WorkflowMemories;
import io.github.keepsake4j.workflow.files.jdbc.JdbcFileResolver;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

/** Files of a history, with Dify's two tables in SQLite. The names begin with the promise. */
class FilesTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c1");

    @TempDir
    Path directory;

    private final List<String> queries = new ArrayList<>();
    private final List<FileResolver.ResolvedFile> loaded = new ArrayList<>();
    private final MessageLog log = new InMemoryMessageLog();
    private SQLiteDataSource database;
    private int said;

    @BeforeEach
    void fill() throws Exception {
        database = new SQLiteDataSource();
        database.setUrl("jdbc:sqlite:" + directory.resolve("files.db"));
        try (Connection connection = database.getConnection();
                Statement sql = connection.createStatement()) {
            sql.execute("CREATE TABLE upload_files (id TEXT PRIMARY KEY, tenant_id TEXT, key TEXT, name TEXT,"
                    + " mime_type TEXT, size INTEGER)");
            sql.execute("CREATE TABLE tool_files (id TEXT PRIMARY KEY, tenant_id TEXT, file_key TEXT, name TEXT,"
                    + " mimetype TEXT, size INTEGER)");
            sql.execute("INSERT INTO upload_files VALUES ('i1', 'acme', 'k/i1', 'cat.png', 'image/png', 3),"
                    + " ('i2', 'other', 'k/i2', 'dog.png', 'image/png', 3),"
                    + " ('p1', 'acme', 'k/p1', 'paper.pdf', 'application/pdf', 3),"
                    + " ('t1', 'acme', 'k/t1', 'notes.md', 'text/markdown', 3),"
                    + " ('o1', 'acme', 'k/o1', 'table.xls', 'application/vnd.ms-excel', 3),"
                    + " ('big', 'acme', 'k/big', 'big.png', 'image/png', 99000000),"
                    + " ('a1', 'acme', 'k/a1', 'song[1].mp3', 'audio/mpeg', NULL)");
            sql.execute("INSERT INTO tool_files VALUES ('i1', 'acme', 'tool/i1', 'chart.png', 'image/png', 3)");
        }
    }

    @Test
    void a7_files_come_back_before_the_text_as_what_they_are() {
        List<Content> contents = shown(
                FileReference.localFile(Type.IMAGE, "i1"),
                FileReference.localFile(Type.DOCUMENT, "p1"),
                FileReference.localFile(Type.DOCUMENT, "t1"),
                FileReference.toolFile(Type.IMAGE, "i1"),
                FileReference.localFile(Type.DOCUMENT, "o1"),
                FileReference.localFile(Type.AUDIO, "a1"));

        assertThat(contents)
                .containsExactly(
                        ImageContent.from("ay9pMQ==", "image/png", DetailLevel.HIGH),
                        PdfFileContent.from("ay9wMQ==", "application/pdf"),
                        TextContent.from("k/t1"),
                        ImageContent.from("dG9vbC9pMQ==", "image/png", DetailLevel.HIGH),
                        TextContent.from("[document: table.xls]"),
                        TextContent.from("[audio: song 1 .mp3]"),
                        TextContent.from("look"));
    }

    @Test
    void a7_the_detail_of_images_can_be_configured() {
        say(FileReference.localFile(Type.IMAGE, "i1"));
        UserMessage shown = (UserMessage) memories()
                .conversation(KEY)
                .getHistoryPromptMessages(null, 2000, null, FileUploadConfig.withImageDetail(DetailLevel.LOW))
                .get(0);
        assertThat(((ImageContent) shown.contents().get(0)).detailLevel()).isEqualTo(DetailLevel.LOW);
    }

    @Test
    void a7_a_message_of_files_alone_is_shown() {
        UserMessage message =
                FileReference.attach(UserMessage.from(""), List.of(FileReference.localFile(Type.IMAGE, "i1")));
        append(message);
        assertThat(((UserMessage) history().get(0)).contents()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1/a.png",
                "http://169.254.169.254/latest/meta-data",
                "http://inside.example/a.png",
                "http://metadata.example/a.png",
                "http://loop.example/a.png"
            })
    @ExpectedLog("is shown as a placeholder")
    void a7_a_url_that_points_inside_is_a_placeholder(String url) {
        FileReference file = FileReference.remoteUrl(Type.IMAGE, url);
        assertThat(passedOn(file)).containsExactly(TextContent.from("[image: not available]"));
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a7_a_refused_url_does_not_fail_the_history() {
        append(user("before"));
        say(FileReference.remoteUrl(Type.IMAGE, "http://127.0.0.1/a.png"));
        List<ChatMessage> history = memories().conversation(KEY).getHistoryPromptMessages(100_000);
        assertThat(history).hasSize(4);
        assertThat(((UserMessage) history.get(2)).contents())
                .containsExactly(TextContent.from("[image: not available]"), TextContent.from("look"));
    }

    @Test
    @ExpectedLog({"is shown as a placeholder", "a file reference is malformed"})
    void a7_what_cannot_be_rebuilt_is_a_placeholder_and_the_history_goes_on() {
        assertThat(shown(
                        FileReference.localFile(Type.IMAGE, "nowhere"),
                        FileReference.localFile(Type.IMAGE, "i2"),
                        FileReference.localFile(Type.IMAGE, "big")))
                .containsExactly(
                        TextContent.from("[image: not available]"),
                        TextContent.from("[image: not available]"),
                        TextContent.from("[image: not available]"),
                        TextContent.from("look"));
        assertThat(loaded).isEmpty();

        UserMessage malformed = UserMessage.builder()
                .contents(List.of(TextContent.from("see")))
                .attributes(Map.of("files", List.of(Map.of("type", "image"), "no map")))
                .build();
        append(malformed);
        assertThat(((UserMessage) history().get(2)).contents())
                .containsExactly(
                        TextContent.from("[file: not available]"),
                        TextContent.from("[file: not available]"),
                        TextContent.from("see"));
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a7_the_bytes_decide_whether_a_file_is_too_large_whatever_its_row_says() {
        for (long sizeInRow : new long[] {-1, 0, 3, 1000}) {
            assertThat(loaded(sizeInRow, 1000)).isInstanceOf(ImageContent.class);
            for (int bytes : new int[] {1001, 1999, 2000, 2001}) {
                assertThat(loaded(sizeInRow, bytes))
                        .describedAs("%d bytes, %d in the row", bytes, sizeInRow)
                        .isEqualTo(TextContent.from("[image: not available]"));
            }
        }
    }

    /** Returns the content of an image of so many bytes, under a limit of 1000. */
    private static Content loaded(long sizeInRow, int bytes) {
        FileReference file = FileReference.localFile(Type.IMAGE, "i1");
        FileResolver resolver = (tenant, files) ->
                Map.of(file, new FileResolver.ResolvedFile(file, "k/i1", "cat.png", "image/png", sizeInRow));
        FileContentSource source = (tenant, resolved) -> FileContentSource.FileContent.bytes(new byte[bytes]);
        return new FileRebuilder(resolver, source, remote(), System::nanoTime)
                .rebuild(KEY, "acme", new FileUploadConfig(DetailLevel.HIGH, 1000), List.of(file))
                .apply(file);
    }

    @Test
    @ExpectedLog("files cannot be read")
    void a7_a_database_that_is_down_does_not_fail_the_history() {
        say(FileReference.localFile(Type.IMAGE, "i1"));
        database.setUrl("jdbc:sqlite:" + directory.resolve("no/such/directory/files.db"));
        assertThat(((UserMessage) history().get(0)).contents())
                .containsExactly(TextContent.from("[image: not available]"), TextContent.from("look"));
    }

    @Test
    void a7_whose_a_file_is_decides_where_it_is_shown() {
        say(
                FileReference.localFile(Type.IMAGE, "i1").belongingTo(FileReference.Owner.ASSISTANT),
                new FileReference(Type.DOCUMENT, FileReference.TransferMethod.LOCAL_FILE, "t1", null, null, null));
        assertThat(((UserMessage) history().get(0)).contents())
                .containsExactly(TextContent.from("k/t1"), TextContent.from("look"));
        assertThat(history().get(1).toString()).contains("[image]\nnice");
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a15_fifty_files_cost_one_query_for_each_table() {
        for (int i = 0; i < 25; i++) {
            say(FileReference.localFile(Type.IMAGE, "i1"), FileReference.localFile(Type.DOCUMENT, "x" + i));
            say(FileReference.toolFile(Type.DOCUMENT, "y" + i));
        }
        WorkflowMemories memories = memories();
        queries.clear();
        assertThat(memories.conversation(KEY).getHistoryPromptMessages(1_000_000))
                .hasSize(100);
        assertThat(queries).hasSize(2);
        assertThat(loaded).describedAs("the one that is there, once").hasSize(1);
    }

    @Test
    void a15_a_source_may_give_urls_that_the_provider_can_read() {
        WorkflowMemories presigned = WorkflowMemories.builder()
                .conversationLog(log)
                .fileResolver(JdbcFileResolver.of(database))
                .fileContentSource((tenant, file) -> FileContentSource.FileContent.url(
                        URI.create("https://bucket.example/" + file.storageKey() + "?signed=" + tenant)))
                .build();
        say(FileReference.localFile(Type.IMAGE, "i1"), FileReference.localFile(Type.DOCUMENT, "p1"));
        UserMessage shown = (UserMessage)
                presigned.conversation(KEY).getHistoryPromptMessages(100_000).get(0);
        assertThat(shown.contents())
                .containsExactly(
                        ImageContent.from("https://bucket.example/k/i1?signed=acme", DetailLevel.HIGH),
                        PdfFileContent.from("https://bucket.example/k/p1?signed=acme"),
                        TextContent.from("look"));
    }

    @Test
    void a15_only_files_of_turns_that_may_fit_are_looked_for() {
        say(FileReference.localFile(Type.IMAGE, "i1"));
        append(user("no file here"));
        queries.clear();
        memories().conversation(KEY).getHistoryPromptMessages(25);
        assertThat(queries).isEmpty();
    }

    @Test
    void a15_contents_are_loaded_for_turns_that_still_fit_only() {
        say(FileReference.localFile(Type.IMAGE, "i1"));
        say(FileReference.localFile(Type.DOCUMENT, "p1"));
        say(FileReference.localFile(Type.DOCUMENT, "t1"));
        assertThat(memories().conversation(KEY).getHistoryPromptMessages(200)).hasSize(2);
        assertThat(loaded).extracting(FileResolver.ResolvedFile::storageKey).containsExactly("k/t1", "k/p1");
    }

    @Test
    void a7_a_blank_text_beside_an_image_is_left_out() {
        append(UserMessage.from(ImageContent.from("https://outside.example/a.png"), TextContent.from(" ")));
        assertThat(((UserMessage) history().get(0)).contents())
                .containsExactly(ImageContent.from("https://outside.example/a.png"));
    }

    @Test
    void a7_an_id_of_a_file_cannot_forge_a_line_of_the_log() {
        List<String> logged = Logged.during(() -> shown(FileReference.localFile(Type.IMAGE, "x\nWARN forged")));
        assertThat(String.join("\n", logged)).contains("placeholder").doesNotContain("\nWARN forged");
    }

    @Test
    void a7_a_long_name_is_not_cut_within_a_character() throws Exception {
        String name = "x".repeat(99);
        try (Connection connection = database.getConnection();
                Statement sql = connection.createStatement()) {
            sql.execute("INSERT INTO upload_files VALUES ('e1', 'acme', 'k/e1', '" + name
                    + "\uD83D\uDE00.mp3', 'audio/mpeg', 1)");
        }
        assertThat(shown(FileReference.localFile(Type.AUDIO, "e1")).get(0))
                .isEqualTo(TextContent.from("[audio: " + name + "]"));
    }

    @Test
    void a15_the_rows_give_key_name_type_and_size_to_their_own_tenant() {
        FileReference mine = FileReference.localFile(Type.IMAGE, "i1");
        FileReference theirs = FileReference.localFile(Type.IMAGE, "i2");
        FileReference unsized = FileReference.localFile(Type.AUDIO, "a1");
        JdbcFileResolver resolver = JdbcFileResolver.of(database);

        assertThat(resolver.resolve("acme", List.of(mine, theirs, unsized)))
                .containsOnlyKeys(mine, unsized)
                .containsEntry(mine, new FileResolver.ResolvedFile(mine, "k/i1", "cat.png", "image/png", 3))
                .containsEntry(
                        unsized, new FileResolver.ResolvedFile(unsized, "k/a1", "song[1].mp3", "audio/mpeg", -1));
        assertThat(resolver.resolve("other", List.of(mine, theirs))).containsOnlyKeys(theirs);
        assertThat(resolver.resolve("acme' OR '1'='1", List.of(mine))).isEmpty();
    }

    @Test
    void a15_names_of_tables_and_columns_can_be_configured_and_are_checked() throws Exception {
        try (Connection connection = database.getConnection();
                Statement sql = connection.createStatement()) {
            sql.execute("CREATE TABLE docs (doc TEXT, owner TEXT, path TEXT, title TEXT, kind TEXT, bytes INTEGER)");
            sql.execute("INSERT INTO docs VALUES ('d1', 'acme', 'here', 'D', 'text/plain', 1)");
        }
        JdbcFileResolver.Table docs =
                new JdbcFileResolver.Table("docs", "doc", "owner", "path", "title", "kind", "bytes");
        FileReference file = FileReference.localFile(Type.DOCUMENT, "d1");
        assertThat(JdbcFileResolver.of(database)
                        .tables(docs, JdbcFileResolver.Table.TOOL_FILES)
                        .resolve("acme", List.of(file)))
                .containsEntry(file, new FileResolver.ResolvedFile(file, "here", "D", "text/plain", 1));
        assertThrown(
                InvalidInputException.class,
                () -> new JdbcFileResolver.Table("docs; DROP", "a", "b", "c", "d", "e", "f"));
        assertThatThrownBy(() -> JdbcFileResolver.of(database)
                        .tables(new JdbcFileResolver.Table("none", "a", "b", "c", "d", "e", "f"), docs)
                        .resolve("acme", List.of(file)))
                .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                        .isFalse())
                .hasMessageContaining("none")
                .hasRootCauseInstanceOf(java.sql.SQLException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1/x",
                "http://127.8.9.1:8080/x",
                "http://[::1]/x",
                "http://10.1.2.3/x",
                "http://172.16.0.1/x",
                "http://172.31.255.255/x",
                "http://192.168.1.1/x",
                "http://169.254.169.254/latest/meta-data",
                "http://[fc00::1]/x",
                "http://[fdff::1]/x",
                "http://[fe80::1]/x",
                "http://0.0.0.0/x",
                "http://[::]/x",
                "http://[::ffff:127.0.0.1]/x",
                "http://[::ffff:10.0.0.1]/x",
                "http://[64:ff9b::7f00:1]/x",
                "http://[2002:7f00:1::]/x",
                "http://2130706433/x",
                "http://127.1/x",
                "http://user@127.0.0.1/x",
                "http://100.64.0.0/x",
                "http://100.65.0.1/x",
                "http://100.100.100.200/x",
                "http://100.127.255.255/x",
                "http://[2002:6465:1::]/x",
                "http://[64:ff9b::6440:1]/x",
                "http://[64:ff9b::647f:ffff]/x",
                "http://localhost/x",
                "http://inside.example/x",
                "http://both.example/x",
                "http://nowhere.example/x",
                "http://under_score/x",
                "http://0177.0.0.1/x",
                "http://0300.0250.0.1/x",
                "http://0x7f.1/x",
                "http://017700000001/x",
                "http://127.0.0.1./x",
                "http://localhost./x",
                "http://192.0.0.192/x",
                "http://168.63.129.16/x",
                "http://224.0.0.1/x",
                "http://255.255.255.255/x",
                "http://[fec0::1]/x",
                "http://[ff02::1]/x",
                "http://[::127.0.0.1]/x",
                "http://[::ffff:0:7f00:1]/x",
                "http://[64:ff9b:1::a00:1]/x",
                "http://[2001:0:5ef5:79fd:0:0:80ff:fffe]/x",
                "http://[100::1]/x",
                "file:///etc/passwd"
            })
    void a15_urls_that_point_inside_are_refused(String url) {
        assertThat(remote().isAllowed(URI.create(url))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://outside.example/x",
                "http://93.184.216.34/x",
                "http://100.63.255.255/x",
                "http://100.128.0.0/x",
                "http://172.32.0.1/x",
                "http://172.15.0.1/x",
                "http://192.169.0.1/x",
                "http://[2606:2800:220:1::1]/x",
                "http://11.0.0.1/x"
            })
    void a15_urls_of_the_open_web_are_passed_on(String url) {
        assertThat(remote().isAllowed(URI.create(url))).isTrue();
    }

    @Test
    void a7_files_in_the_web_are_passed_on_as_urls() {
        assertThat(passedOn(
                        FileReference.remoteUrl(Type.IMAGE, "https://outside.example/a.png"),
                        FileReference.remoteUrl(Type.DOCUMENT, "https://outside.example/a.PDF"),
                        FileReference.remoteUrl(Type.VIDEO, "https://outside.example/a.mp4")))
                .containsExactly(
                        ImageContent.from("https://outside.example/a.png", DetailLevel.HIGH),
                        PdfFileContent.from("https://outside.example/a.PDF"),
                        TextContent.from("[video]"));
    }

    @Test
    void a7_only_listed_hosts_are_allowed_where_there_is_a_list() {
        RemoteUrls listed = new RemoteUrls(
                FilesTest::addresses, RemoteHosts.only("nowhere.example", "inside.example", "*.Files.example"));
        for (String url : List.of(
                "https://nowhere.example/a.png",
                "https://NOWHERE.example./a.png",
                "http://inside.example:8080/a.png",
                "https://a.files.example/a.png",
                "https://a.b.files.example/a.png")) {
            assertThat(listed.isAllowed(URI.create(url))).as(url).isTrue();
        }
        for (String url : List.of(
                "https://outside.example/a.png",
                "https://files.example/a.png",
                "https://notfiles.example/a.png",
                "https://nowhere.example.org/a.png",
                "https://nowhere.example@outside.example/a.png",
                "http://127.0.0.1/a.png",
                "ftp://nowhere.example/a.png",
                "file:///etc/passwd")) {
            assertThat(listed.isAllowed(URI.create(url))).as(url).isFalse();
        }
        for (String wrong : List.of("", "*", "*.", "a*.example", "https://a.example/")) {
            assertThatThrownBy(() -> RemoteHosts.only(wrong)).isInstanceOf(InvalidInputException.class);
        }
        assertThatThrownBy(RemoteHosts::only).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void a7_a_name_that_only_a_proxy_resolves_is_allowed_where_that_is_said() {
        RemoteUrls byProxy = new RemoteUrls(FilesTest::addresses, RemoteHosts.resolvedByProxy());
        assertThat(byProxy.isAllowed(URI.create("https://nowhere.example/a.png")))
                .isTrue();
        assertThat(byProxy.isAllowed(URI.create("https://outside.example/a.png")))
                .isTrue();
        for (String url : List.of(
                "https://inside.example/a.png",
                "https://both.example/a.png",
                "http://169.254.169.254/latest",
                "http://[::1]/a.png",
                "http://0177.0.0.1/a.png",
                "http://metadata-of-no-cloud/a.png",
                "http://metadata.of.no-cloud.internal/a.png",
                "http://printer.local./a.png")) {
            assertThat(byProxy.isAllowed(URI.create(url))).as(url).isFalse();
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a7_the_rule_for_hosts_holds_in_a_history() {
        say(FileReference.remoteUrl(Type.IMAGE, "https://files.nowhere.invalid/a.png"));
        assertThat(shownBy(builder().build())).contains(TextContent.from("[image: not available]"));
        for (RemoteHosts hosts : List.of(RemoteHosts.only("*.nowhere.invalid"), RemoteHosts.resolvedByProxy())) {
            assertThat(shownBy(builder().remoteHosts(hosts).build()))
                    .contains(ImageContent.from("https://files.nowhere.invalid/a.png", DetailLevel.HIGH));
        }
    }

    private static List<Content> shownBy(WorkflowMemories memories) {
        return ((UserMessage) memories.conversation(KEY)
                        .getHistoryPromptMessages(100_000)
                        .get(0))
                .contents();
    }

    private static RemoteUrls remote() {
        return new RemoteUrls(FilesTest::addresses, RemoteHosts.openWeb());
    }

    private static InetAddress[] addresses(String host) throws UnknownHostException {
        InetAddress outside = InetAddress.getByAddress(new byte[] {93, (byte) 184, (byte) 216, 34});
        return switch (host) {
            case "outside.example" -> new InetAddress[] {outside};
            case "inside.example" -> InetAddress.getAllByName("10.0.0.7");
            case "metadata.example" -> InetAddress.getAllByName("169.254.169.254");
            case "loop.example" -> InetAddress.getAllByName("127.0.0.1");
            case "both.example" -> new InetAddress[] {outside, InetAddress.getByName("192.168.0.7")};
            case "nowhere.example" -> throw new UnknownHostException(host);
            default -> InetAddress.getAllByName(host);
        };
    }

    private WorkflowMemories memories() {
        return builder().build();
    }

    /** Each look-up takes all of its time. The clock is the test's. */
    @Test
    @ExpectedLog("is shown as a placeholder")
    void a_hundred_unknown_names_take_at_most_twenty_seconds_of_each_history() {
        AtomicLong clock = new AtomicLong();
        RemoteUrls.Names dead = host -> {
            clock.addAndGet(Duration.ofSeconds(5).toNanos());
            throw new UnknownHostException(host);
        };
        RemoteUrls remote = new RemoteUrls(dead, RemoteHosts.openWeb());
        FileRebuilder rebuilder = new FileRebuilder(FileResolver.NONE, FileContentSource.NONE, remote, clock::get);
        FileUploadConfig config = new FileUploadConfig(DetailLevel.HIGH, 1000);
        List<FileReference> files = IntStream.range(0, 100)
                .mapToObj(i -> FileReference.remoteUrl(Type.IMAGE, "http://dead" + i + ".example/" + i + ".png"))
                .toList();
        for (int history = 0; history < 2; history++) {
            long before = clock.get();
            var made = rebuilder.rebuild(KEY, "acme", config, files);
            assertThat(files).allSatisfy(file -> assertThat(made.apply(file))
                    .isEqualTo(TextContent.from("[image: not available]")));
            assertThat(Duration.ofNanos(clock.get() - before)).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(20));
        }
    }

    private static List<Content> passedOn(FileReference... files) {
        FileUploadConfig config = new FileUploadConfig(DetailLevel.HIGH, 1000);
        return Stream.of(files)
                .map(new FileRebuilder(FileResolver.NONE, FileContentSource.NONE, remote(), System::nanoTime)
                        .rebuild(KEY, "acme", config, List.of(files)))
                .toList();
    }

    private WorkflowMemories.Builder builder() {
        return WorkflowMemories.builder()
                .conversationLog(log)
                .fileResolver(JdbcFileResolver.of(counted()))
                .fileContentSource((tenant, file) -> {
                    loaded.add(file);
                    return FileContentSource.FileContent.bytes(file.storageKey().getBytes(StandardCharsets.UTF_8));
                });
    }

    /** The database, with a note of each statement. */
    private DataSource counted() {
        ClassLoader loader = getClass().getClassLoader();
        return Watched.of(DataSource.class, database, call -> {
            Connection connection;
            connection = (Connection) call.proceed();
            return Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class}, (p2, m2, a2) -> {
                if (m2.getName().equals("prepareStatement")) {
                    queries.add((String) a2[0]);
                }
                return m2.invoke(connection, a2);
            });
        });
    }

    private void say(FileReference... files) {
        append(FileReference.attach(user("look"), List.of(files)));
    }

    private void append(UserMessage message) {
        said++;
        log.append(
                KEY,
                Append.underHead(
                        new NewMessage("u" + said, message, 10, "jtokkit:o200k_base", null),
                        new NewMessage("a" + said, ai("nice"), 5, "jtokkit:o200k_base", null)));
    }

    private List<ChatMessage> history() {
        return memories().conversation(KEY).getHistoryPromptMessages(100_000);
    }

    private List<Content> shown(FileReference... files) {
        say(files);
        return ((UserMessage) history().get(0)).contents();
    }
}
