package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.workflow.files.FileContentSource.FileContent;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the histories of nodes promise, on any log. The names begin with the promise: A1 to A9. */
abstract class WorkflowHistoryContract extends WorkflowFixture {

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
        NodeTokenCounts counts = new NodeTokenCounts(counter, counter);
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
}
