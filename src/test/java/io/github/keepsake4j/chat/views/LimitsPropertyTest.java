package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.WordCounter.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.text.TextShortener;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What limits of tokens promise, on random conversations that various counters counted. */
@Tag("landing")
class LimitsPropertyTest {

    private static final ConversationKey KEY = ConversationKey.of("default", "x");

    private static final List<String> WORDS = List.of(
            "weather",
            "the",
            "of",
            "नमस्ते",
            "बारिश",
            "погода",
            "天気",
            "🙂",
            "{\"a\":[1,2]}",
            "x=4711;",
            "Donaudampfschiff");

    private Random random;
    private String seed;

    @BeforeEach
    void seed() {
        long number = Long.getLong("keepsake.seed", System.nanoTime());
        random = new Random(number);
        seed = "-Dkeepsake.seed=" + number;
        Tell.line("LimitsPropertyTest " + seed);
    }

    /** A counter of a limit, the estimator that tells the truth, and how often the counter was called. */
    private record Limiting(TokenCounter counter, TokenCountEstimator truth, Watched watched) {}

    @Test
    void limits_hold_and_are_used_whoever_counted_and_a_settled_conversation_tokenizes_nothing() {
        int reads = 0;
        int failures = 0;
        int cut = 0;
        for (int i = 0; i < Counts.of(75, 10_000); i++) {
            MessageLog log = new InMemoryMessageLog();
            boolean tools = random.nextInt(3) == 0;
            List<List<ChatMessage>> turns = conversation(log, tools);
            for (Limiting limiting : counters()) {
                int limit = 60 + random.nextInt(1500);
                Watched watched = limiting.watched();
                Keepsake keepsake = Keepsakes.on(log, TokenLimit.withMaxTokens(limit, limiting.counter()));
                List<ChatMessage> shown = keepsake.conversation("x").messages();
                String as = seed + " try " + i + " " + limiting.counter() + " limit " + limit;
                assertThat(limiting.truth().estimateTokenCountInMessages(shown))
                        .as(as)
                        .isLessThanOrEqualTo(limit);
                if (watched.failed == 0 && !tools) {
                    cut += used(limiting.truth(), limit, turns, shown, as) ? 1 : 0;
                }
                failures += watched.failed;
                reads++;
                for (int more = 0; more < 3 * turns.size() && watched.failed > 0; more++) {
                    watched.failed = 0;
                    shown = keepsake.conversation("x").messages();
                }
                watched.calls = 0;
                assertThat(keepsake.conversation("x").messages()).as(as).isEqualTo(shown);
                assertThat(keepsake.chatMemory("x").messages()).as(as).isEqualTo(shown);
                assertThat(watched.calls)
                        .as(as + ": a settled conversation tokenizes nothing")
                        .isZero();
            }
        }
        Tell.line(
                reads + " reads, " + cut + " of which left out a turn, " + failures + " failures of a remote counter");
        assertThat(cut).isPositive();
        assertThat(failures).isPositive();
    }

