package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.BranchComparison;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.MessagePreview;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a user interface calls: E4 of the behaviours. */
class UserInterfaceTest {

    enum Backend {
        MEMORY,
        SQLITE,
        POSTGRES
    }

    interface Streaming {
        TokenStream chat(@dev.langchain4j.service.MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    @TempDir
    Path directory;

    private MessageLog log = new InMemoryMessageLog();
    private Keepsake keepsake = Keepsake.builder().messageLog(log).build();
    private Conversation conversation = keepsake.conversation("c");

    @AfterEach
    void close() {
        log.close();
    }

    private void open(Backend backend) throws Exception {
        switch (backend) {
            case MEMORY -> log = new InMemoryMessageLog();
            case SQLITE -> log = SqliteMessageLog.open(directory.resolve("chat.db"));
            case POSTGRES -> {
                log = Postgres.log(Postgres.common("user_interface"));
            }
        }
        use(log);
    }

    private void use(MessageLog other) {
        keepsake = Keepsake.builder().messageLog(other).build();
        conversation = keepsake.conversation("c");
    }

    @ParameterizedTest
    @EnumSource
    void e4_the_history_is_a_stream_in_both_directions(Backend backend) throws Exception {
        open(backend);
        for (int i = 0; i < 25; i++) {
            conversation.append(i % 7 == 6 ? Parent.of("m2") : Parent.head(), "m" + i, user("text " + i));
        }
        List<String> all = IntStream.range(0, 25).mapToObj(i -> "m" + i).toList();
        List<String> reversed =
                IntStream.range(0, 25).mapToObj(i -> "m" + (24 - i)).toList();

        for (int limit : new int[] {1, 4, 24, 25, 26}) {
            assertThat(conversation.historyStream(HistoryQuery.oldest(limit)).map(LoggedMessage::id))
                    .isEqualTo(all);
            assertThat(conversation.historyStream(HistoryQuery.newest(limit)).map(LoggedMessage::id))
                    .isEqualTo(reversed);
        }
        HistoryQuery older =
                conversation.history(HistoryQuery.newest(10)).next().orElseThrow();
        assertThat(conversation.historyStream(older).map(LoggedMessage::id)).isEqualTo(reversed.subList(10, 25));
        assertThat(keepsake.conversation("empty").historyStream(HistoryQuery.oldest(5)))
                .isEmpty();
    }

    @Test
    void e4_a_stream_reads_a_page_when_it_needs_one() {
        WatchedLog watched = new WatchedLog(log);
        use(watched.log());
        for (int i = 0; i < 25; i++) {
            conversation.append(Parent.head(), "m" + i, user("text " + i));
        }

        try (Stream<LoggedMessage> stream = conversation.historyStream(HistoryQuery.newest(10))) {
            assertThat(watched.calls("history")).isZero();
            Iterator<LoggedMessage> messages = stream.iterator();
            for (int i = 24; i > 14; i--) {
                assertThat(messages.next().id()).isEqualTo("m" + i);
            }
            assertThat(watched.calls("history")).isOne();
            conversation.append(Parent.head(), "later", user("later"));
            assertThat(messages.next().id()).isEqualTo("m14");
            assertThat(watched.calls("history")).isEqualTo(2);
        }
        assertThat(conversation
                        .historyStream(HistoryQuery.newest(5))
                        .filter(message -> message.id().equals("m24"))
                        .findFirst())
                .isPresent();
        assertThat(watched.calls("history")).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource
    void e4_branches_are_told_apart_by_the_beginnings_of_their_own_messages(Backend backend) throws Exception {
        open(backend);
        conversation.append(Parent.root(), "q", user("Which\n\n  honey?"));
        conversation.append(Parent.head(), "a1", ai("Heather honey. " + "It is good. ".repeat(1_000)));
        conversation.append(Parent.head(), "q2", user("Why?"));
        conversation.append(Parent.head(), "a2", ai("Because of the taste."));
        conversation.append(Parent.of("q"), "b1", ai("Lime honey."));
        assertThat(conversation.branchPreviews(10))
                .extracting(each -> each.branch().leafId(), each -> each.first().text(), each -> each.last()
                        .text())
                .satisfiesExactly(
                        newest -> assertThat(newest.toList()).containsExactly("b1", "Lime honey.", "Lime honey."),
                        older -> {
                            assertThat(older.toList()).startsWith("a2").endsWith("Because of the taste.");
                            assertThat((String) older.toList().get(1))
                                    .startsWith("Heather honey. It is good.")
                                    .endsWith("…")
                                    .hasSizeLessThanOrEqualTo(MessagePreview.MAX_LENGTH);
                        });

        conversation.switchTo("a2");
        assertThat(conversation.branchPreviews(1))
                .extracting(each -> each.branch().leafId())
                .containsExactly("a2");
        assertThat(keepsake.conversation("none").branchPreviews(1)).isEmpty();
        assertThrown(InvalidInputException.class, () -> conversation.branchPreviews(0), "maxBranches");
    }

    @ParameterizedTest
    @EnumSource
    void e4_the_tree_has_the_children_of_each_message_and_the_current_branch(Backend backend) throws Exception {
        open(backend);
        conversation.append(Parent.root(), "q", user("Which honey?"));
        conversation.append(Parent.head(), "a1", ai("Heather."));
        conversation.append(Parent.head(), "q2", user("Why?"));
        conversation.append(Parent.of("q"), "b1", ai("Lime."));
        assertThat(conversation.tree(10))
                .extracting(
                        node -> node.message().id(), Conversation.TreeNode::current, Conversation.TreeNode::childIds)
                .containsExactly(
                        tuple("q", true, List.of("a1", "b1")),
                        tuple("a1", false, List.of("q2")),
                        tuple("q2", false, List.of()),
                        tuple("b1", true, List.of()));

        conversation.switchTo("q2");
        assertThat(conversation.tree(2))
                .extracting(node -> node.message().id(), Conversation.TreeNode::current)
                .containsExactly(tuple("q2", true), tuple("b1", false));
        assertThat(keepsake.conversation("none").tree(1)).isEmpty();
        assertThrown(InvalidInputException.class, () -> conversation.tree(0), "maxMessages");
    }

    private static List<String> ids(List<LoggedMessage> messages) {
        return messages.stream().map(LoggedMessage::id).toList();
    }

    @ParameterizedTest
    @EnumSource
    void a2_two_branches_are_compared_by_what_they_share_and_what_each_has_alone(Backend backend) throws Exception {
        open(backend);
        conversation.append(Parent.root(), "A", user("A"));
        conversation.append(Parent.of("A"), "B", ai("B"));
        conversation.append(Parent.of("A"), "B2", ai("B again"));
        conversation.append(Parent.of("B2"), "C", user("C"));
        conversation.append(Parent.root(), "X", user("elsewhere"));
        keepsake.chatMemory("c").clear();

        BranchComparison parted = conversation.compare("C", "B");
        assertThat(ids(parted.common())).containsExactly("A");
        assertThat(ids(parted.first())).containsExactly("B2", "C");
        assertThat(ids(parted.second())).containsExactly("B");
        assertThat(conversation.compare("B", "B")).satisfies(same -> {
            assertThat(ids(same.common())).containsExactly("A", "B");
            assertThat(same.first()).isEmpty();
            assertThat(same.second()).isEmpty();
        });
        assertThat(ids(conversation.compare("A", "C").second())).containsExactly("B2", "C");
        assertThat(conversation.compare("B", "X").common()).isEmpty();
        assertThat(ids(conversation.compare("B", "X").first())).containsExactly("A", "B");
        assertThatThrownBy(() -> conversation.compare("A", "none")).isInstanceOf(InvalidInputException.class);
    }

    @ParameterizedTest
    @EnumSource
    void a2_branches_of_any_length_are_compared_as_their_parents_say(Backend backend) throws Exception {
        open(backend);
        Random random = new Random(3);
        Map<String, List<String>> paths = new HashMap<>();
        List<String> all = new ArrayList<>();
        for (int run = 0; run < 12; run++) {
            String parent = all.isEmpty() || random.nextInt(6) == 0 ? null : all.get(random.nextInt(all.size()));
            List<NewMessage> batch = new ArrayList<>();
            List<String> path = parent == null ? List.of() : paths.get(parent);
            int length = 1 + random.nextInt(random.nextBoolean() ? 5 : 300);
            for (int i = 0; i < length; i++) {
                String id = "m" + all.size();
                batch.add(new NewMessage(id, user(id), 1, "none", null));
                path = Stream.concat(path.stream(), Stream.of(id)).toList();
                paths.put(id, path);
                all.add(id);
            }
            log.append(
                    ConversationKey.of(conversation.key().tenant(), "c"),
                    Append.under(parent == null ? Parent.root() : Parent.of(parent), batch));
        }
        for (int pair = 0; pair < 40; pair++) {
            List<String> one = paths.get(all.get(random.nextInt(all.size())));
            List<String> other = paths.get(all.get(random.nextInt(all.size())));
            List<String> common = one.stream().filter(other::contains).toList();
            BranchComparison compared = conversation.compare(one.get(one.size() - 1), other.get(other.size() - 1));
            assertThat(ids(compared.common())).isEqualTo(common);
            assertThat(ids(compared.first())).isEqualTo(one.subList(common.size(), one.size()));
            assertThat(ids(compared.second())).isEqualTo(other.subList(common.size(), other.size()));
        }
    }

    @Test
    void a2_a_comparison_of_two_answers_does_not_read_a_long_beginning_twice() {
        WatchedLog watched = new WatchedLog(log);
        use(watched.log());
        for (int i = 0; i < 1_000; i++) {
            conversation.append(Parent.head(), "m" + i, user("text " + i));
        }
        conversation.append(Parent.of("m999"), "a", ai("one"));
        conversation.append(Parent.of("m999"), "b", ai("another"));

        int before = watched.calls().size();
        assertThat(conversation.compare("a", "b").common()).hasSize(1_000);
        assertThat(watched.calls().subList(before, watched.calls().size())).containsExactly("read", "read", "read");
    }

    @Test
    void e4_the_previews_of_branches_cost_the_same_however_long_the_branches_are() {
        WatchedLog watched = new WatchedLog(log);
        use(watched.log());
        for (int fork = 0; fork < 30; fork++) {
            conversation.append(fork == 0 ? Parent.root() : Parent.of("m0"), "m" + fork, user("branch " + fork));
        }

        assertThat(conversation.branchPreviews(20)).hasSize(20);
        assertThat(watched.calls("branches")).isOne();
        assertThat(watched.calls("find")).isOne();
        assertThat(watched.calls("read") + watched.calls("history")).isZero();
    }

    @Test
    void e4_a_preview_is_one_line_that_is_cut_between_characters() {
        assertThat(text(user("  a\n\t b  "))).isEqualTo("a b");
        assertThat(text(user(" ".repeat(10_000)))).isEmpty();
        assertThat(text(user("x".repeat(120)))).isEqualTo("x".repeat(120));
        assertThat(text(user("x".repeat(121)))).isEqualTo("x".repeat(119) + "…");
        assertThat(text(user("x".repeat(118) + "😀😀"))).isEqualTo("x".repeat(118) + "…");
        assertThat(text(user("x".repeat(118) + " " + "y".repeat(9)))).isEqualTo("x".repeat(118) + "…");
        assertThat(text(UserMessage.from(
                        TextContent.from("Look"),
                        ImageContent.from("https://example.org/a.png"),
                        TextContent.from("!"))))
                .isEqualTo("Look [image] !");
        assertThat(text(AiMessage.from(call("1", "find", "{}"), call("2", "look", "{}"))))
                .isEqualTo("[find] [look]");
        assertThat(text(AiMessage.from("Wait", List.of(call("1", "find", "{}")))))
                .isEqualTo("Wait");
    }

    private static String text(ChatMessage message) {
        Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());
        Conversation conversation = keepsake.conversation("c");
        conversation.append(Parent.root(), "m", message);
        return conversation.branchPreviews(1).get(0).last().text();
    }

    @ParameterizedTest
    @EnumSource
    void e4_a_list_of_conversations_has_titles_and_a_preview_of_each(Backend backend) throws Exception {
        open(backend);
        Conversation other = keepsake.conversation("other");
        assertThat(other.info()).isEmpty();
        assertThat(other.preview()).isEmpty();
        conversation.append(Parent.head(), "q", user("Hello?"));
        conversation.append(Parent.head(), "a", ai("Hello!"));
        conversation.append(Parent.head(), "call", AiMessage.from(call("1", "find", "{}")));
        conversation.mergeMetadata(Map.of("user", "7"));
        conversation.setTitle("Greetings");
        keepsake.nodes("app").chatMemoryProvider("writer").get("c").add(user("of a node"));

        MemoryInfo info = conversation.info().orElseThrow();
        assertThat(info.title()).isEqualTo("Greetings");
        assertThat(info.metadata()).containsExactly(Map.entry("user", "7"));
        assertThat(conversation.preview().orElseThrow().text()).isEqualTo("Hello!");
        List<MemoryInfo> listed =
                keepsake.conversations(ListQuery.first(10).byActivity()).memories();
        assertThat(listed).containsExactly(info);
        assertThat(keepsake.conversation(listed.get(0).key()).info()).contains(info);
        assertThat(info.key()).isEqualTo(ConversationKey.of("default", "c"));
    }

    @ParameterizedTest
    @EnumSource
    void e4_an_answer_is_made_again_and_a_question_is_tried_again_with_the_id_alone(Backend backend) throws Exception {
        open(backend);
        Script model = new Script("first", "second", new IllegalStateException("out of order"), "third");
        Assistant assistant =
                keepsake.aiServices(Assistant.class).chatModel(model).build();
        assistant.chat("c", "one");
        LoggedMessage answer = conversation.branch(1).messages().get(0);

        assertThat(keepsake.conversation("c")
                        .<Object>regenerate(answer.id(), question -> assistant.chat("c", question.singleText())))
                .isEqualTo("second");
        assertThat(conversation.messages()).containsExactly(user("one"), ai("second"));
        assertThat(EndingTurns.history(keepsake, "c")).isEqualTo("U(one), A(first), A(second)");

        assertThatThrownBy(() -> assistant.chat("c", "two")).hasMessageContaining("out of order");
        LoggedMessage failed = conversation.branch(1).messages().get(0);
        assertThat(keepsake.conversation("c")
                        .<Object>retry(failed.id(), question -> assistant.chat("c", question.singleText())))
                .isEqualTo("third");
        assertThat(conversation.messages()).containsExactly(user("one"), ai("second"), user("two"), ai("third"));

        keepsake.conversation("c").turn(Turn.edit(failed.id()), () -> assistant.chat("c", "three"));
        assertThat(conversation.messages()).containsExactly(user("one"), ai("second"), user("three"), ai("third"));
        assertThat(conversation.branches()).extracting(Branch::length).containsExactly(4L, 4L, 2L);
    }

    @Test
    void e4_what_has_no_question_is_not_made_again() {
        conversation.append(Parent.root(), "greeting", ai("Hello!"));
        conversation.append(Parent.head(), "q", user("Hello?"));
        conversation.append(Parent.head(), "a", ai("What can I do?"));

        assertThat(conversation.questionOf("greeting")).isEmpty();
        assertThat(conversation.questionOf("q")).map(LoggedMessage::id).contains("q");
        assertThat(conversation.questionOf("a")).map(LoggedMessage::id).contains("q");
        for (String id : List.of("greeting", "unknown")) {
            assertThrown(
                    InvalidInputException.class,
                    () -> keepsake.conversation("c").regenerate(id, question -> "never called"),
                    id);
        }
        assertThatThrownBy(() -> conversation.questionOf("unknown")).isInstanceOf(InvalidInputException.class);
    }

    @ParameterizedTest
    @EnumSource
    void e4_an_answer_is_stopped_and_kept_as_far_as_it_came(Backend backend) throws Exception {
        open(backend);
        CountDownLatch saying = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        StreamScript model = new StreamScript(sink -> {
            sink.tokens("Once ", "upon ");
            saying.countDown();
            stopped.await(1, TimeUnit.MINUTES);
            if (!sink.cancelled.get()) {
                sink.done("Once upon a time");
            }
        });
        Streaming assistant =
                keepsake.aiServices(Streaming.class).streamingChatModel(model).build();
        EndingTurns.quiet(assistant.chat("c", "A story")).start();
        saying.await(1, TimeUnit.MINUTES);

        assertThat(keepsake.conversation("other").stop()).isZero();
        assertThat(keepsake.conversation("c").stop()).isOne();
        assertThat(keepsake.conversation("c").stop()).isZero();
        stopped.countDown();
        model.await();
        assertThat(EndingTurns.history(keepsake, "c")).isEqualTo("U(A story), A(Once upon ) [incomplete cancelled]");
    }

    @Test
    void e4_an_answer_is_stopped_before_its_first_token() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        StreamScript model = new StreamScript(
                sink -> {
                    asked.countDown();
                    stopped.await(1, TimeUnit.MINUTES);
                    sink.tokens("Once ");
                    assertThat(sink.cancelled).isTrue();
                },
                sink -> sink.tokens("Twice").done("Twice"));
        Streaming assistant =
                keepsake.aiServices(Streaming.class).streamingChatModel(model).build();
        EndingTurns.quiet(assistant.chat("c", "A story")).start();
        asked.await(1, TimeUnit.MINUTES);
        assertThat(keepsake.conversation("c").stop()).isOne();
        stopped.countDown();
        model.await();

        EndingTurns.quiet(assistant.chat("c", "Another")).start();
        model.await();
        assertThat(keepsake.conversation("c").stop()).isZero();
        assertThat(EndingTurns.history(keepsake, "c")).isEqualTo("U(A story) [failed cancelled], U(Another), A(Twice)");
    }

