package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.workflow.files.FileContent;
import io.github.keepsake4j.workflow.files.ResolvedFile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the memories of a workflow's nodes promise, on any log. The names begin with the promise. */
abstract class WorkflowContract {

    private static final ConversationKey CONVERSATION = ConversationKey.of("acme", "c1");
    private static final NodeKey NODE = NodeKey.of("acme", "app", "c1", "writer");
    private static final WordCounter WORDS = new WordCounter();
    private static final int PLENTY = 100_000;

    private MessageLog log;
    private WatchedLog watched;
    private WorkflowMemories memories;

    abstract MessageLog open();

    /** How many random conversations. */
    int rounds() {
        return Counts.of(40, 1000);
    }

    @BeforeEach
    void make() {
        log = open();
        watched = new WatchedLog(log);
        memories = with(WorkflowMemories.builder());
    }

    @AfterEach
    void close() {
        log.close();
    }

    private WorkflowMemories with(WorkflowMemories.Builder builder) {
        return builder.conversationLog(watched.log())
                .nodeLog(watched.log())
                .tokenCountEstimator(WORDS)
                .build();
    }

    private WorkflowMemories withoutConversations() {
        return WorkflowMemories.builder()
                .nodeLog(watched.log())
                .tokenCountEstimator(WORDS)
                .build();
    }

    // ---- a conversation's memory

    @Test
    void a1_a_history_is_the_current_thread_oldest_first() {
        say("u1", null, user("one"), "a1", ai("two"));
        say("u2", "a1", user("three"), "a2", ai("four"));

        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("one", "two", "three", "four");
    }