    @Test
    void a_turn_whose_question_and_calls_fit_is_shown_whatever_its_tools_return() {
        int cramped = 0;
        for (int i = 0; i < Counts.of(75, 10_000); i++) {
            TokenCountEstimator estimator =
                    random.nextBoolean() ? new WordCounter() : JtokkitTokenCountEstimator.forEncoding("o200k_base");
            int limit = 150 + random.nextInt(1000);
            Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog(), TokenLimit.withMaxTokens(limit, estimator));
            KeepsakeChatMemory memory = keepsake.chatMemory("x");
            Map<String, String> texts = new HashMap<>();
            String as = seed + " try " + i + " limit " + limit;
            memory.add(user("0"), ai("0"));
            for (int turn = 0; turn < 1 + random.nextInt(3); turn++) {
                UserMessage question = user(words("q" + turn, 1 + random.nextInt(random.nextInt(4) == 0 ? limit : 20)));
                memory.add(question);
                for (int round = 0; round < 1 + random.nextInt(4); round++) {
                    List<ChatMessage> results = round(turn + "." + round, limit);
                    if (isRefused(memory, question, results, estimator, limit, as)) {
                        break;
                    }
                    int least = estimator.estimateTokenCountInMessages(least(question, results));
                    if (least > limit) {
                        break;
                    }
                    List<ChatMessage> shown = memory.messages();
                    assertThat(shown).as(as).contains(question, results.get(0));
                    assertThat(estimator.estimateTokenCountInMessages(shown))
                            .as(as)
                            .isLessThanOrEqualTo(limit);
                    assertThat(ProviderRules.all(shown)).as(as).isEmpty();
                    cramped += same(shown, texts, as);
                    assertThat(keepsake.conversation("x").messages()).as(as).isEqualTo(shown);
                }
                memory.add(ai("done"));
            }
        }
        assertThat(cramped).isPositive();
    }

    /** Returns the turn with its last round, each result as short as it may be shown. */
    private static List<ChatMessage> least(UserMessage question, List<ChatMessage> round) {
        List<ChatMessage> least = new ArrayList<>(List.of(question, round.get(0)));
        for (ChatMessage message : round.subList(1, round.size())) {
            ToolExecutionResultMessage result = (ToolExecutionResultMessage) message;
            String mark = TextShortener.ofChars(result.text(), 0);
            least.add(ToolExecutionResultMessage.from(result.id(), result.toolName(), mark));
        }
        return least;
    }

    /** Checks that each result has the text with which it was shown first, and returns how many are shortened. */
    private static int same(List<ChatMessage> shown, Map<String, String> texts, String as) {
        int shortened = 0;
        for (ChatMessage message : shown) {
            if (message instanceof ToolExecutionResultMessage result) {
                assertThat(texts.merge(result.id(), result.text(), (first, now) -> first))
                        .as(as)
                        .isEqualTo(result.text());
                shortened += result.text().contains(" characters cut …] ") ? 1 : 0;
            }
        }
        return shortened;
    }

    /** Adds a round. Returns whether the calls were refused, which is right only if not even empty results fit. */
    private static boolean isRefused(
            KeepsakeChatMemory memory,
            UserMessage question,
            List<ChatMessage> round,
            TokenCountEstimator estimator,
            int limit,
            String as) {
        try {
            round.forEach(memory::add);
            return false;
        } catch (ContextOverflowException e) {
            List<ChatMessage> empty = new ArrayList<>(List.of(question, round.get(0)));
            ((AiMessage) round.get(0))
                    .toolExecutionRequests()
                    .forEach(call -> empty.add(ToolExecutionResultMessage.from(call, "")));
            assertThat(estimator.estimateTokenCountInMessages(empty)).as(as).isGreaterThan(limit);
            return true;
        }
    }

    private List<ChatMessage> round(String name, int limit) {
        int count = 1 + random.nextInt(random.nextInt(4) == 0 ? 12 : 3);
        List<ToolExecutionRequest> calls = IntStream.range(0, count)
                .mapToObj(number -> call(name + "." + number, "tool", "{}"))
                .toList();
        List<ChatMessage> round = new ArrayList<>(List.of(AiMessage.from(calls)));
        for (ToolExecutionRequest call : calls) {
            int size = 1 + random.nextInt(random.nextBoolean() ? 20 * limit : 30);
            round.add(ToolExecutionResultMessage.from(call, words("r", size)));
        }
        return round;
    }

    /** Checks that the newest turn that is not shown does not fit. Returns whether there is one. */
    private static boolean used(
            TokenCountEstimator truth, int limit, List<List<ChatMessage>> turns, List<ChatMessage> shown, String as) {
        List<ChatMessage> longer = new ArrayList<>(shown);
        longer.removeIf(SystemMessage.class::isInstance);
        int t = turns.size();
        while (t > 0 && shown.contains(turns.get(t - 1).get(0))) {
            t--;
        }
        if (t == 0) {
            return false;
        }
        longer.addAll(0, turns.get(t - 1));
        assertThat(truth.estimateTokenCountInMessages(longer))
                .as(as + ": the limit is used")
                .isGreaterThan(limit);
        return true;
    }

    private List<Limiting> counters() {
        Watched o200k = new Watched(JtokkitTokenCountEstimator.forEncoding("o200k_base"), null);
        Watched cl100k = new Watched(JtokkitTokenCountEstimator.forEncoding("cl100k_base"), null);
        Watched characters = new Watched(new Characters(), null);
        Watched remote = new Watched(new Larger(), new Random(random.nextLong()));
        return List.of(
                new Limiting(TokenCounter.named("o200k", o200k), o200k.estimator, o200k),
                new Limiting(TokenCounter.of(cl100k), cl100k.estimator, cl100k),
                new Limiting(TokenCounter.named("characters", characters), characters.estimator, characters),
                new Limiting(TokenCounter.remote("remote", remote), remote.estimator, remote));
    }

    /** Appends a conversation, each message counted by some counter, and returns its turns. */
    private List<List<ChatMessage>> conversation(MessageLog log, boolean tools) {
        List<List<ChatMessage>> turns = new ArrayList<>();
        for (int t = 0; t < 1 + random.nextInt(25); t++) {
            List<ChatMessage> turn = new ArrayList<>(List.of(user(t + text(1 + random.nextInt(40)))));
            for (int round = 0; tools && round < random.nextInt(3); round++) {
                ToolExecutionRequest call = call("c" + t + "." + round, "tool", "{}");
                turn.add(AiMessage.from(call));
                turn.add(ToolExecutionResultMessage.from(call, text(1 + random.nextInt(500))));
            }
            turn.add(ai(t + text(1 + random.nextInt(60))));
            turns.add(turn);
            log.append(
                    KEY,
                    Append.under(Parent.head(), turn.stream().map(this::counted).toList()));
        }
        return turns;
    }

    private NewMessage counted(ChatMessage message) {
        int tokens = JtokkitTokenCountEstimator.forEncoding("o200k_base").estimateTokenCountInMessage(message);
        return switch (random.nextInt(3)) {
            case 0 -> new NewMessage(Ids.next(), message, tokens, "o200k", null);
            case 1 -> new NewMessage(Ids.next(), message, 4 * tokens, "a high one", null);
            default -> new NewMessage(Ids.next(), message, 1 + tokens / 4, "a low one", null);
        };
    }

    private String text(int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append(' ').append(WORDS.get(random.nextInt(WORDS.size())));
        }
        return text.toString();
    }

    /** Counts its calls, and fails now and then if it is given a source of chance. */
    private static final class Watched implements TokenCountEstimator {
        private final TokenCountEstimator estimator;
        private final Random chance;
        private int calls;
        private int failed;

        Watched(TokenCountEstimator estimator, Random chance) {
            this.estimator = estimator;
            this.chance = chance;
        }

        @Override
        public int estimateTokenCountInText(String text) {
            calls++;
            return estimator.estimateTokenCountInText(text);
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            calls++;
            if (chance != null && chance.nextInt(20) == 0) {
                failed++;
                throw new IllegalStateException("unavailable");
            }
            return estimator.estimateTokenCountInMessage(message);
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            calls++;
            return estimator.estimateTokenCountInMessages(messages);
        }
    }

    /** Counts characters. */
    private static final class Characters implements TokenCountEstimator {
        @Override
        public int estimateTokenCountInText(String text) {
            return text.length();
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            String text = message instanceof UserMessage user
                    ? user.singleText()
                    : message instanceof ToolExecutionResultMessage result
                            ? result.text()
                            : ((AiMessage) message).text();
            return text == null ? 10 : 3 + text.length();
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            int total = 2;
            for (ChatMessage message : messages) {
                total += estimateTokenCountInMessage(message);
            }
            return total;
        }
    }

    /** Counts a third more than the newest tokenizer, as that of another provider may. */
    private static final class Larger implements TokenCountEstimator {
        private final TokenCountEstimator estimator = JtokkitTokenCountEstimator.forEncoding("o200k_base");

        @Override
        public int estimateTokenCountInText(String text) {
            return estimator.estimateTokenCountInText(text) * 4 / 3;
        }

        @Override
        public int estimateTokenCountInMessage(ChatMessage message) {
            return estimator.estimateTokenCountInMessage(message) * 4 / 3;
        }

        @Override
        public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
            int total = 4;
            for (ChatMessage message : messages) {
                total += estimateTokenCountInMessage(message);
            }
            return total;
        }
    }
}