    @ParameterizedTest
    @EnumSource
    void e4_a_message_in_hand_has_its_id(Backend backend) throws Exception {
        open(backend);
        KeepsakeChatMemory memory = keepsake.chatMemory("c");
        List<AiMessage> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            memory.add(user("again"));
            answers.add(ai("ok"));
            memory.add(answers.get(i));
        }
        List<String> ids = conversation.branch(100).messages().stream()
                .map(LoggedMessage::id)
                .toList();

        for (List<ChatMessage> given : List.of(memory.messages(), conversation.messages())) {
            assertThat(given)
                    .map(message -> conversation.idOf(message).orElse("none"))
                    .isEqualTo(ids);
        }
        assertThat(answers)
                .map(message -> conversation.idOf(message).orElse("none"))
                .containsExactly(ids.get(1), ids.get(3), ids.get(5));
        assertThat(conversation.idOf(ai("ok"))).as("three are equal").isEmpty();
        assertThat(conversation.idOf(ai("never said"))).isEmpty();
        memory.add(user("only once"));
        assertThat(conversation.idOf(user("only once")))
                .contains(conversation.branch(1).messages().get(0).id());
        assertThat(keepsake.conversation("other").idOf(answers.get(0))).isEmpty();

        memory.add(SystemMessage.from("Be kind"));
        memory.add(answers.get(0));
        assertThat(conversation.idOf(answers.get(0))).as("it is two messages").isEmpty();
        conversation.erase();
        assertThat(conversation.idOf(answers.get(1))).isEmpty();
    }