    @Test
    void a1_a_turn_that_is_going_on_is_not_part_of_the_history() {
        say("u1", null, user("one"), "a1", ai("two"));
        say("u2", "a1", user("three"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("one", "two");

        say("t2", "u2", calls("x"));
        say("r2", "t2", result("x"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("one", "two");

        say("a2", "r2", ai("four"));
        assertThat(conversation().getHistoryPromptMessages()).hasSize(6);
    }

    @Test
    void a1_a_huge_turn_that_is_going_on_does_not_push_out_the_history() {
        say("u1", null, user("one"), "a1", ai("two"));
        say("u2", "a1", user(WordCounter.words("big", 5000)));

        assertThat(texts(conversation().getHistoryPromptMessages(100))).containsExactly("one", "two");
    }

    @Test
    void a1_a_changed_system_message_behind_a_turn_does_not_hide_that_turn() {
        say("u1", null, user("one"), "a1", ai("two"));
        say("s1", "a1", SystemMessage.from("be brief"));

        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("one", "two");
    }

    @Test
    void a1_what_a_list_dropped_that_was_set_does_not_come_back_while_a_turn_is_going_on() {
        ChatMemoryStore store =
                Keepsake.builder().messageLog(log).tenant("acme").build().chatMemoryStore();
        store.updateMessages("c1", List.of(user("one"), ai("two"), user("three"), ai("four")));
        store.updateMessages("c1", List.of(user("three"), ai("four"), user("five")));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("three", "four");

        store.updateMessages("c1", List.of(user("six")));
        assertThat(conversation().getHistoryPromptMessages()).isEmpty();
        store.updateMessages("c1", List.of(user("six"), ai("seven")));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("six", "seven");
    }

    @Test
    void a2_the_example_of_a_regenerated_answer_gives_its_own_thread() {
        say("A", null, user("A"), "A'", ai("A'"));
        say("B", "A'", user("B"), "B'", ai("B'"));
        say("A''", "A", ai("A''"));
        say("C", "A''", user("C"), "C'", ai("C'"));

        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("A", "A''", "C", "C'");
        assertThat(texts(conversation().getHistoryPromptMessages("B'", PLENTY, null, null)))
                .containsExactly("A", "A'", "B", "B'");
    }

    @Test
    void a2_a_root_elsewhere_is_not_picked_up_and_the_zero_uuid_means_the_one_before() {
        say("u1", null, user("one"), "a1", ai("two"));
        say("u2", null, user("three"), "a2", ai("four"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("three", "four");

        say("u3", "00000000-0000-0000-0000-000000000000", user("five"), "a3", ai("six"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("three", "four", "five", "six");
    }

    @Test
    void a2_a_parent_that_is_missing_is_reported_and_what_is_there_is_shown() {
        for (MemoryKey key : List.of(CONVERSATION, NODE)) {
            log.append(
                    key,
                    Append.under(Parent.of("gone"), List.of(message("u1", user("one"))))
                            .asImport());
            append(key, "u1", message("a1", ai("two")));
        }
        for (boolean ofNode : new boolean[] {false, true}) {
            List<String> logged = Logged.during(() -> assertThat(
                            texts(ofNode ? history("m9") : conversation().getHistoryPromptMessages()))
                    .containsExactly("one", "two"));
            assertThat(logged)
                    .singleElement()
                    .asString()
                    .contains("names a missing parent", ofNode ? NODE.toString() : CONVERSATION.toString());
        }
    }

    @Test
    void a3_whole_turns_are_dropped_oldest_first() {
        say("u1", null, user("a b c"), "a1", ai("d e"));
        say("u2", "a1", user("f g"), "a2", ai("h i"));

        assertThat(conversation().getHistoryPromptMessages(WordCounter.PER_LIST + 9))
                .hasSize(4);
        assertThat(texts(conversation().getHistoryPromptMessages(WordCounter.PER_LIST + 8)))
                .containsExactly("f g", "h i");
        assertThat(texts(conversation().getHistoryPromptMessages(WordCounter.PER_LIST + 4)))
                .containsExactly("f g", "h i");
    }

    @Test
    void a3_a_last_turn_that_alone_is_too_big_gives_an_empty_history() {
        say("u1", null, user("a"), "a1", ai("b"));
        say("u2", "a1", user("c"), "a2", ai("d e f g h i"));

        assertThat(conversation().getHistoryPromptMessages(WordCounter.PER_LIST + 6))
                .isEmpty();
        assertThat(conversation().getHistoryPromptMessages(0)).isEmpty();
        assertThat(conversation().getHistoryPromptMessages(-1)).isEmpty();
    }

    @Test
    void a3_a_turn_of_tools_is_dropped_as_a_whole_and_its_calls_keep_their_results() {
        say("u1", null, user("a"), "t1", calls("x"), "r1", result("x"), "a1", ai("b"));
        int all = WORDS.estimateTokenCountInMessages(conversation().getHistoryPromptMessages(PLENTY));

        assertThat(conversation().getHistoryPromptMessages(all)).hasSize(4);
        assertThat(conversation().getHistoryPromptMessages(all - 1)).isEmpty();
    }

    @Test
    void a3_no_history_is_ever_over_its_limit() {
        memories = with(WorkflowMemories.builder()
                .fileResolver((tenant, files) -> {
                    Map<FileReference, ResolvedFile> found = new HashMap<>();
                    files.forEach(file -> found.put(file, new ResolvedFile(file, "k", "n", "image/png", 3)));
                    return found;
                })
                .fileContentSource((tenant, file) -> FileContent.bytes(new byte[] {1, 2, 3})));
        Random random = new Random(7);
        for (int round = 0; round < rounds(); round++) {
            ConversationKey key = ConversationKey.of("acme", "p" + round);
            String parent = null;
            List<String> answers = new ArrayList<>();
            for (int turn = 0; turn < random.nextInt(12); turn++) {
                String user = "u" + turn;
                UserMessage asked = user(WordCounter.words("w", 1 + random.nextInt(20)));
                if (random.nextInt(4) == 0) {
                    asked = FileReference.attach(
                            asked, List.of(FileReference.localFile(FileReference.Type.IMAGE, "f" + turn)));
                }
                String counter =
                        random.nextInt(3) == 0 ? "somebody" : WORDS.getClass().getName();
                int counted = WORDS.estimateTokenCountInMessage(asked) * (counter.equals("somebody") ? 3 : 1);
                append(key, parent, new NewMessage(user, asked, counted, counter, null));
                append(key, user, message("a" + turn, ai(WordCounter.words("x", 1 + random.nextInt(20)))));
                answers.add("a" + turn);
                parent = answers.get(random.nextInt(answers.size()));
            }
            int limit = random.nextInt(150);
            List<ChatMessage> history = memories.conversation(key).getHistoryPromptMessages(limit, random.nextInt(20));
            if (!history.isEmpty()) {
                assertThat(WORDS.estimateTokenCountInMessages(history)).isLessThanOrEqualTo(limit);
                assertThat(history.get(0)).isInstanceOf(UserMessage.class);
            }
            String text = memories.conversation(key).getHistoryPromptText(null, limit, null);
            assertThat(WORDS.estimateTokenCountInText(text)).isLessThanOrEqualTo(limit);
        }
    }

    @Test
    void a4_the_message_limit_counts_rows_of_the_thread_and_is_500_unless_it_is_less() {
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            batch.add(message("u" + i, user("q" + i)));
            batch.add(message("a" + i, ai("r" + i)));
        }
        log.append(CONVERSATION, Append.under(Parent.root(), batch));

        for (Integer limit : new Integer[] {null, 0, -5, 501, 10_000, 500}) {
            assertThat(conversation().getHistoryPromptMessages(PLENTY, limit)).hasSize(1000);
        }
        assertThat(texts(conversation().getHistoryPromptMessages(PLENTY, 2)))
                .containsExactly("q598", "r598", "q599", "r599");
        assertThat(texts(conversation().getHistoryPromptMessages(PLENTY, 1))).containsExactly("q599", "r599");
        assertThat(conversation().getHistoryPromptMessages()).hasSizeGreaterThan(900);
    }

    @Test
    void a4_the_message_limit_of_a_configuration_holds_for_node_memory() {
        turns("m1", null, "m2", "m1", "m3", "m2");
        MemoryConfig config = new MemoryConfig(MemoryMode.NODE, null, new MemoryConfig.Window(true, 2), null);
        Model model = new Model();
        LlmNode.of(memories, model, config).run(run("m4", "m3", "now"));
        assertThat(texts(model.asked.get(0))).containsExactly("q m2", "r m2", "q m3", "r m3", "now");
    }

    @Test
    void a4b_what_another_counter_counted_is_counted_again_once() {
        List<String> asked = new ArrayList<>();
        WorkflowMemories other = WorkflowMemories.builder()
                .conversationLog(log)
                .tokenCountEstimator(counting(asked))
                .build();
        append(CONVERSATION, null, new NewMessage("u1", user("a b"), 40, "somebody", null));
        append(CONVERSATION, "u1", new NewMessage("a1", ai("c d"), 1, "somebody", null));

        assertThat(other.conversation(CONVERSATION).getHistoryPromptMessages(WordCounter.PER_LIST + 3))
                .isEmpty();
        assertThat(other.conversation(CONVERSATION).getHistoryPromptMessages(60))
                .hasSize(2);
        assertThat(other.conversation(CONVERSATION).getHistoryPromptMessages(60))
                .hasSize(2);
        assertThat(asked).containsExactlyInAnyOrder("a b", "c d");
    }

    @Test
    void a4b_a_size_from_before_an_erasure_is_not_taken_for_a_new_message() {
        append(CONVERSATION, null, new NewMessage("u1", user("a"), 1, "somebody", null));
        append(CONVERSATION, "u1", new NewMessage("a1", ai("b"), 1, "somebody", null));
        assertThat(conversation().getHistoryPromptMessages(20)).hasSize(2);

        log.erase(CONVERSATION);
        append(CONVERSATION, null, new NewMessage("u1", user(WordCounter.words("a", 50)), 1, "somebody", null));
        append(CONVERSATION, "u1", new NewMessage("a1", ai("b"), 1, "somebody", null));
        assertThat(conversation().getHistoryPromptMessages(20)).isEmpty();
    }

    @Test
    void a4b_counts_that_were_five_times_too_high_leave_no_room_unused() {
        for (int turn = 0; turn < 20; turn++) {
            UserMessage asked = user(WordCounter.words("q" + turn, 10));
            append(
                    CONVERSATION,
                    turn == 0 ? null : "a" + (turn - 1),
                    new NewMessage("u" + turn, asked, 50, "another", null));
            append(
                    CONVERSATION,
                    "u" + turn,
                    new NewMessage("a" + turn, ai(WordCounter.words("a", 10)), 50, "another", null));
        }

        assertThat(conversation().getHistoryPromptMessages(WordCounter.PER_LIST + 400))
                .hasSize(40);
    }

    @Test
    void a4b_the_counter_is_that_of_the_model_in_use() {
        WorkflowMemories byModel = WorkflowMemories.builder()
                .nodeLog(watched.log())
                .conversationLog(watched.log())
                .build();
        for (String name : new String[] {"gpt-4", "gpt-4o-mini", "llama-of-my-own"}) {
            Model model = new Model();
            model.name = name;
            LlmNode.of(byModel, model, MemoryConfig.of(MemoryMode.NODE)).run(run(name, null, "héllo wörld"));
        }
        assertThat(stored(NODE))
                .extracting(LoggedMessage::tokenCounter)
                .containsExactly(
                        "jtokkit:cl100k_base",
                        "jtokkit:cl100k_base",
                        "jtokkit:o200k_base",
                        "jtokkit:o200k_base",
                        "jtokkit:o200k_base",
                        "jtokkit:o200k_base");

        Model model = new Model();
        model.name = "gpt-4";
        LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE)).run(run("configured", null, "q"));
        assertThat(stored(NODE).get(7).tokenCounter())
                .startsWith(WORDS.getClass().getName() + "@");
    }

    @Test
    void a4b_an_estimator_that_asks_a_server_is_not_called_when_a_turn_is_written() {
        List<String> asked = new ArrayList<>();
        TokenCountEstimator remote = counting(asked);
        memories = WorkflowMemories.builder()
                .conversationLog(watched.log())
                .nodeLog(watched.log())
                .remoteTokenCountEstimator(remote)
                .build();
        asked.clear();
        turns("m1", null, "m2", "m1");
        LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation()
                .run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m1").under(null), "asked"));
        assertThat(asked).doesNotContain("q m1", "r m1", "q m2", "r m2", "asked", "answer 1");

        history("m3");
        history("m3");
        assertThat(asked).containsOnlyOnce("q m1", "r m1", "q m2", "r m2");
    }

    @Test
    void a5_the_budget_leaves_out_answer_prompt_and_query() {
        List<ChatMessage> beside = List.of(SystemMessage.from("a b c"), user("d e"));
        TokenCounter counter = TokenCounter.of(WORDS);
        TokenCounts counts = new TokenCounts(counter, counter);
        assertThat(new HistoryBudget(100, 20).forHistory(beside, counts))
                .isEqualTo(100 - 20 - 5 - WordCounter.PER_LIST);
        assertThat(new HistoryBudget(20, 15).forHistory(beside, counts)).isZero();
        assertThat(new HistoryBudget(null, 0).forHistory(beside, counts)).isEqualTo(2000);
    }

    @Test
    void a6_a_history_as_text_names_roles_and_marks_files() {
        say("s", null, SystemMessage.from("hidden"));
        say("u1", "s", user("look"), "t1", calls("x"), "r1", result("x"), "a1", ai("nice"));
        UserMessage withFiles = FileReference.attach(
                user("and these"),
                List.of(
                        FileReference.localFile(FileReference.Type.DOCUMENT, "d"),
                        FileReference.localFile(FileReference.Type.CUSTOM, "z")));
        say("u2", "a1", UserMessage.from(TextContent.from("see"), ImageContent.from("https://example.org/a.png")));
        say("a2", "u2", ai("seen"), "u3", withFiles, "a3", ai("read"));

        assertThat(conversation().getHistoryPromptText(null, PLENTY, null))
                .isEqualTo("Human: look\nAssistant: nice\nHuman: see\n[image]\nAssistant: seen\n"
                        + "Human: [document]\n[file]\nand these\nAssistant: read");
        assertThat(conversation().getHistoryPromptText(new MemoryConfig.RolePrefix("Ich", "Du"), 11, 4))
                .isEqualTo("Ich: [document]\n[file]\nand these\nDu: read");
        assertThat(conversation().getHistoryPromptText(null, 3, null)).isEmpty();
    }

    @Test
    void a6_an_image_that_the_assistant_made_has_a_marker_in_a_history_as_text() {
        Image image = Image.builder().url("https://example.org/made.png").build();
        AiMessage drawn = AiMessage.builder()
                .text("two of them")
                .attributes(Map.of(AiMessage.GENERATED_IMAGES_KEY, List.of(image, image)))
                .build();
        say("u1", null, user("draw"), "a1", drawn, "u2", user("again"));
        say(
                "a2",
                "u2",
                AiMessage.builder()
                        .attributes(Map.of(AiMessage.GENERATED_IMAGES_KEY, List.of(image)))
                        .build());

        assertThat(conversation().getHistoryPromptText(null, PLENTY, null))
                .isEqualTo("Human: draw\nAssistant: [image]\n[image]\ntwo of them\nHuman: again\nAssistant: [image]");
    }

    // ---- a node's memory

    @Test
    void a6_a_nodes_history_as_text_has_the_names_of_its_configuration_and_keeps_its_limit() {
        Map<String, Object> json = Map.of("mode", "node", "role_prefix", Map.of("user", "Ich", "assistant", "Du"));
        turns("m1", null, "m2", "m1", "x2", "m1");
        NodeTokenBufferMemory node = memories.select(MemoryConfig.fromJson(json), "acme", "app", "c1", "writer")
                .node();
        NodeTurn next = NodeTurn.of("m3").under("m2");

        assertThat(node.getHistoryPromptText(next, null, PLENTY)).isEqualTo("Ich: q m1\nDu: r m1\nIch: q m2\nDu: r m2");
        assertThat(node.getHistoryPromptText(next, MemoryConfig.RolePrefix.STANDARD, 6))
                .isEqualTo("Human: q m2\nAssistant: r m2");
        assertThat(node.getHistoryPromptText(next, null, 0)).isEmpty();
        node.addMessages(next, "q m3", List.of(), List.of(ai("r m3")));
        assertThat(node.getHistoryPromptText(NodeTurn.of("m4").under("m3"), null, 6))
                .describedAs("not flushed yet")
                .isEqualTo("Ich: q m3\nDu: r m3");
        Map<String, Object> shared = Map.of("role_prefix", Map.of("user", "Ich"));
        say("u1", null, user("one"), "a1", ai("two"));
        assertThat(memories.select(MemoryConfig.fromJson(shared), "acme", "app", "c1", "writer")
                        .conversation()
                        .getHistoryPromptText(null, PLENTY, null))
                .isEqualTo("Ich: one\nAssistant: two");
    }

    @Test
    void a5_turns_that_a_limit_drops_and_budgets_without_room_are_counted() {
        List<String> events = new ArrayList<>();
        memories = with(WorkflowMemories.builder().metrics(new Metrics() {
            @Override
            public void turnsDropped(String backend, int turns) {
                events.add("dropped " + turns + " " + backend);
            }

            @Override
            public void historyOverflow(String backend) {
                events.add("overflow " + backend);
            }
        }));
        turns("m1", null, "m2", "m1", "m3", "m2");
        say("u1", null, user("a b"), "a1", ai("c d"), "u2", user("e f"), "a2", ai("g h"));
        String backend = log.backend();

        history("m4");
        assertThat(events).isEmpty();
        node().getHistoryPromptMessages("m4", "acme", 6 + WordCounter.PER_LIST, null);
        node().getHistoryPromptText(NodeTurn.of("m4"), null, 6);
        conversation().getHistoryPromptMessages(6 + WordCounter.PER_LIST);
        conversation().getHistoryPromptText(null, 6, null);
        assertThat(events)
                .containsExactly(
                        "dropped 2 " + backend, "dropped 2 " + backend, "dropped 1 " + backend, "dropped 1 " + backend);

        events.clear();
        for (MemoryMode mode : MemoryMode.values()) {
            LlmNode tight = LlmNode.of(memories, new Model(), MemoryConfig.of(mode));
            tight.budget(10, 5).run(run("m5", "m3", "one two three four five six"));
            tight.run(run("m6", "m3", "q"));
        }
        LlmNode.of(memories, new Model(), null).budget(1, 1).run(run("m7", "m3", "no memory"));
        assertThat(events).containsExactly("overflow " + backend, "overflow " + backend);
    }

    @Test
    void a8_each_node_of_each_conversation_of_each_app_and_tenant_has_its_own_memory() {
        node().addMessages("m1", null, "q", List.of(), "r", List.of());
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.flush();

        assertThat(ids(NODE)).containsExactly("m1#user", "m1");
        for (NodeKey other : List.of(
                NodeKey.of("other", "app", "c1", "writer"),
                NodeKey.of("acme", "other", "c1", "writer"),
                NodeKey.of("acme", "app", "c2", "writer"),
                NodeKey.of("acme", "app", "c1", "../writer"))) {
            assertThat(memories.node(other).getHistoryPromptMessages("m2", "acme"))
                    .isEmpty();
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a9_turns_that_another_program_wrote_have_the_ids_of_ours() {
        // What a log of documents makes of {"turns": {"run-1": {...}, "run-2": {...}}}.
        Map<String, Object> file = new HashMap<>(Map.of(
                "type", "image", "transfer_method", "local_file", "upload_file_id", "f1", "filename", "cat.png"));
        file.put("url", null);
        UserMessage withNulls = UserMessage.builder()
                .contents(List.of(TextContent.from("look")))
                .attributes(Map.of("files", List.of(file)))
                .build();
        append(NODE, null, message("run-1#user", withNulls));
        append(NODE, "run-1#user", message("run-1", ai("nice")));
        append(NODE, "run-1", message("run-2#user", user("q2")));
        append(NODE, "run-2#user", message("run-2", ai("r2")));

        NodeTokenBufferMemory memory = node();
        List<FileReference> files = List.of(FileReference.localFile(FileReference.Type.IMAGE, "f1"));
        memory.addMessages(NodeTurn.of("run-1").under(null).inIteration(1), "look", files, List.of(ai("nice")));
        memory.addMessages(NodeTurn.of("run-2").under("run-1").inIteration(1), "q2", List.of(), List.of(ai("r2")));
        memory.addMessages("run-3", "run-2", "q3", List.of(), "r3", List.of());
        memory.flush();
        assertThat(ids(NODE)).containsExactly("run-1#user", "run-1", "run-2#user", "run-2", "run-3#user", "run-3");
        assertThat(node().getHistoryPromptMessages("run-2", "acme", PLENTY, null))
                .hasSize(2);
        assertThat(history("run-4")).hasSize(6);
    }

    @Test
    void a9_messages_that_another_program_named_lead_to_theirs_and_to_ours() {
        append(NODE, null, message("msg-001", user("q1")));
        append(NODE, "msg-001", message("msg-002", ai("r1")));
        append(NODE, "msg-002", message("msg-003", user("q2")));
        append(NODE, "msg-003", message("msg-004", ai("r2")));

        assertThat(texts(leadingTo("msg-004"))).containsExactly("q1", "r1");
        assertThat(texts(history("msg-003"))).containsExactly("q1", "r1");
        turns("m5", "msg-004");
        assertThat(texts(leadingTo("m5"))).containsExactly("q1", "r1", "q2", "r2");
        assertThat(stored(NODE).get(4).parentId()).isEqualTo("msg-004");
    }

    @Test
    void a10_an_id_that_names_a_part_of_a_turn_is_refused() {
        for (String id : List.of("m#user", "m#2", "m#step1", "m#2#user")) {
            assertThatThrownBy(() -> NodeTurn.of(id))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageStartingWith("message_id:");
        }
        for (String id : List.of("m#users", "m#2a", "#", "m#step", "user", "m:user")) {
            assertThat(NodeTurn.of(id).messageId()).isEqualTo(id);
        }
    }

    @Test
    void a10_a_turn_waits_for_flush_and_is_two_linked_messages_with_counts() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "a b", List.of(), "c d e", List.of());
        assertThat(watched.calls("append")).isZero();
        assertThat(ids(NODE)).isEmpty();

        memory.flush();
        List<LoggedMessage> stored = stored(NODE);
        assertThat(stored.get(0).parentId()).isNull();
        assertThat(stored.get(1).parentId()).isEqualTo(stored.get(0).id());
        assertThat(stored.get(1).id()).isEqualTo("m1");
        assertThat(stored).extracting(LoggedMessage::tokens).containsExactly(2, 3);
    }

    @Test
    void a10_the_same_turn_again_before_a_flush_changes_nothing() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.flush();
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        memory.flush();
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
    }

    @Test
    void a10_iterations_of_a_loop_each_keep_their_turn_and_a_parent_means_the_last_one() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        memory.addMessages("m1", null, "q2", List.of(), "r2", List.of());
        memory.flush();
        NodeTokenBufferMemory later = node();
        later.addMessages("m1", null, "q3", List.of(), "r3", List.of());
        later.addMessages("m2", "m1", "q4", List.of(), "r4", List.of());
        later.flush();

        assertThat(ids(NODE))
                .containsExactly("m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3", "m2#user", "m2");
        assertThat(stored(NODE))
                .extracting(LoggedMessage::parentId)
                .containsExactly(null, "m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3", "m2#user");
    }

    @Test
    void a10_an_iteration_that_is_named_is_recognised_and_another_one_under_its_name_is_an_error() {
        for (int i = 0; i < 2; i++) {
            for (int iteration = 1; iteration <= 3; iteration++) {
                NodeTokenBufferMemory memory = node();
                NodeTurn turn = NodeTurn.of("m1").under(null).inIteration(iteration);
                assertThat(memory.getHistoryPromptMessages(turn, "acme", PLENTY, null))
                        .hasSize(2 * (iteration - 1));
                memory.addMessages(turn, "same", List.of(), List.of(ai("same")));
                memory.flush();
            }
        }
        assertThat(ids(NODE)).hasSize(6);

        NodeTokenBufferMemory memory = node();
        memory.addMessages(NodeTurn.of("m1").under(null).inIteration(2), "other", List.of(), List.of(ai("other")));
        assertThatThrownBy(memory::flush).isInstanceOf(MessageIdConflictException.class);
    }

    @Test
    void a10_a_turn_with_fewer_steps_is_not_taken_for_the_stored_one() {
        NodeTokenBufferMemory tools = node();
        tools.addMessages("m1", null, "q", List.of(), calls("x"), result("x"), ai("r"));
        tools.flush();
        NodeTokenBufferMemory plain = node();
        plain.addMessages("m1", null, "q", List.of(), "r", List.of());
        plain.flush();

        assertThat(ids(NODE)).containsExactly("m1#user", "m1#step1", "m1#step2", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a11_the_requests_for_a_history_do_not_grow_with_what_it_skips() {
        NodeTokenBufferMemory loop = node();
        for (int i = 1; i <= 40; i++) {
            loop.addMessages("m1", null, "q" + i, List.of(), "r" + i, List.of());
        }
        loop.flush();
        turns("m2", "m1", "m3", null);

        int before = watched.calls().size();
        assertThat(texts(node().getHistoryPromptMessages(
                                NodeTurn.of("m1").under(null).inIteration(3), "acme", PLENTY, null)))
                .containsExactly("q1", "r1", "q2", "r2");
        assertThat(watched.calls().size() - before)
                .describedAs("40 iterations on another branch")
                .isLessThanOrEqualTo(10);
    }

    @Test
    void a11_the_requests_for_a_bridge_do_not_grow_with_its_length() {
        turns("m0", null);
        for (int i = 0; i < 260; i++) {
            append(NODE, i == 0 ? null : "other" + (i - 1) + "a", message("other" + i, user("q")));
            append(NODE, "other" + i, message("other" + i + "a", ai("r")));
        }
        say("m0", null, ai("r m0"));
        for (int i = 1; i <= 100; i++) {
            say("n" + i, i == 1 ? "m0" : "n" + (i - 1), ai("r"));
        }

        int before = watched.calls().size();
        assertThat(texts(node().getHistoryPromptMessages("n101", "n100", "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0");
        assertThat(watched.calls().size() - before)
                .describedAs("100 ancestors without a turn of the node")
                .isLessThanOrEqualTo(7);
    }

    @Test
    void a11_a_history_leads_to_the_message_without_it() {
        turns("m1", null, "m2", "m1", "m3", "m2", "x3", "m2");

        assertThat(texts(history("m2"))).containsExactly("q m1", "r m1");
        assertThat(texts(leadingTo("m3"))).containsExactly("q m1", "r m1", "q m2", "r m2");
        assertThat(texts(history("m1"))).isEmpty();
        assertThat(texts(node().getHistoryPromptMessages("m4", "m3", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "q m2", "r m2", "q m3", "r m3");
        assertThat(texts(history("unknown")))
                .describedAs("the head")
                .containsExactly("q m1", "r m1", "q m2", "r m2", "q x3", "r x3");
        assertThat(node().getHistoryPromptMessages("new", null, "acme", PLENTY, null))
                .describedAs("another beginning")
                .isEmpty();
    }

    @Test
    void a11_a_parent_that_the_node_never_saw_is_bridged_by_the_conversation() {
        say("c1", null, ai("1"), "c2", ai("2"), "c3", ai("3"), "c4", ai("4"));
        say("x2", "c1", ai("2 again"));
        turns("c1", null, "c2", "c1", "x2", "c1");

        assertThat(texts(node().getHistoryPromptMessages("c4", "c3", "acme", PLENTY, null)))
                .containsExactly("q c1", "r c1", "q c2", "r c2");
        assertThat(texts(history("c4"))).containsExactly("q c1", "r c1", "q c2", "r c2");
        turns("c4", "c3");
        assertThat(stored(NODE).get(6).parentId()).isEqualTo("c2");
    }

    @Test
    void a11_an_unknown_parent_is_bridged_by_the_newest_turn_on_no_sibling_branch() {
        memories = withoutConversations();
        turns("m1", null, "m2", "m1", "m4", "m3", "m5", "m4");

        assertThat(texts(node().getHistoryPromptMessages("m4b", "m3", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "q m2", "r m2");
        turns("m4b", "m3");
        assertThat(texts(leadingTo("m4b"))).containsExactly("q m1", "r m1", "q m2", "r m2");
        NodeTokenBufferMemory again = node();
        again.addMessages(NodeTurn.of("m4").under("m3").inIteration(1), "q m4", List.of(), List.of(ai("r m4")));
        again.flush();
        assertThat(ids(NODE)).hasSize(10);
    }

    @Test
    void a11_a_turn_that_only_the_conversation_places_does_not_stand_behind_a_sibling() {
        say("c1", null, ai("1"), "c2", ai("2"));
        say("x2", "c1", ai("2 again"), "x3", ai("3"));
        turns("c2", "c1");
        NodeTokenBufferMemory memory = node();
        assertThat(memory.getHistoryPromptMessages("x3", "acme")).isEmpty();
        memory.addMessages(NodeTurn.of("x3"), "q x3", List.of(), List.of(ai("r x3")));
        memory.flush();

        assertThat(texts(node().getHistoryPromptMessages("x4", "x3", "acme", PLENTY, null)))
                .containsExactly("q x3", "r x3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#user", ":query"})
    void a11_a_regenerated_turn_whose_question_is_stored_before_the_run_does_not_see_the_rejected_one(String question) {
        say("m1" + question, null, user("q1"), "m1", ai("a1"), "m2" + question, user("q2"), "m2", ai("a2"));
        turns("m1", null, "m2", "m1");
        say("m3" + question, "m1", user("q2"));

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1");
        node.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m3"), "q2"));
        assertThat(texts(model.asked.get(0))).containsExactly("q m1", "r m1", "q2");
        assertThat(Logs.find(log, NODE, List.of("m3#user")).get(0).parentId()).isEqualTo("m1");

        // A row that was never answered is the parent of the next one.
        say("m4" + question, "m3" + question, user("q4"));
        node.run(run("m5", "m4", "q5"));
        assertThat(texts(model.asked.get(1))).containsExactly("q m1", "r m1", "q2", "answer 1", "q5");
        assertThat(Logs.find(log, NODE, List.of("m5#user")).get(0).parentId()).isEqualTo("m3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#user", ":query"})
    void a11_a_conversation_is_read_up_to_the_runs_own_row_although_another_branch_was_answered(String question) {
        say("m1" + question, null, user("q1"), "m1", ai("a1"), "m2" + question, user("q2"), "m2", ai("a2"));
        say("m3" + question, "m1", user("q3"));
        say("m4" + question, "m1", user("q4"), "m4", ai("a4"));

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION));
        node.writingConversation().run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m3"), "q3"));
        assertThat(texts(model.asked.get(0))).containsExactly("q1", "a1", "q3");
        assertThat(branch("m3")).containsExactly("m1" + question, "m1", "m3" + question, "m3");

        // A row without an answer is named by its id too.
        say("m5" + question, "m2", user("q5"));
        node.writingConversation().run(run("m6", "m5", "q6"));
        assertThat(texts(model.asked.get(1))).containsExactly("q1", "a1", "q2", "a2", "q6");
        assertThat(branch("m6")).endsWith("m2" + question, "m2", "m5" + question, "m6#user", "m6");
        assertThat(texts(conversation().getHistoryPromptMessages("m5", PLENTY, null, null)))
                .containsExactly("q1", "a1", "q2", "a2");
        assertThatThrownBy(() -> conversation().getHistoryPromptMessages("m7", PLENTY, null, null))
                .isInstanceOf(InvalidInputException.class);
    }

    @Test
    void a10_what_waits_is_shown_to_its_object_where_no_parent_is_named_too() {
        turns("m0", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages(NodeTurn.of("m1"), "q m1", List.of(), List.of(ai("r m1")));
        for (int i = 0; i < 2; i++) {
            for (String message : List.of("m2", "m1")) {
                assertThat(texts(memory.getHistoryPromptMessages(message, "acme")))
                        .containsExactly("q m0", "r m0", "q m1", "r m1");
            }
            assertThat(texts(memory.getHistoryPromptMessages(NodeTurn.of("m1").inIteration(1), "acme", PLENTY, null)))
                    .containsExactly("q m0", "r m0");
            memory.flush();
        }
    }

    @Test
    @ExpectedLog("is shown as a placeholder")
    void a11_files_are_rebuilt_for_the_tenant_that_asks_and_cut_to_the_limit() {
        List<String> tenants = new ArrayList<>();
        memories = with(WorkflowMemories.builder()
                .fileResolver((tenant, files) -> {
                    tenants.add(tenant);
                    Map<FileReference, ResolvedFile> found = new HashMap<>();
                    files.forEach(file -> found.put(file, new ResolvedFile(file, "k", "n", "image/png", 3)));
                    return tenant.equals("acme") ? found : Map.of();
                })
                .fileContentSource((tenant, file) -> FileContent.bytes(new byte[] {1, 2, 3})));
        NodeTokenBufferMemory memory = node();
        memory.addMessages(
                "m1",
                null,
                "look",
                List.of(FileReference.localFile(FileReference.Type.IMAGE, "f1")),
                "nice",
                List.of(FileReference.toolFile(FileReference.Type.AUDIO, "t1")));
        memory.flush();

        UserMessage shown = (UserMessage) history("m2").get(0);
        assertThat(shown.contents().get(0)).isInstanceOf(ImageContent.class);
        assertThat(((ImageContent) shown.contents().get(0)).detailLevel()).isEqualTo(ImageContent.DetailLevel.HIGH);
        assertThat(shown.contents().get(1)).isEqualTo(TextContent.from("look"));
        assertThat(((AiMessage) history("m2").get(1)).text()).isEqualTo("[audio]\nnice");
        int size = WordCounter.PER_LIST + WordCounter.PER_MEDIUM + 3;
        assertThat(node().getHistoryPromptMessages("m2", "acme", size, null)).hasSize(2);
        assertThat(node().getHistoryPromptMessages("m2", "acme", size - 1, null))
                .isEmpty();
        UserMessage refused = (UserMessage)
                node().getHistoryPromptMessages("m2", "other", PLENTY, null).get(0);
        assertThat(refused.contents())
                .containsExactly(TextContent.from("[image: not available]"), TextContent.from("look"));
        assertThat(tenants).contains("acme", "other");
    }

    @Test
    void a12_flush_writes_only_what_was_added() {
        NodeTokenBufferMemory memory = node();
        memory.flush();
        memory.getHistoryPromptMessages("m1", "acme");
        memory.flush();
        assertThat(watched.calls("append")).isZero();

        memory.addMessages("m1", null, "q", List.of(), "r", List.of());
        memory.flush();
        memory.flush();
        assertThat(watched.calls("append")).isEqualTo(1);
    }

    @Test
    void a12_clear_empties_the_memory_at_once_and_stays_in_force() {
        turns("m1", null, "m2", "m1");
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m3", "m2", "waits", List.of(), "waits", List.of());
        memory.clear();
        memory.flush();

        assertThat(history("m3")).isEmpty();
        assertThat(node().getHistoryPromptMessages("m3", "m2", "acme", PLENTY, null))
                .isEmpty();
        assertThat(ids(NODE)).describedAs("kept").hasSize(4);

        turns("m3", "m2", "n1", null, "m4", "m3");
        assertThat(texts(leadingTo("m4"))).containsExactly("q m3", "r m3");
        assertThat(texts(node().getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null)))
                .describedAs("a parent that was cleared is as if it had never been there")
                .doesNotContain("q m1", "q m2");
        assertThat(texts(node().getHistoryPromptMessages("n2", "n1", "acme", PLENTY, null)))
                .containsExactly("q n1", "r n1");
    }

    @Test
    void a12_clearing_a_memory_that_was_never_written_does_nothing() {
        node().clear();
        assertThat(watched.calls("append")).isZero();
    }

    @Test
    void a12_a_failed_clear_changes_nothing() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
        watched.fail("append", new StorageUnavailableException("down", null));
        assertThatThrownBy(memory::clear).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        memory.flush();
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1", "q2", "r2");
    }

    @Test
    void a12_a_failed_flush_keeps_what_was_added() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
        watched.fail("append", new StorageUnavailableException("down", null));
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        assertThat(texts(memory.getHistoryPromptMessages("m3", "m2", "acme", PLENTY, null)))
                .containsExactly("q1", "r1", "q2", "r2");
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
    }

    @Test
    void a12_what_was_begun_before_an_erasure_is_refused_and_not_tried_again() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("m2", "acme");
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        memory.flush();
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    void a12_a_turn_that_an_erasure_refused_can_be_run_again() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);
        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);

        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m2#user", "m2");

        log.erase(NODE);
        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).describedAs("written, erased, and run again").containsExactly("m2#user", "m2");
    }

    @Test
    void a12_a_turn_without_room_for_a_history_is_refused_after_an_erasure_too() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        assertThat(memory.getHistoryPromptMessages("m2", "m1", "acme", 0, null)).isEmpty();
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    void a12_a_message_that_is_run_again_after_a_clear_is_kept_and_brings_nothing_back() {
        turns("m1", null, "m2", "m1");
        node().clear();
        turns("m1", null);
        assertThat(texts(history("m3"))).containsExactly("q m1", "r m1");
        assertThat(leadingTo("m1")).isEmpty();

        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "other", List.of(), "other", List.of());
        memory.flush();
        turns("m4", "m1");
        assertThat(texts(node().getHistoryPromptMessages("m5", "m1", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1", "other", "other");
        assertThat(texts(history("m5"))).containsExactly("q m1", "r m1", "other", "other", "q m4", "r m4");
    }

    @Test
    void a12_a_turn_that_was_going_on_when_others_cleared_brings_nothing_back() {
        turns("m1", null, "m2", "m1", "m3", "m2");
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("x2", "m1", "acme", PLENTY, null);
        node().clear();
        memory.addMessages("x2", "m1", "late", List.of(), "late", List.of());
        memory.flush();

        assertThat(texts(history("m4"))).containsExactly("late", "late");
    }

    @Test
    void a12_a_turn_whose_answer_was_lost_is_not_written_again_behind_anothers() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        watched.loseAnswer("append");
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);
        NodeTokenBufferMemory other = node();
        other.addMessages("m1", null, "q2", List.of(), "r2", List.of());
        other.flush();

        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a13_storage_that_cannot_be_reached_is_an_error_and_never_an_empty_history() {
        turns("m1", null);
        watched.fail("read", new StorageUnavailableException("down", null));

        assertThatThrownBy(() -> history("m2")).isInstanceOf(StorageUnavailableException.class);
        assertThatThrownBy(() -> conversation().getHistoryPromptMessages())
                .isInstanceOf(StorageUnavailableException.class);
    }

    // ---- the node itself

    @Test
    void a17_a_run_reads_calls_appends_and_flushes() {
        Model model = new Model();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        assertThat(writer.run(run("m1", null, "first").withSystemPrompt("be brief"))
                        .text())
                .isEqualTo("answer 1");
        writer.run(run("m2", "m1", "second").withSystemPrompt("be brief"));

        assertThat(texts(model.asked.get(1))).containsExactly("be brief", "first", "answer 1", "second");
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2");
        assertThat(stored(CONVERSATION)).isEmpty();
    }

    @Test
    void a17_a_run_is_one_read_and_one_append_and_so_is_each_iteration_of_a_loop() {
        LlmNode writer = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE));
        for (NodeRun run : List.of(
                run("m1", null, "first"),
                run("m2", "m1", "second"),
                run("m2", "m1", "second, better"),
                run("m2", "m1", "second, best"),
                run("m3", "m2", "third"))) {
            watched.calls().clear();
            writer.run(run);
            // A log that holds nothing back does nothing then.
            assertThat(watched.calls()).containsExactly("read", "append", "flush");
        }
        assertThat(ids(NODE))
                .containsExactly(
                        "m1#user", "m1", "m2#user", "m2", "m2#2#user", "m2#2", "m2#3#user", "m2#3", "m3#user", "m3");
    }

    @Test
    void a17_a_run_whose_turn_another_branch_holds_is_its_next_iteration() {
        LlmNode writer = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE));
        writer.run(run("m1", null, "first"));
        writer.run(run("m2", "m1", "second"));
        Logs.moveHead(log, NODE, "m1", null);
        writer.run(run("m2", "m1", "second, better"));

        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m2#user", "m2", "m2#2#user", "m2#2");
        assertThat(stored(NODE).get(4).parentId()).isEqualTo("m2");
    }

