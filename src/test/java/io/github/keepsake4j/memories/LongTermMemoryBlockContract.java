package io.github.keepsake4j.memories;

import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.background.BranchMessages;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Memories as one message in what a model sees. */
abstract class LongTermMemoryBlockContract extends MadeMemoriesFixture {

    private static final MemoryKey KEY = ConversationKey.of("default", "a");

    MessageLog log;

    Keepsake block(String config, LongTermMemoryBlock block, int messages) {
        return block(config, SlidingWindow.withMaxMessages(messages).and(block));
    }

    private Keepsake block(String config, ContextStrategy strategy) {
        log = newLog();
        return keepsake(log, config, passage -> config.equals(FACTS) ? lastLine(passage) : passage.replace('\n', ' '))
                .strategy(strategy)
                .build();
    }

    /** Returns the text of the memories in the last request, or an empty text. */
    String shownBlock() {
        return block(model.lastMessages());
    }

    private static String block(List<ChatMessage> messages) {
        List<ChatMessage> blocks = messages.stream().filter(Remembered::isShown).toList();
        assertThat(blocks).hasSizeLessThan(2);
        return blocks.isEmpty() ? "" : ((UserMessage) blocks.get(0)).singleText();
    }

    private void fact(String text, Trust trust, boolean pinned) {
        MadeMemory fact = MadeMemory.fact("", text, List.of(), List.of(), Passage.NONE, trust)
                .withPinned(pinned);
        long revision = store.progress(KEY, MadeMemory.Kind.FACT).revision();
        assertThat(store.add(KEY, MadeMemory.Kind.FACT, revision, Passage.NONE, List.of(fact)))
                .isTrue();
    }

    @Test
    void the_summary_pinned_and_newest_memories_are_one_fenced_message_in_front_of_the_turns() {
        Keepsake keepsake = block(CHUNKS, LongTermMemoryBlock.withMaxTokens(2_000), 4);
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .systemMessage("Be brief")
                .build();
        for (String city : List.of("Oslo", "Rome", "Paris", "Bern")) {
            chat.chat("a", "I like " + city);
            keepsake.longTermMemories().make("a");
        }
        List<MadeMemory> chunks = keepsake.longTermMemories().of("a").list(MadeMemory.Kind.CHUNK);
        keepsake.longTermMemories().of("a").pin(chunks.get(1).id(), true);
        chat.chat("a", "Where to?");

        List<ChatMessage> request = model.lastMessages();
        assertThat(request.get(0)).isEqualTo(SystemMessage.from("Be brief"));
        assertThat(Remembered.isShown(request.get(1))).isTrue();
        String block = shownBlock();
        assertThat(block).containsSubsequence("<made-memories>", "Summary: ", "Paris", "Oslo", "Rome", "Bern");
        assertThat(block.lines().filter(line -> line.startsWith("[2"))).hasSize(chunks.size() + 1);
        assertThat(block).endsWith("\n</made-memories>");

        String answer = newest(keepsake, "a");
        List<String> ids =
                keepsake.conversation("a").seenBy(answer).orElseThrow().memories();
        assertThat(ids).hasSize(chunks.size() + 1).contains(chunks.get(1).id());
        assertThat(ids.get(1)).isEqualTo(chunks.get(1).id());
        Explanation explanation = keepsake.conversation("a").explain();
        assertThat(explanation.memories()).isEqualTo(ids);
        assertThat(explanation.shown().get(1).messageId()).startsWith("memories-");
        assertThat(explanation.toString()).contains(ids.size() + " memories in one message");
        assertThat(keepsake.conversation("a").seenBy(answer).orElseThrow().altered())
                .isFalse();
    }

