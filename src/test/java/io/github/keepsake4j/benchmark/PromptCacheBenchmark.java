package io.github.keepsake4j.benchmark;

import static io.github.keepsake4j.testing.Dialogue.call;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Measures how much of each prompt is equal to the previous prompt, byte by byte from the beginning. A provider's
 * prompt cache can use that part. The benchmark is a scripted chat of 500 turns, without a database and without a
 * clock, so it gives the same figures everywhere.
 *
 * <p>Run it with {@code mvn test-compile exec:java
 * -Dexec.mainClass=io.github.keepsake4j.benchmark.PromptCacheBenchmark}; it writes
 * {@code src/docs/benchmarks/prompt-cache.md}.
 */
public final class PromptCacheBenchmark {

    private static final int TURNS = 500;
    private static final double PRICE_OF_THE_SAME = 0.1;
    private static final String BEHIND = "\n\nAnswer using the following information:\n";
    private static final JtokkitTokenCountEstimator ESTIMATOR = JtokkitTokenCountEstimator.forModel("gpt-4o");
    private static final MessageCodec CODEC = new MessageCodec();

    private PromptCacheBenchmark() {}

    /** A request: the shown messages, followed by the user's message. */
    private record Request(byte[] bytes, int fill, boolean full, String start) {}

    /** Runs the benchmark. */
    public static void main(String[] args) throws IOException {
        List<List<ChatMessage>> chat = chat();
        Report report = new Report();
        report.text("# How much of a prompt stays the same");
        report.text("The chat is scripted: " + TURNS + " turns ("
                + chat.stream().mapToInt(List::size).sum()
                + " messages, texts of 5 to 120 words, every fourth turn with one to three rounds of tools) behind a system"
                + " message. For each model call of a turn, the bytes of the messages sent are compared with those of the call"
                + " before. The messages sent are those that the memory shows, the user's message included. `same` is the share"
                + " of all bytes sent that were sent before in the same place from the beginning on. `same when full` counts"
                + " only calls since the first message left. `billed` is what the bytes of these calls cost, as a share of their"
                + " price without a cache, if the provider takes a tenth of it for bytes that stay and nothing for keeping them. `fill` is the mean share of"
                + " the window in use since then. `moves`"
                + " counts how often messages leave and the window's start moves. The benchmark uses no clock and gives the"
                + " same figures on any machine.");
        report.text(
                "The first row is the window that holds if no limit is set. \"In steps\" is a third, as `steps()` sets it.");
        List<List<String>> rows = new ArrayList<>();
        int standard = SlidingWindow.STANDARD_MESSAGES;
        rows.add(row("no limit set: messages 50, in steps", SlidingWindow.standard(), standard, false, chat));
        SlidingWindow exact = SlidingWindow.withMaxMessages(standard);
        rows.add(row("messages 50", exact, standard, false, chat));
        rows.add(row("messages 50, step 12", exact.step(12), standard, false, chat));
        rows.add(row("messages 50, step 25", exact.step(25), standard, false, chat));
        ContextStrategy beside =
                exact.and(TokenLimit.withMaxTokens(8000, ESTIMATOR).steps(ContextStrategy.THIRD));
        rows.add(row("messages 50, beside tokens 8000 in steps", beside, standard, false, chat));
        SlidingWindow hundred = SlidingWindow.withMaxMessages(100);
        rows.add(row("messages 100", hundred, 100, false, chat));
        rows.add(row("messages 100, in steps", hundred.steps(ContextStrategy.THIRD), 100, false, chat));
        rows.add(row("messages 100, step 50", hundred.step(50), 100, false, chat));
        for (int limit : new int[] {4000, 8000}) {
            TokenLimit tokens = TokenLimit.withMaxTokens(limit, ESTIMATOR);
            rows.add(row("tokens " + limit, tokens, limit, true, chat));
            rows.add(row("tokens " + limit + ", in steps", tokens.steps(ContextStrategy.THIRD), limit, true, chat));
            rows.add(row("tokens " + limit + ", step " + limit / 2, tokens.step(limit / 2), limit, true, chat));
        }
        List<List<ChatMessage>> retrieving = new ArrayList<>(chat);
        Random random = new Random(3);
        retrieving.replaceAll(turn -> retrieving(turn, random));
        TokenLimit tokens = TokenLimit.withMaxTokens(8000, ESTIMATOR).step(4000);
        rows.add(row("the same, retrieval, shown in its own turn", tokens, 8000, true, retrieving));
        rows.add(row("the same, retrieval, shown in all turns", measure(tokens, 8000, true, retrieving, true)));
        report.table(
                List.of(
                        "window",
                        "same when full, %",
                        "billed, with a tenth for what stays, %",
                        "same, %",
                        "fill, %",
                        "moves"),
                rows);
        Path file = Path.of("src", "docs", "benchmarks", "prompt-cache.md");
        Files.writeString(file, report.markdown());
        System.out.print(report.markdown());
    }

    /** Returns a turn whose question is sent with 300 words that were retrieved. */
    private static List<ChatMessage> retrieving(List<ChatMessage> turn, Random random) {
        List<ChatMessage> sent = new ArrayList<>(turn);
        sent.set(0, UserMessage.from(((UserMessage) turn.get(0)).singleText() + BEHIND + words(random, 300)));
        return sent;
    }

    /** The shares of a row, from 0 to 1, and how often the window's start moved. */
    record Shares(double sameWhenFull, double billed, double same, double fill, int moves) {}