    @Test
    void e4_a_result_that_is_shown_shortened_has_the_id_of_the_stored_one() {
        Keepsake clearing = Keepsakes.on(log, ClearToolResults.keepNewest(1));
        KeepsakeChatMemory memory = clearing.chatMemory("c");
        for (String call : List.of("1", "2")) {
            memory.add(List.of(user("use it"), calls(call)));
            memory.add(ToolExecutionResultMessage.from(call, "tool", "result ".repeat(50)));
            memory.add(ai("used " + call));
        }
        String id = conversation.branch(100).messages().get(2).id();
        ChatMessage shown = memory.messages().get(2);
        ChatMessage stored = ToolExecutionResultMessage.from("1", "tool", "result ".repeat(50));

        assertThat(shown).isInstanceOf(ToolExecutionResultMessage.class).isNotEqualTo(stored);
        assertThat(clearing.conversation("c").idOf(shown)).contains(id);
        assertThat(clearing.conversation("c").idOf(stored)).contains(id);
    }

    @Test
    void e4_the_answer_of_a_service_has_its_id_when_it_is_complete() throws Exception {
        StreamScript model = new StreamScript(
                sink -> sink.tokens("ok").done("ok"), sink -> sink.tokens("ok").done("ok"));
        Streaming assistant =
                keepsake.aiServices(Streaming.class).streamingChatModel(model).build();
        List<String> told = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            assistant
                    .chat("c", "again")
                    .onPartialResponse(token -> {})
                    .onError(error -> told.add(error.toString()))
                    .onCompleteResponse(response ->
                            told.add(conversation.idOf(response.aiMessage()).orElse("none")))
                    .start();
            model.await();
        }

        List<LoggedMessage> messages = conversation.branch(10).messages();
        assertThat(told).containsExactly(messages.get(1).id(), messages.get(3).id());
    }
}