    @Test
    void a17_nothing_is_appended_if_the_model_fails() {
        Model model = new Model();
        model.failure = new IllegalStateException("overloaded");
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));

        assertThatThrownBy(() -> writer.run(run("m1", null, "first"))).isSameAs(model.failure);
        assertThat(ids(NODE)).isEmpty();
    }

    @Test
    @ExpectedLog("its turn was not stored")
    void a17_a_failed_flush_does_not_lose_the_reply() {
        watched.fail("append", new StorageUnavailableException("down", null));
        NodeReply reply = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE))
                .run(run("m1", null, "first"));
        assertThat(reply.text()).isEqualTo("answer 1");
        assertThat(reply.failure()).isInstanceOf(StorageUnavailableException.class);

        watched.fail("append", null);
        reply.memory().flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1");
    }

    @Test
    void a17_in_conversation_mode_the_engine_writes_unless_asked() {
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION));
        node.run(run("m1", null, "first"));
        assertThat(stored(CONVERSATION)).isEmpty();

        node.writingConversation().run(run("m1", null, "first"));
        node.run(run("m2", "m1", "second"));
        assertThat(texts(model.asked.get(2))).containsExactly("first", "answer 2", "second");
    }

    @Test
    void a17_a_run_in_conversation_mode_makes_few_requests() {
        say("m1#user", null, user("q1"), "m1", ai("a1"), "m2#user", user("q2"));
        LlmNode reader = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.CONVERSATION));
        LlmNode writer = reader.writingConversation();

        assertThat(requests(() -> reader.run(run("m2", "m1", "q2")))).containsExactly("find", "read");
        assertThat(requests(() -> reader.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m2"), "q2"))))
                .describedAs("the head is its question")
                .containsExactly("read", "read");
        assertThat(requests(() -> writer.run(run("m3", "m1", "q3")))).containsExactly("find", "read", "append");
        assertThat(requests(() -> writer.run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m4"), "q4"))))
                .containsExactly("read", "find", "append");
    }

    private List<String> requests(Runnable run) {
        int before = watched.calls().size();
        run.run();
        return List.copyOf(watched.calls().subList(before, watched.calls().size()));
    }

    @Test
    @ExpectedLog("its turn was not stored")
    void a17_a_conversation_that_is_erased_while_the_model_answers_stays_empty() {
        say("u1", null, user("one"), "a1", ai("two"));
        ChatModel model = new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                log.erase(CONVERSATION);
                return ChatResponse.builder().aiMessage(ai("late")).build();
            }
        };
        NodeReply reply = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation()
                .run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m1"), "q"));
        assertThat(reply.failure()).isInstanceOf(ErasedException.class);
        assertThat(stored(CONVERSATION)).isEmpty();
    }

    @Test
    void a16_a_configuration_says_which_memory_and_how_much_of_it() {
        Map<String, Object> json = Map.of(
                "mode",
                "node",
                "role_prefix",
                Map.of("user", "U", "assistant", "A"),
                "window",
                Map.of("enabled", true, "size", 1),
                "query_prompt_template",
                "Answer: {{#sys.query#}}");
        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.fromJson(json));
        node.run(run("m1", null, "one"));
        node.run(run("m2", "m1", "two"));
        node.run(run("m3", "m2", "three"));
        assertThat(texts(model.asked.get(2))).containsExactly("two", "answer 2", "Answer: three");

        LlmNode.of(memories, model, MemoryConfig.fromJson(null)).run(run("m4", "m3", "four"));
        assertThat(texts(model.asked.get(3))).containsExactly("four");
    }

    @Test
    @ExpectedLog("it runs without a conversation id")
    void a16_node_mode_without_a_conversation_is_no_memory_or_an_error() {
        NodeRun run = NodeRun.of("acme", "app", null, "writer", NodeTurn.of("m1"), "hello");
        NodeReply reply = LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.NODE))
                .run(run);
        assertThat(reply.text()).isEqualTo("answer 1");
        assertThat(reply.memory()).isNull();

        WorkflowMemories strict = with(WorkflowMemories.builder().requireConversation());
        Model model = new Model();
        LlmNode node = LlmNode.of(strict, model, MemoryConfig.of(MemoryMode.NODE));
        assertThatThrownBy(() -> node.run(run))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("conversation_id");
        assertThat(model.asked).isEmpty();
    }

    @Test
    void a16_node_mode_without_a_conversation_is_logged_once_for_each_node() {
        WorkflowMemories strict = with(WorkflowMemories.builder().requireConversation());
        for (WorkflowMemories each : List.of(memories, strict)) {
            LlmNode node = LlmNode.of(each, new Model(), MemoryConfig.of(MemoryMode.NODE));
            LlmNode other = LlmNode.of(each, new Model(), MemoryConfig.of(MemoryMode.NODE));
            List<String> logged = Logged.during(() -> {
                for (int i = 0; i < 3; i++) {
                    attempt(() -> node.run(withoutConversation("writer")));
                    attempt(() -> other.run(withoutConversation("writer")));
                    attempt(() -> node.run(withoutConversation("critic")));
                }
            });
            assertThat(logged)
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("[main] WARN") && line.contains("without a conversation id"))
                    .anyMatch(line -> line.contains("acme/app/writer"))
                    .anyMatch(line -> line.contains("acme/app/critic"));
        }
        List<String> logged =
                Logged.during(() -> LlmNode.of(memories, new Model(), MemoryConfig.of(MemoryMode.CONVERSATION))
                        .run(withoutConversation("reader")));
        assertThat(logged).describedAs("the mode that does not need one").isEmpty();
    }

    private static NodeRun withoutConversation(String node) {
        return NodeRun.of("acme", "app", null, node, NodeTurn.of("m1"), "hello");
    }

    private static void attempt(Runnable run) {
        try {
            run.run();
        } catch (InvalidInputException e) {
            assertThat(e).hasMessageContaining("conversation_id");
        }
    }

    @Test
    void a18_an_iteration_sees_the_ones_before_in_the_same_run() {
        NodeTokenBufferMemory memory = node();
        for (int i = 0; i < 3; i++) {
            assertThat(memory.getHistoryPromptMessages("m1", null, "acme", PLENTY, null))
                    .hasSize(2 * i);
            memory.addMessages("m1", null, "q" + i, List.of(), "r" + i, List.of());
            if (i == 1) {
                memory.flush();
            }
        }
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");

        Model model = new Model();
        LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        node.run(run("m2", "m1", "a"));
        node.run(run("m2", "m1", "b"));
        assertThat(model.asked.get(1)).hasSize(9);
    }

    @Test
    void a18_iterations_that_run_at_the_same_time_are_all_shown_afterwards() {
        turns("m0", null);
        List<NodeTokenBufferMemory> runs = new ArrayList<>();
        for (int iteration = 1; iteration <= 3; iteration++) {
            NodeTokenBufferMemory memory = node();
            NodeTurn turn = NodeTurn.of("m1").under("m0").inIteration(iteration);
            memory.getHistoryPromptMessages(turn, "acme", PLENTY, null);
            memory.addMessages(turn, "q" + iteration, List.of(), List.of(ai("r" + iteration)));
            runs.add(memory);
        }
        runs.get(1).flush();
        runs.get(0).flush();
        runs.get(2).flush();

        assertThat(texts(node().getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0", "q2", "r2", "q1", "r1", "q3", "r3");
    }

    @Test
    void a18_iterations_that_were_stored_out_of_order_are_all_seen_by_the_next_one() {
        turns("m0", null);
        NodeTokenBufferMemory loop = node();
        for (int iteration : new int[] {2, 1}) {
            NodeTurn turn = NodeTurn.of("m1").under("m0").inIteration(iteration);
            loop.addMessages(turn, "q" + iteration, List.of(), List.of(ai("r" + iteration)));
            loop.flush();
        }
        turns("x1", "m0");
        for (String more : new String[] {"", "q m1"}) {
            List<String> seen = texts(node().getHistoryPromptMessages("m1", "m0", "acme", PLENTY, null));
            assertThat(seen).startsWith("q m0", "r m0", "q2", "r2", "q1", "r1").hasSize(more.isEmpty() ? 6 : 8);
            turns("m1", "m0");
        }
        assertThat(stored(NODE).stream().filter(logged -> logged.id().equals("m1#3#user")))
                .extracting(LoggedMessage::parentId)
                .containsExactly("m1");
    }

    @Test
    void a18_an_iteration_whose_forerunners_are_late_sees_what_leads_to_the_loop() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0");
        NodeTokenBufferMemory memory = node();
        memory.addMessages(turn.inIteration(4), "q4", List.of(), List.of(ai("r4")));
        memory.flush();

        assertThat(texts(node().getHistoryPromptMessages(turn.inIteration(3), "acme", PLENTY, null)))
                .containsExactly("q m0", "r m0");
    }

    @Test
    void a18_tool_calls_and_results_are_stored_and_shown() {
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q", List.of(), calls("x"), result("x"), ai("r"));
        memory.flush();

        assertThat(ids(NODE)).containsExactly("m1#user", "m1#step1", "m1#step2", "m1");
        assertThat(history("m2"))
                .hasExactlyElementsOfTypes(
                        UserMessage.class, AiMessage.class, ToolExecutionResultMessage.class, AiMessage.class);
    }

    @Test
    void a18_a_fresh_object_for_each_iteration_sees_the_earlier_iterations_of_its_run() {
        turns("m0", null);
        for (String parent : new String[] {"m0", null}) {
            String message = "loop under " + parent;
            for (int i = 0; i < 5; i++) {
                NodeTokenBufferMemory memory = node();
                List<ChatMessage> history = parent == null
                        ? memory.getHistoryPromptMessages(message, "acme")
                        : memory.getHistoryPromptMessages(message, parent, "acme", PLENTY, null);
                assertThat(texts(history).stream().filter(text -> text.startsWith("same")))
                        .describedAs("iteration %d", i + 1)
                        .hasSize(2 * i);
                memory.addMessages(message, parent, "same question", List.of(), "same answer", List.of());
                memory.flush();
                if (i > 0) {
                    assertThat(watched.calls())
                            .describedAs("iteration %d", i + 1)
                            .containsExactly("read", "append", "flush");
                }
                watched.calls().clear();
            }
            log.erase(NODE);
            turns("m0", null);
        }
    }

    @Test
    void a18_loops_for_two_messages_at_the_same_time_each_see_their_own_iterations() {
        turns("m0", null);
        for (int i = 0; i < 3; i++) {
            for (String message : List.of("m1", "x1")) {
                NodeTokenBufferMemory memory = node();
                List<String> seen = texts(memory.getHistoryPromptMessages(message, "m0", "acme", PLENTY, null));
                assertThat(seen).hasSize(2 + 2 * i).doesNotContain(message.equals("m1") ? "q x1" : "q m1");
                memory.addMessages(message, "m0", "q " + message, List.of(), "r", List.of());
                memory.flush();
            }
        }
    }

    @Test
    void a18_what_is_read_for_a_message_that_others_follow_includes_its_iterations_when_asked() {
        turns("m0", null, "m1", "m0", "m1", "m0", "m2", "m1");

        assertThat(texts(history("m1"))).containsExactly("q m0", "r m0");
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(3), "acme", PLENTY, null))
                .hasSize(6);
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(2), "acme", PLENTY, null))
                .hasSize(4);
        assertThat(node().getHistoryPromptMessages(NodeTurn.of("m1").inIteration(1), "acme", PLENTY, null))
                .hasSize(2);
    }

    @Test
    void a10_equal_iterations_are_iterations() {
        turns("m0", null);
        for (int i = 0; i < 5; i++) {
            turns("m1", "m0");
        }
        assertThat(ids(NODE)).hasSize(12).endsWith("m1#5#user", "m1#5");

        NodeTokenBufferMemory memory = node();
        for (int i = 0; i < 5; i++) {
            memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
            memory.flush();
        }
        assertThat(ids(NODE)).hasSize(22);
    }

    @Test
    void a10_equal_iterations_at_the_same_time_are_iterations() {
        turns("m0", null);
        List<NodeTokenBufferMemory> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            NodeTokenBufferMemory memory = node();
            memory.getHistoryPromptMessages("m1", "m0", "acme", PLENTY, null);
            memory.addMessages("m1", "m0", "q", List.of(), "r", List.of());
            runs.add(memory);
        }
        runs.forEach(NodeTokenBufferMemory::flush);
        assertThat(ids(NODE)).hasSize(12);
    }

    @Test
    void a10_random_loops_with_outages_store_each_run_once_and_see_the_runs_before() {
        Random random = new Random(11);
        for (int round = 0; round < rounds(); round++) {
            NodeKey key = NodeKey.of("acme", "app", "random" + round, "writer");
            Map<String, List<String>> stored = new HashMap<>();
            for (int run = 0; run < 12; run++) {
                String message = "m" + random.nextInt(2);
                List<String> before = stored.computeIfAbsent(message, m -> new ArrayList<>());
                boolean keyed = random.nextBoolean();
                List<String> keys =
                        before.stream().filter(name -> name.startsWith("key")).toList();
                boolean repeated = keyed && !keys.isEmpty() && random.nextInt(3) == 0;
                String name = repeated ? keys.get(random.nextInt(keys.size())) : (keyed ? "key" : "run") + run;
                NodeTurn turn = NodeTurn.of(message).under(null);
                turn = keyed ? turn.inRun(name) : turn;
                NodeTokenBufferMemory memory = memories.node(key);
                if (random.nextInt(4) > 0) {
                    int earlier = repeated ? before.indexOf(name) : before.size();
                    assertThat(texts(memory.getHistoryPromptMessages(turn, "acme", PLENTY, null)))
                            .describedAs("round %d, run %d of %s", round, run, message)
                            .hasSize(2 * earlier);
                }
                memory.addMessages(turn, "same", List.of(), List.of(ai("same")));
                flushInSpiteOf(random, memory);
                if (!repeated) {
                    before.add(name);
                }
            }
            List<String> ids = log.history(key, HistoryQuery.oldest(1000)).messages().stream()
                    .map(LoggedMessage::id)
                    .toList();
            assertThat(ids)
                    .hasSize(2 * stored.values().stream().mapToInt(List::size).sum());
        }
    }

    /** Flushes until it succeeds; some appends fail and some lose their answer. */
    private void flushInSpiteOf(Random random, NodeTokenBufferMemory memory) {
        boolean flushed = false;
        while (!flushed) {
            int trouble = random.nextInt(4);
            if (trouble == 0) {
                watched.loseAnswer("append");
            } else if (trouble == 1) {
                watched.fail("append", new StorageUnavailableException("down", null));
            }
            try {
                memory.flush();
                flushed = true;
            } catch (StorageUnavailableException e) {
                assertThat(e).hasMessageMatching("down|the answer was lost");
            }
            watched.fail("append", null);
        }
    }

    @Test
    void a10_a_turn_is_repeated_on_one_object_until_a_flush_has_succeeded() {
        AtomicInteger appends = new AtomicInteger();
        watched = new WatchedLog(log) {
            @Override
            protected void called(String method) {
                if (method.equals("append") && appends.incrementAndGet() == 2) {
                    throw new StorageUnavailableException("down", null);
                }
            }
        };
        memories = with(WorkflowMemories.builder());
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        // The first turn is stored although the flush fails.
        assertThatThrownBy(memory::flush).isInstanceOf(StorageUnavailableException.class);
        memory.addMessages("m1", null, "a", List.of(), "r", List.of());
        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");

        memory.addMessages("m1", null, "b", List.of(), "r", List.of());
        memory.flush();
        assertThat(ids(NODE)).hasSize(6);
    }

    @Test
    void a10_a_run_that_is_repeated_with_its_key_is_stored_once() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0");
        for (String run : List.of("run-1", "run-1", "run-2", "run-1", "run-3", "run-2")) {
            NodeTokenBufferMemory memory = node();
            int before = Integer.parseInt(run.substring(4));
            assertThat(memory.getHistoryPromptMessages(turn.inRun(run), "acme", PLENTY, null))
                    .describedAs("what %s saw the first time", run)
                    .hasSize(2 * before);
            memory.addMessages(turn.inRun(run), "q", List.of(), List.of(ai("r of " + run)));
            memory.flush();
        }
        assertThat(ids(NODE))
                .containsExactly("m0#user", "m0", "m1#user", "m1", "m1#2#user", "m1#2", "m1#3#user", "m1#3");

        NodeTokenBufferMemory repeated = node();
        repeated.addMessages(turn.inRun("run-2"), "q", List.of(), List.of(ai("another answer of the same run")));
        repeated.flush();
        assertThat(ids(NODE)).describedAs("the first answer stays").hasSize(8);
        assertThat(history("m2"))
                .allMatch(message -> !(message instanceof UserMessage user)
                        || user.attributes().isEmpty());
    }

    @Test
    void a10_a_run_that_is_repeated_at_the_same_time_is_stored_once() {
        turns("m0", null);
        NodeTurn turn = NodeTurn.of("m1").under("m0").inRun("run-1");
        List<NodeTokenBufferMemory> runs = List.of(node(), node(), node());
        for (NodeTokenBufferMemory memory : runs) {
            memory.getHistoryPromptMessages(turn, "acme", PLENTY, null);
            memory.addMessages(turn, "q", List.of(), List.of(ai("r" + runs.indexOf(memory))));
        }
        turns("m1", "m0");
        runs.forEach(NodeTokenBufferMemory::flush);
        assertThat(ids(NODE)).containsExactly("m0#user", "m0", "m1#user", "m1", "m1#2#user", "m1#2");
    }

    @Test
    void a17_a_run_of_the_hook_that_is_repeated_with_its_key_is_stored_once() {
        Model model = new Model();
        LlmNode writer = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        for (String run : List.of("run-1", "run-1", "run-2")) {
            NodeTurn turn = NodeTurn.of("m1").under(null).inRun(run);
            writer.run(NodeRun.of("acme", "app", "c1", "writer", turn, "q"));
        }
        assertThat(ids(NODE)).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");
        assertThat(model.asked.get(1)).describedAs("the repeated run").hasSize(1);
        assertThat(model.asked.get(2)).hasSize(3);
    }

    @Test
    void a12_a_turn_that_is_repeated_after_an_erasure_in_mid_turn_is_written_by_the_same_flush() {
        turns("m1", null);
        NodeTokenBufferMemory memory = node();
        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());
        log.erase(NODE);
        memory.getHistoryPromptMessages("m2", "m1", "acme", PLENTY, null);
        memory.addMessages("m2", "m1", "q", List.of(), "r", List.of());

        assertThatThrownBy(memory::flush).isInstanceOf(ErasedException.class);
        assertThat(ids(NODE)).describedAs("the repeated turn").containsExactly("m2#user", "m2");
        memory.flush();
        assertThat(ids(NODE)).hasSize(2);
    }

    @Test
    void a11_ancestors_that_do_not_reach_the_beginning_do_not_end_the_search_for_a_turn() {
        turns("m1", null);
        // The conversation's oldest message that is left names a parent that is gone.
        log.append(
                CONVERSATION,
                Append.under(Parent.of("gone"), List.of(message("c5", ai("5")))).asImport());
        assertThat(texts(node().getHistoryPromptMessages("c6", "c5", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1");
        assertThat(texts(history("c5"))).containsExactly("q m1", "r m1");

        ConversationKey whole = ConversationKey.of("acme", "c2");
        NodeKey there = NodeKey.of("acme", "app", "c2", "writer");
        append(whole, null, message("c5", ai("5")));
        NodeTokenBufferMemory memory = memories.node(there);
        memory.addMessages("m1", null, "q m1", List.of(), "r m1", List.of());
        memory.flush();
        assertThat(memories.node(there).getHistoryPromptMessages("c6", "c5", "acme", PLENTY, null))
                .describedAs("ancestors that do reach it")
                .isEmpty();
    }

    @Test
    void a11_a_bridge_that_is_longer_than_a_page_leads_to_a_turn() {
        turns("m1", null);
        List<NewMessage> batch = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            batch.add(message("c" + i, ai("r")));
        }
        log.append(CONVERSATION, Append.under(Parent.root(), batch));
        assertThat(texts(node().getHistoryPromptMessages("new", "c500", "acme", PLENTY, null)))
                .containsExactly("q m1", "r m1");
    }

    @Test
    void a7_a_turn_without_a_users_text_is_kept_and_shown() {
        turns("m0", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", "m0", " ", List.of(), "a poem", List.of());
        memory.flush();
        turns("m2", "m1");
        assertThat(texts(history("m3"))).containsExactly("q m0", "r m0", "[no text]", "a poem", "q m2", "r m2");
        assertThat(ProviderRules.all(history("m3"))).isEmpty();
        assertThat(((UserMessage) stored(NODE).get(2).message()).singleText()).isEqualTo(" ");

        say("u1", null, user(""), "a1", ai("a poem"), "u2", user("q"), "a2", ai("r"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("[no text]", "a poem", "q", "r");
        assertThat(conversation().getHistoryPromptText(null, PLENTY, null))
                .isEqualTo("Human: [no text]\nAssistant: a poem\nHuman: q\nAssistant: r");
    }

    @Test
    void a17_a_node_without_a_query_sends_what_later_histories_show() {
        Model model = new Model();
        LlmNode poet = LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE));
        poet.run(run("m1", null, "").withSystemPrompt("write a poem"));
        poet.run(run("m2", "m1", "").withSystemPrompt("write a poem"));

        assertThat(texts(model.asked.get(0))).containsExactly("write a poem", "[no text]");
        assertThat(texts(model.asked.get(1))).containsExactly("write a poem", "[no text]", "answer 1", "[no text]");
        assertThat(ProviderRules.all(model.asked.get(1))).isEmpty();
    }

    @Test
    void a7_a_blank_answer_does_not_leave_its_question_alone() {
        turns("m0", null);
        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", "m0", "q1", List.of(), " ", List.of());
        memory.addMessages("m2", "m1", "q2", List.of(), calls("x"), result("x"), ai(""));
        memory.addMessages("m3", "m2", "q3", List.of(), calls("x"));
        memory.flush();
        turns("m4", "m3");
        List<ChatMessage> shown = history("m5");
        assertThat(shown)
                .filteredOn(UserMessage.class::isInstance)
                .extracting(message -> ((UserMessage) message).singleText())
                .containsExactly("q m0", "q2", "q m4");
        assertThat(ProviderRules.all(shown)).isEmpty();
        assertThat(stored(NODE)).describedAs("kept").hasSize(12);

        say("u1", null, user("q1"), "a1", ai(" "), "u2", user("q2"), "a2", ai("r2"));
        assertThat(texts(conversation().getHistoryPromptMessages())).containsExactly("q2", "r2");
        assertThat(conversation().getHistoryPromptText(null, PLENTY, null)).isEqualTo("Human: q2\nAssistant: r2");
    }

    @Test
    void a4_a_row_of_the_message_limit_is_a_question_with_its_answer_and_what_is_between() {
        say("u1", null, user("one"), "a1", ai("two"), "u2", user("three"));
        say("t2", "u2", calls("x"), "r2", result("x"), "t3", calls("y"), "r3", result("y"), "a2", ai("four"));
        assertThat(conversation().getHistoryPromptMessages(PLENTY, 1)).hasSize(6);
        assertThat(conversation().getHistoryPromptMessages(PLENTY, 2)).hasSize(8);

        NodeTokenBufferMemory memory = node();
        memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
        memory.addMessages("m2", "m1", "q2", List.of(), calls("x"), result("x"), calls("y"), result("y"), ai("r2"));
        memory.flush();
        for (int size = 1; size <= 2; size++) {
            MemoryConfig config = new MemoryConfig(MemoryMode.NODE, null, new MemoryConfig.Window(true, size), null);
            Model model = new Model();
            LlmNode.of(memories, model, config).run(run("m3" + size, "m2", "now"));
            assertThat(model.asked.get(0)).hasSize(size == 1 ? 7 : 9);
        }
    }

    @Test
    void a4_a_row_that_waits_counts_as_one() {
        MemoryConfig config = new MemoryConfig(MemoryMode.NODE, null, new MemoryConfig.Window(true, 2), null);
        turns("m1", null);
        NodeTokenBufferMemory memory =
                memories.select(config, "acme", "app", "c1", "writer").node();
        memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
        memory.addMessages("m3", "m2", "q3", List.of(), "r3", List.of());
        assertThat(texts(memory.getHistoryPromptMessages("m4", "m3", "acme", PLENTY, null)))
                .containsExactly("q2", "r2", "q3", "r3");
    }

    @Test
    void a20_runs_of_one_node_at_the_same_time_are_all_kept() throws Exception {
        turns("m0", null);
        int writers = 4;
        int each = Counts.of(5, 50);
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int w = 0; w < writers; w++) {
                String writer = "w" + w;
                done.add(threads.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        // Half of the turns are iterations for one and the same message.
                        String id = i % 2 == 0 ? "shared" : writer + "-" + i;
                        NodeTokenBufferMemory memory = node();
                        memory.addMessages(id, "m0", writer + " " + i, List.of(), "r", List.of());
                        memory.flush();
                    }
                }));
            }
            for (Future<?> future : done) {
                future.get();
            }
        } finally {
            threads.shutdownNow();
        }
        List<String> said = stored(NODE).stream()
                .filter(logged -> logged.message() instanceof UserMessage)
                .map(logged -> ((UserMessage) logged.message()).singleText())
                .toList();
        assertThat(said).doesNotHaveDuplicates().hasSize(1 + writers * each);
    }

    @Test
    void a20_runs_at_the_same_time_without_named_parents_are_all_shown() {
        for (boolean knows : new boolean[] {true, false}) {
            memories = knows ? memories : withoutConversations();
            log.erase(NODE);
            turns("m0", null);
            NodeTokenBufferMemory one = node();
            NodeTokenBufferMemory two = node();
            one.getHistoryPromptMessages("m1", "acme");
            two.getHistoryPromptMessages("m2", "acme");
            one.addMessages(NodeTurn.of("m1"), "q m1", List.of(), List.of(ai("r m1")));
            two.addMessages(NodeTurn.of("m2"), "q m2", List.of(), List.of(ai("r m2")));
            one.flush();
            two.flush();
            assertThat(texts(history("m3"))).containsExactly("q m0", "r m0", "q m1", "r m1", "q m2", "r m2");
        }
    }

    @Test
    void a22_a_nodes_key_is_the_nodes_memory_for_every_caller() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(open())
                .nodeLog(log)
                .tenant("acme")
                .build();
        keepsake.nodes("app").chatMemoryProvider("writer").get("c1").add(user("hello"));
        keepsake.chatMemory(NODE).add(ai("hi"));

        assertThat(keepsake.conversation(NODE).messages()).containsExactly(user("hello"), ai("hi"));
        assertThat(keepsake.chatMemoryStore().getMessages(NODE)).hasSize(2);
        assertThat(stored(NODE)).hasSize(2);
        keepsake.conversation(NODE).erase();
        assertThat(stored(NODE)).isEmpty();
    }

    @Test
    void a22_an_agent_takes_a_nodes_memory_as_a_provider() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(open())
                .nodeLog(log)
                .tenant("acme")
                .build();
        keepsake.nodes("app").chatMemoryProvider("writer").get("c1").add(user("hello"));

        assertThat(stored(NODE)).hasSize(1);
        assertThat(keepsake.nodes("app").conversation("writer", "c1").messages())
                .containsExactly(user("hello"));
        assertThat(keepsake.nodes("app").conversation("reader", "c1").messages())
                .isEmpty();
        assertThat(keepsake.conversation("c1").messages()).isEmpty();
        assertThatThrownBy(
                        () -> keepsake.nodes("app").chatMemoryProvider("writer").get(NODE))
                .isInstanceOf(InvalidInputException.class);
    }

    @Test
    void d11_what_a_node_was_shown_and_what_its_answer_cost_is_known_in_both_modes() {
        ChatModel model = new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return ChatResponse.builder()
                        .aiMessage(ai("answer"))
                        .modelName("a-model")
                        .tokenUsage(new TokenUsage(7, 3))
                        .finishReason(FinishReason.STOP)
                        .build();
            }
        };
        Keepsake keepsake = Keepsake.builder().messageLog(log).nodeLog(log).build();
        for (MemoryMode mode : MemoryMode.values()) {
            LlmNode node = LlmNode.of(memories, model, MemoryConfig.of(mode)).writingConversation();
            NodeReply first = node.run(run("m1", null, "one"));
            NodeReply second = node.run(run("m2", "m1", "two"));
            node.run(run("m3", "m1", "two again").withSystemPrompt("Be brief."));
            assertThat(first.failure()).isNull();
            assertThat(second.failure()).isNull();

            Conversation kept = keepsake.conversation(mode == MemoryMode.NODE ? NODE : CONVERSATION);
            assertThat(seen(kept, "m1")).describedAs("%s", mode).containsExactly("m1#user");
            assertThat(seen(kept, "m2")).containsExactly("m1#user", "m1", "m2#user");
            assertThat(seen(kept, "m3")).containsExactly("m1#user", "m1", "m3#user");
            assertThat(kept.seenBy("m2").orElseThrow().altered()).isFalse();
            assertThat(kept.seenBy("m3").orElseThrow().altered()).isTrue();
            assertThat(kept.made("m2").usage()).isEqualTo(new Usage(7, 3, 0));
            assertThat(kept.made("m2").modelName()).isEqualTo("a-model");
            assertThat(kept.made("m2").finishReason()).isEqualTo("STOP");
        }
        say("m5#user", "m2", user("three"));
        LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.CONVERSATION))
                .writingConversation()
                .run(NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of("m5"), "three"));
        assertThat(seen(keepsake.conversation(CONVERSATION), "m5"))
                .describedAs("a question that the engine stored")
                .containsExactly("m1#user", "m1", "m2#user", "m2", "m5#user");
        turns("m4", "m2");
        assertThat(keepsake.conversation(NODE).seenBy("m4"))
                .describedAs("a turn that the engine added")
                .isEmpty();
    }

    private static List<String> seen(Conversation conversation, String answerId) {
        return conversation.seenBy(answerId).orElseThrow().messages().stream()
                .map(LoggedMessage::id)
                .toList();
    }

    // ---- short words

    /** Counts words, and notes the texts of messages that it counts. */
    private static TokenCountEstimator counting(List<String> asked) {
        return new TokenCountEstimator() {
            @Override
            public int estimateTokenCountInText(String text) {
                return WORDS.estimateTokenCountInText(text);
            }

            @Override
            public int estimateTokenCountInMessage(ChatMessage message) {
                asked.add(texts(List.of(message)).get(0));
                return WORDS.estimateTokenCountInMessage(message);
            }

            @Override
            public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
                return WORDS.estimateTokenCountInMessages(messages);
            }
        };
    }

    private static final class Model implements ChatModel {
        private final List<List<ChatMessage>> asked = Collections.synchronizedList(new ArrayList<>());
        private RuntimeException failure;
        private String name;

        @Override
        public ChatRequestParameters defaultRequestParameters() {
            return ChatRequestParameters.builder().modelName(name).build();
        }

        @Override
        public ChatResponse doChat(ChatRequest request) {
            asked.add(request.messages());
            if (failure != null) {
                throw failure;
            }
            return ChatResponse.builder()
                    .aiMessage(ai("answer " + asked.size()))
                    .build();
        }
    }

    private TokenBufferMemory conversation() {
        return memories.conversation(CONVERSATION);
    }

    private NodeTokenBufferMemory node() {
        return memories.node(NODE);
    }

    private static NodeRun run(String id, String parent, String query) {
        return NodeRun.of("acme", "app", "c1", "writer", NodeTurn.of(id).under(parent), query);
    }

    private List<ChatMessage> history(String current) {
        return node().getHistoryPromptMessages(current, "acme", PLENTY, null);
    }

    /** The history that leads to a message, without its own iterations. */
    private List<ChatMessage> leadingTo(String current) {
        return node().getHistoryPromptMessages(NodeTurn.of(current).inIteration(1), "acme", PLENTY, null);
    }

    /** Turns by id and parent, each from a run of its own. */
    private void turns(String... idsAndParents) {
        for (int i = 0; i < idsAndParents.length; i += 2) {
            NodeTokenBufferMemory memory = node();
            String id = idsAndParents[i];
            memory.addMessages(id, idsAndParents[i + 1], "q " + id, List.of(), "r " + id, List.of());
            memory.flush();
        }
    }

    /** Messages by id, each under the one before it. */
    private void say(String firstId, String parent, Object... messagesAndIds) {
        String id = firstId;
        String under = parent;
        for (int i = 0; i < messagesAndIds.length; i += 2) {
            append(CONVERSATION, under, message(id, (ChatMessage) messagesAndIds[i]));
            under = id;
            id = i + 1 < messagesAndIds.length ? (String) messagesAndIds[i + 1] : null;
        }
    }

    private void append(MemoryKey key, String parent, NewMessage message) {
        log.append(key, Append.under(parent == null ? Parent.root() : Parent.of(parent), List.of(message)));
    }

    private static NewMessage message(String id, ChatMessage message) {
        return new NewMessage(
                id,
                message,
                WORDS.estimateTokenCountInMessage(message),
                WORDS.getClass().getName(),
                null);
    }

    private List<LoggedMessage> stored(MemoryKey key) {
        return log.history(key, HistoryQuery.oldest(1000)).messages();
    }

    private List<String> branch(String end) {
        return log.read(CONVERSATION, ReadQuery.newest(100).endingIn(end)).messages().stream()
                .map(LoggedMessage::id)
                .toList();
    }

    private List<String> ids(MemoryKey key) {
        return stored(key).stream().map(LoggedMessage::id).toList();
    }

    private static List<String> texts(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> message instanceof UserMessage user
                        ? user.singleText()
                        : message instanceof AiMessage ai ? ai.text() : ((SystemMessage) message).text())
                .toList();
    }
}