    /** Returns a keepsake with a conversation whose memory is that its user likes Oslo. */
    private Keepsake whereOsloIsLiked() {
        Keepsake keepsake = block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "I like Oslo");
        keepsake.longTermMemories().make("a");
        return keepsake;
    }

    @Test
    void without_new_memories_the_prefix_stays_byte_by_byte_whatever_is_asked() {
        Keepsake keepsake = whereOsloIsLiked();
        Chat chat = chat(keepsake);
        for (String question : List.of("What about Oslo?", "Something else", "And again")) {
            chat.chat("a", question);
        }
        int last = model.requests.size() - 1;
        assertThat(shownBlock()).isNotEmpty();
        for (int i = last; i > last - 2; i--) {
            List<ChatMessage> before = model.requests.get(i - 1).messages();
            assertThat(model.requests.get(i).messages().subList(0, before.size()))
                    .isEqualTo(before);
        }
        String before = shownBlock();
        keepsake.longTermMemories().make("a");
        chat.chat("a", "One more");
        assertThat(shownBlock())
                .isNotEqualTo(before)
                .startsWith(before.substring(0, before.indexOf("</made")).strip());
    }

    @Test
    void the_message_is_within_its_tokens_and_no_memory_is_cut() {
        TokenCounter counter = TokenCounter.standard();
        for (int most : new int[] {1, 30, 60, 100, 200, 400}) {
            Keepsake keepsake =
                    block(FACTS, LongTermMemoryBlock.withMaxTokens(most).withMinTrust(Trust.RETRIEVED), 50);
            List<String> all = new ArrayList<>();
            keepsake.longTermMemories().of("a").erase();
            for (int i = 0; i < 12; i++) {
                all.add("Fact " + i + " says " + "word ".repeat(i * 3) + "end" + i + ".");
                fact(all.get(i), Trust.USER, i == 3);
            }
            chat(keepsake).chat("a", "Hello");
            chat(keepsake).chat("a", "Hello again");
            String block = shownBlock();
            if (block.isEmpty()) {
                assertThat(most).isLessThan(60);
                continue;
            }
            ChatMessage message = model.lastMessages().get(0);
            assertThat(counter.count(message).tokens()).isLessThanOrEqualTo(most);
            List<String> lines =
                    block.lines().filter(line -> line.startsWith("[2")).toList();
            assertThat(lines).isNotEmpty().allMatch(line -> all.contains(line.substring(line.indexOf("] ") + 2)));
            assertThat(lines.get(0)).as("the pinned one").contains("Fact 3 ");
        }
    }

    @Test
    void only_memories_of_the_branch_that_is_shown_are_in_it_and_switching_brings_the_others_back() {
        Keepsake keepsake = block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        Chat chat = chat(keepsake);
        chat.chat("a", "Hello");
        chat.chat("a", "Hello again");
        keepsake.longTermMemories().make("a");
        model.says("Take the train.");
        chat.chat("a", "How do I get to Rome?");
        keepsake.longTermMemories().make("a");
        String first = newest(keepsake, "a");
        assertThat(block(keepsake.conversation("a").messages())).contains("Take the train.");

        model.says("Take a plane.");
        keepsake.conversation("a").regenerate(first, question -> chat.chat("a", question.singleText()));
        assertThat(shownBlock()).contains("Fine.").doesNotContain("train");
        assertThat(block(keepsake.conversation("a").messages()))
                .contains("Fine.")
                .doesNotContain("train");
        keepsake.longTermMemories().make("a");
        assertThat(block(keepsake.conversation("a").messages()))
                .contains("Take a plane.")
                .doesNotContain("train");
        keepsake.conversation("a").switchTo(first);
        assertThat(block(keepsake.conversation("a").messages()))
                .contains("Fine.")
                .doesNotContain("plane");
        keepsake.longTermMemories().make("a");
        assertThat(block(keepsake.conversation("a").messages()))
                .contains("Take the train.")
                .doesNotContain("plane");
    }

    @Test
    void what_clear_hides_is_not_told_by_memories_either() {
        Keepsake keepsake = block(CHUNKS, LongTermMemoryBlock.withMaxTokens(2_000), 4);
        Chat chat = chat(keepsake);
        for (String city : List.of("Oslo", "Rome", "Paris")) {
            chat.chat("a", "I like " + city);
            keepsake.longTermMemories().make("a");
        }
        keepsake.chatMemory("a").clear();
        assertThat(keepsake.chatMemory("a").messages()).isEmpty();
        chat.chat("a", "Anything?");
        assertThat(model.lastMessages()).hasSize(1);
        for (String city : List.of("Bern", "Wien", "Prag")) {
            chat.chat("a", "I like " + city);
            keepsake.longTermMemories().make("a");
        }
        chat.chat("a", "Where to?");
        assertThat(shownBlock()).contains("Bern", "Prag").doesNotContain("Oslo", "Rome", "Paris", "Summary");
    }

    @Test
    void what_a_framework_writes_back_is_no_message_of_the_conversation() {
        Keepsake keepsake = whereOsloIsLiked();
        KeepsakeChatMemory memory = keepsake.chatMemory("a");
        List<ChatMessage> shown = memory.messages();
        assertThat(block(shown)).isNotEmpty();

        memory.set(shown);
        assertThat(memory.messages()).isEqualTo(shown);
        memory.clear();
        shown.forEach(memory::add);
        assertThat(memory.messages()).isEqualTo(shown);
        memory.add(UserMessage.from("Next"));
        keepsake.chatMemoryStore().updateMessages("a", new ArrayList<>(shown));
        assertThat(keepsake.conversation("a").history(HistoryQuery.newest(100)).messages())
                .extracting(LoggedMessage::message)
                .hasSize(5)
                .noneMatch(Remembered::isShown);
    }

    @Test
    void where_the_newest_turn_fits_only_without_memories_they_are_left_out_and_limits_count_them() {
        Keepsake keepsake = block(
                FACTS,
                TokenLimit.withMaxTokens(200, TokenCounter.standard()).and(LongTermMemoryBlock.withMaxTokens(150)));
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .chatRequestTransformer(keepsake.requestBudget())
                .build();
        fact("word ".repeat(80), Trust.USER, false);
        chat.chat("a", "Hello");
        for (int i = 0; i < 10; i++) {
            chat.chat("a", "Hello " + "again ".repeat(10));
            assertThat(shownBlock()).isNotEmpty();
            int tokens = TokenCounter.standard().estimateTokenCountInMessages(model.lastMessages());
            assertThat(tokens).isLessThanOrEqualTo(200);
        }
        assertThat(chat.chat("a", "long ".repeat(130))).isEqualTo("Fine.");
        assertThat(shownBlock()).isEmpty();
    }

    @Test
    void a_memory_of_less_trust_is_left_out_unless_asked_for_and_then_lowers_that_of_the_answer() {
        Keepsake keepsake = block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        fact("The tool says A.", Trust.TOOL, true);
        fact("The user says B.", Trust.USER, false);
        chat(keepsake).chat("a", "Hello");
        chat(keepsake).chat("a", "Hello again");
        assertThat(shownBlock()).contains("The user says B.").doesNotContain("A.");
        BranchMessages messages = new BranchMessages(key -> log, store);
        assertThat(messages.read(KEY).messages())
                .extracting(SourceMessage::trust)
                .containsExactly(Trust.USER, Trust.ASSISTANT, Trust.USER, Trust.ASSISTANT);
        assertThat(new BranchMessages(log).read(KEY).messages().get(3).trust())
                .as("a store that is not known")
                .isEqualTo(Trust.RETRIEVED);

        Keepsake any = Keepsake.builder()
                .messageLog(log)
                .longTermMemories(discussions(), Duration.ofDays(1))
                .strategy(SlidingWindow.withMaxMessages(50)
                        .and(LongTermMemoryBlock.withMaxTokens(500).withMinTrust(Trust.RETRIEVED)))
                .build();
        chat(any).chat("a", "And now?");
        assertThat(shownBlock()).contains("The tool says A.", "from a tool, unverified");
        assertThat(messages.read(KEY).messages().get(5).trust()).isEqualTo(Trust.TOOL);
    }

    private Discussions discussions() {
        return Discussions.builder(store)
                .workflow("w", inputs -> "[]")
                .config(DiscussionConfig.ofJson(FACTS))
                .build();
    }

    @Test
    void in_a_turn_with_tools_it_stays_as_it_was_at_the_beginning() {
        Keepsake keepsake = block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        fact("Before.", Trust.USER, false);
        Chat chat = keepsake.aiServices(Chat.class)
                .chatModel(model)
                .tools(new Object() {
                    @dev.langchain4j.agent.tool.Tool
                    String learn() {
                        fact("Meanwhile.", Trust.USER, false);
                        return "learned";
                    }
                })
                .build();
        chat.chat("a", "Hello");
        model.says(AiMessage.from(call("1", "learn", "{}")));
        chat.chat("a", "Learn");
        int last = model.requests.size() - 1;
        assertThat(shownBlock())
                .contains("Before.")
                .doesNotContain("Meanwhile.")
                .isEqualTo(block(model.requests.get(last - 1).messages()));
        chat.chat("a", "And now?");
        assertThat(shownBlock()).contains("Before.", "Meanwhile.");
    }

    @Test
    void a_store_that_fails_breaks_no_turn() {
        block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        LongTermMemoryStore failing = Watched.of(LongTermMemoryStore.class, null, call -> {
            throw new StorageUnavailableException("down", null);
        });
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .longTermMemories(
                        Discussions.builder(failing)
                                .chatModel(new ScriptedModel(prompt -> "text"))
                                .build(),
                        Duration.ofDays(1))
                .strategy(LongTermMemoryBlock.withMaxTokens(500))
                .build();
        for (int i = 0; i < 3; i++) {
            assertThat(chat(keepsake).chat("a", "Hello")).isEqualTo("Fine.");
            assertThat(shownBlock()).isEmpty();
        }
        assertThat(keepsake.conversation("a").explain().memories()).isEmpty();
    }

    @Test
    void while_a_store_hangs_no_turn_waits_for_it_again() {
        block(FACTS, LongTermMemoryBlock.withMaxTokens(500), 50);
        fact("A fact.", Trust.USER, false);
        chat(Keepsake.builder().messageLog(log).build()).chat("a", "Hello");
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        LongTermMemoryReader hanging = Watched.of(LongTermMemoryReader.class, store, call -> {
            if (calls.incrementAndGet() == 1) {
                end.await();
            }
            return call.proceed();
        });
        ExecutorService executor = Executors.newCachedThreadPool();
        try {
            MemoryBlocks blocks = new MemoryBlocks(
                    LongTermMemoryBlock.withMaxTokens(500),
                    hanging,
                    key -> log,
                    TokenCounter.standard(),
                    executor,
                    Duration.ofMillis(300));
            var tail = log.read(KEY, io.github.keepsake4j.log.ReadQuery.newest(10));
            assertThat(blocks.begin(KEY).apply(tail)).isEmpty();
            for (int i = 0; i < 100; i++) {
                assertThat(blocks.begin(KEY).apply(tail)).isEmpty();
            }
            assertThat(calls).hasValue(1);
            end.countDown();
            org.awaitility.Awaitility.await()
                    .untilAsserted(
                            () -> assertThat(blocks.begin(KEY).apply(tail)).isPresent());
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void an_erased_conversation_is_shown_no_memories_and_an_agents_node_has_none() {
        Keepsake keepsake = whereOsloIsLiked();
        Chat chat = chat(keepsake);
        keepsake.nodes("app").chatMemoryProvider("writer").get("a").add(UserMessage.from("Hi"));
        assertThat(keepsake.nodes("app").chatMemoryProvider("writer").get("a").messages())
                .hasSize(1);
        // By what does not know of memories.
        log.erase(KEY);
        chat.chat("a", "Hello");
        chat.chat("a", "What do I like?");
        assertThat(shownBlock()).isEmpty();
    }

    @Test
    void it_needs_memories_and_is_there_once() {
        assertThrown(
                InvalidInputException.class,
                () -> Keepsakes.on(newLog(), LongTermMemoryBlock.withMaxTokens(500)),
                "memories");
        log = newLog();
        assertThrown(
                InvalidInputException.class,
                () -> block(FACTS, LongTermMemoryBlock.withMaxTokens(500).and(LongTermMemoryBlock.withMaxTokens(100))),
                "one LongTermMemoryBlock");
        assertThatThrownBy(() -> LongTermMemoryBlock.withMaxTokens(0)).isInstanceOf(InvalidInputException.class);
    }
}