    private static List<String> row(
            String name, ContextStrategy strategy, int limit, boolean tokens, List<List<ChatMessage>> chat) {
        return row(name, measure(strategy, limit, tokens, chat, false));
    }

    private static List<String> row(String name, Shares shares) {
        return List.of(
                name,
                percent(shares.sameWhenFull()),
                percent(shares.billed()),
                percent(shares.same()),
                percent(shares.fill()),
                Integer.toString(shares.moves()));
    }

    /** Sends the chat of the report through a strategy. The limit is in tokens or in messages. */
    static Shares measure(ContextStrategy strategy, int limit, boolean tokens) {
        return measure(strategy, limit, tokens, chat(), false);
    }

    private static Shares measure(
            ContextStrategy strategy, int limit, boolean tokens, List<List<ChatMessage>> chat, boolean allTurns) {
        List<LoggedMessage> log = new ArrayList<>();
        add(log, SystemMessage.from(words(new Random(0), 150)));
        List<Request> requests = new ArrayList<>();
        for (List<ChatMessage> turn : chat) {
            for (ChatMessage message : turn) {
                if (message instanceof AiMessage) {
                    requests.add(request(strategy, log, tokens, allTurns));
                }
                add(log, message);
            }
        }
        long[] sent = new long[2];
        long[] same = new long[2];
        double fill = 0;
        int full = 0;
        int moves = 0;
        for (int i = 1; i < requests.size(); i++) {
            Request now = requests.get(i);
            Request before = requests.get(i - 1);
            int mismatch = Arrays.mismatch(before.bytes(), now.bytes());
            int prefix = mismatch < 0 ? now.bytes().length : mismatch;
            for (int which = 0; which < (now.full() ? 2 : 1); which++) {
                sent[which] += now.bytes().length;
                same[which] += prefix;
            }
            fill += now.full() ? (double) now.fill() / limit : 0;
            full += now.full() ? 1 : 0;
            moves += now.start().equals(before.start()) ? 0 : 1;
        }
        return new Shares(
                (double) same[1] / sent[1],
                (sent[1] - same[1] * (1 - PRICE_OF_THE_SAME)) / sent[1],
                (double) same[0] / sent[0],
                fill / full,
                moves);
    }

    private static Request request(
            ContextStrategy strategy, List<LoggedMessage> stored, boolean tokens, boolean allTurns) {
        String newest = stored.stream()
                .filter(message -> message.message() instanceof UserMessage)
                .reduce((first, second) -> second)
                .map(LoggedMessage::id)
                .orElse("");
        List<LoggedMessage> log = stored.stream()
                .map(message -> allTurns || message.id().equals(newest) ? message.asSent() : message)
                .toList();
        LoggedMessage user = log.stream()
                .filter(message -> message.message() instanceof UserMessage)
                .reduce((first, second) -> second)
                .orElse(null);
        Context context = strategy.select(Context.of(log.get(0), user, log));
        List<ChatMessage> messages = context.messages();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        messages.forEach(message -> bytes.writeBytes((CODEC.encode(message) + "\n").getBytes(StandardCharsets.UTF_8)));
        return new Request(
                bytes.toByteArray(),
                tokens ? ESTIMATOR.estimateTokenCountInMessages(messages) : messages.size(),
                messages.size() < log.size(),
                context.shown().get(1).id() + " "
                        + context.shown().get(Math.min(2, messages.size() - 1)).id());
    }

    private static List<List<ChatMessage>> chat() {
        Random random = new Random(500);
        List<List<ChatMessage>> chat = new ArrayList<>();
        for (int t = 0; t < TURNS; t++) {
            List<ChatMessage> turn = new ArrayList<>(List.of(UserMessage.from(words(random, 5 + random.nextInt(60)))));
            int rounds = t % 4 == 3 ? 1 + random.nextInt(3) : 0;
            for (int r = 0; r < rounds; r++) {
                ToolExecutionRequest call =
                        call("call-" + t + "-" + r, "search", "{\"q\":\"" + words(random, 3) + "\"}");
                turn.add(AiMessage.from(call));
                turn.add(ToolExecutionResultMessage.from(call, words(random, 20 + random.nextInt(100))));
            }
            turn.add(AiMessage.from(words(random, 10 + random.nextInt(110))));
            chat.add(turn);
        }
        return chat;
    }

    private static void add(List<LoggedMessage> log, ChatMessage message) {
        long sequence = log.size() + 1L;
        int size = ESTIMATOR.estimateTokenCountInMessage(message);
        int behind = message instanceof UserMessage user ? user.singleText().indexOf(BEHIND) : -1;
        UserMessage later = behind < 0
                ? null
                : UserMessage.from(((UserMessage) message).singleText().substring(0, behind));
        log.add(new LoggedMessage(
                "m" + sequence,
                sequence == 1 ? null : "m" + (sequence - 1),
                sequence,
                message,
                later == null ? size : ESTIMATOR.estimateTokenCountInMessage(later),
                ESTIMATOR.name(),
                Instant.EPOCH,
                null,
                null,
                later == null ? null : new Asked(later.singleText(), later, null, true, size)));
    }

    private static String words(Random random, int count) {
        String[] some = {"river", "table", "seven", "cloud", "paper", "green", "window", "station", "letter", "music"};
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : " ").append(some[random.nextInt(some.length)]);
        }
        return text.toString();
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f", 100 * share);
    }
}
