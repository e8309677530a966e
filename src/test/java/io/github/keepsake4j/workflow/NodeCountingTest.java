package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.PdfFileContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.workflow.files.FileContentSource.FileContent;
import io.github.keepsake4j.workflow.files.FileResolver.ResolvedFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How histories and budgets of nodes are counted. */
class NodeCountingTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c1");
    private static final String COUNTER = "a counter";
    private static final TokenCountEstimator WORDS = new WordCounter();
    private static final TokenCountEstimator OURS = JtokkitTokenCountEstimator.forEncoding("o200k_base");

    private final InMemoryMessageLog log = new InMemoryMessageLog();
    private final AtomicLong characters = new AtomicLong();

    /** Counts texts by a function, and the characters that it is given. Messages have their counts from the log. */
    private TokenCounter watching(ToIntFunction<String> count) {
        return TokenCounter.named(COUNTER, new TokenCountEstimator() {
            @Override
            public int estimateTokenCountInText(String text) {
                characters.addAndGet(text.length());
                return count.applyAsInt(text);
            }

            @Override
            public int estimateTokenCountInMessage(ChatMessage message) {
                throw new AssertionError("is counted in the log");
            }

            @Override
            public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
                return 0;
            }
        });
    }

    /** Appends turns of random words, with counts that are off by some, and returns their lines, oldest first. */
    private List<String> say(int turns, Random random, int mostWords, ToIntFunction<String> count) {
        List<NewMessage> batch = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            String question = words(random, mostWords);
            String answer = words(random, mostWords);
            int asked = count.applyAsInt(question);
            int told = count.applyAsInt(answer);
            batch.add(new NewMessage("u" + i, user(question), asked - random.nextInt(1 + asked / 3), COUNTER, null));
            batch.add(new NewMessage("a" + i, ai(answer), told + random.nextInt(1 + told / 3), COUNTER, null));
            lines.add("Human: " + question + "\nAssistant: " + answer);
        }
        log.append(KEY, Append.under(Parent.head(), batch));
        return lines;
    }

    private static String words(Random random, int most) {
        List<String> words = new ArrayList<>();
        IntStream.rangeClosed(0, random.nextInt(most))
                .forEach(i -> words.add(Integer.toString(random.nextInt(1 << random.nextInt(30)), 36)
                        + (random.nextInt(9) == 0 ? ".\n" : "")));
        return String.join(" ", words).strip();
    }

    private String text(TokenCountEstimator estimator, int limit) {
        return WorkflowMemories.builder()
                .conversationLog(log)
                .tokenCountEstimator(estimator)
                .build()
                .conversation(KEY)
                .getHistoryPromptText(null, limit, null);
    }

    private static String last(List<String> lines, int count) {
        return String.join("\n", lines.subList(lines.size() - count, lines.size()));
    }

    private static int most(List<String> lines, ToIntFunction<String> count, int limit) {
        int turns = 0;
        while (turns < lines.size() && count.applyAsInt(last(lines, turns + 1)) <= limit) {
            turns++;
        }
        return turns;
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 5_000})
    void a_long_history_as_text_is_counted_twice_at_most(int rows) {
        List<String> lines = say(rows, new Random(rows), 60, OURS::estimateTokenCountInText);
        String whole = last(lines, 500);
        ToIntFunction<String> tokens = OURS::estimateTokenCountInText;
        int all = tokens.applyAsInt(whole);
        for (int limit : new int[] {10, all / 100, all / 10, all / 2, all - all / 100, all - 1, all, 2 * all}) {
            characters.set(0);
            String text = text(watching(tokens), limit);
            assertThat(whole).endsWith(text);
            assertThat(tokens.applyAsInt(text)).isLessThanOrEqualTo(limit);
            int shown = text.isEmpty() ? 0 : text.split("\nHuman: ").length;
            assertThat(shown >= 499 || tokens.applyAsInt(last(lines, Math.min(500, shown + 2))) > limit)
                    .describedAs("%d turns are shown within %d tokens", shown, limit)
                    .isTrue();
            assertThat(characters.get())
                    .describedAs("limit %d of %d tokens", limit, all)
                    .isLessThanOrEqualTo(2L * whole.length());
        }
    }

    @Test
    void a_history_as_text_is_never_over_its_limit_and_misses_one_turn_at_most() {
        List<ToIntFunction<String>> counters = List.of(
                WORDS::estimateTokenCountInText,
                OURS::estimateTokenCountInText,
                text -> (text.length() + 3) / 4,
                text -> text.length() / 4,
                text -> 3 + OURS.estimateTokenCountInText(text));
        for (int round = 0; round < Counts.of(100, 3_000); round++) {
            Random random = new Random(round);
            log.erase(KEY);
            ToIntFunction<String> tokens = counters.get(round % counters.size());
            List<String> lines = say(1 + random.nextInt(60), random, 1 + random.nextInt(40), tokens);
            int all = tokens.applyAsInt(String.join("\n", lines));
            int limit = 1 + random.nextInt(all + 10);
            characters.set(0);
            String text = text(watching(tokens), limit);
            int most = most(lines, tokens, limit);
            int whole = String.join("\n", lines).length();
            assertThat(text.isEmpty() ? 0 : tokens.applyAsInt(text)).isLessThanOrEqualTo(limit);
            assertThat(text)
                    .describedAs("round %d: %d of %d turns fit", round, most, lines.size())
                    .isIn(last(lines, most), last(lines, Math.max(0, most - 1)));
            assertThat(characters.get()).describedAs("round %d", round).isLessThanOrEqualTo(2L * whole);
        }
    }

    @Test
    void a_node_whose_engine_calls_the_model_counts_as_that_model_does() {
        NodeKey key = NodeKey.of("acme", "app", "c1", "writer");
        WorkflowMemories memories = WorkflowMemories.builder().nodeLog(log).build();
        // cl100k splits this text into more tokens than o200k.
        String question = "Привет, как дела? ".repeat(20);
        NodeTokenBufferMemory node = memories.node(key);
        node.addMessages("m1", null, question, List.of(), "ok", List.of());
        node.flush();
        int limit = OURS.estimateTokenCountInMessages(List.of(user(question), ai("ok")));

        assertThat(memories.node(key).getHistoryPromptMessages(NodeTurn.of("m2").under("m1"), "acme", limit, null))
                .hasSize(2);
        assertThat(memories.countingFor("gpt-4")
                        .node(key)
                        .getHistoryPromptMessages(NodeTurn.of("m2").under("m1"), "acme", limit, null))
                .isEmpty();
    }

    @Test
    void a_file_or_a_server_that_cannot_be_counted_does_not_fail_a_turn() {
        TokenCountEstimator down = new TokenCountEstimator() {
            @Override
            public int estimateTokenCountInText(String text) {
                throw new IllegalStateException("down");
            }

            @Override
            public int estimateTokenCountInMessage(ChatMessage message) {
                throw new IllegalStateException("down");
            }

            @Override
            public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
                throw new IllegalStateException("down");
            }
        };
        List<ChatMessage> asked = new ArrayList<>();
        ChatModel model = Script.playing(request -> {
            asked.addAll(request.messages());
            return Script.response(ai("read"));
        });
        FileReference file = FileReference.localFile(FileReference.Type.DOCUMENT, "d");
        for (boolean remote : new boolean[] {false, true}) {
            log.erase(NodeKey.of("acme", "app", "c1", "reader"));
            WorkflowMemories.Builder builder = WorkflowMemories.builder()
                    .conversationLog(log)
                    .nodeLog(log)
                    .fileResolver((tenant, references) ->
                            Map.of(file, new ResolvedFile(file, "k", "d.pdf", "application/pdf", 3)))
                    .fileContentSource((tenant, resolved) -> FileContent.bytes(new byte[] {1, 2, 3}));
            WorkflowMemories memories =
                    (remote ? builder.remoteTokenCountEstimator(down) : builder.tokenCountEstimator(down)).build();
            NodeRun run = NodeRun.of(
                            "acme", "app", "c1", "reader", NodeTurn.of("m1").under(null), "read it")
                    .withFiles(List.of(file));
            LlmNode.of(memories, model, MemoryConfig.of(MemoryMode.NODE))
                    .budget(10_000, 100)
                    .run(run);

            assertThat(((UserMessage) asked.get(asked.size() - 1)).contents())
                    .hasAtLeastOneElementOfType(PdfFileContent.class);
            log.append(
                    KEY,
                    Append.under(
                            Parent.head(),
                            List.of(
                                    new NewMessage("u" + remote, user("one"), 1, "another", null),
                                    new NewMessage("a" + remote, ai("two"), 1, "another", null))));
            assertThat(memories.conversation(KEY).getHistoryPromptText(null, 1_000, null))
                    .endsWith("Assistant: two");
        }
    }
}
