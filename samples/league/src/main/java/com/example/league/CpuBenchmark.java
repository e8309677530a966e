package com.example.league;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Version;

/**
 * What is CPU alone: strategies, JSON, token counts, recall. Argument of the program: the folder of the results, or
 * nothing for a run of seconds that only shows that everything works.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CpuBenchmark {

    private static final int TOKENS_OF_MESSAGE = 70;

    @Param({"20", "1000"})
    public int messages;

    private final MessageCodec codec = new MessageCodec();
    private final TokenCounter counter = TokenCounter.standard();
    private final List<ChatMessage> said = new ArrayList<>();
    private final List<String> json = new ArrayList<>();
    private Keepsake keepsake;
    private Context context;
    private ContextStrategy window;
    private ContextStrategy tokens;

    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.class.path", ClassPath.text());
        ChainedOptionsBuilder options = new OptionsBuilder().include(CpuBenchmark.class.getName());
        if (arguments.length == 0) {
            options.forks(1).warmupIterations(0).measurementIterations(1).measurementTime(TimeValue.milliseconds(10));
            new Runner(options.build()).run();
            return;
        }
        Path json = Path.of(arguments[0], "jmh.json");
        options.resultFormat(ResultFormatType.JSON).result(json.toString());
        Collection<RunResult> results = new Runner(options.build()).run();
        // Where the JDK is on this machine says nothing.
        Files.writeString(json, Files.readString(json).replaceAll("\\s*\"jvm\" : .*", ""));
        Files.write(Path.of(arguments[0], "jmh.md"), page(results));
    }

    private static List<String> page(Collection<RunResult> results) {
        List<String> lines = new ArrayList<>(List.of(
                "# What the CPU alone takes",
                "",
                "JMH " + Version.getPlainVersion() + ", " + System.getProperty("java.vm.name") + " "
                        + System.getProperty("java.vm.version") + ", "
                        + Runtime.getRuntime().availableProcessors() + " cores, load average at the end "
                        + Machine.load() + ". Microseconds for one call over all"
                        + " messages, which have about 350 characters each; one turn in four has a tool call. Strategies"
                        + " show half of the messages. `recall` looks for a question among the messages in the heap,"
                        + " of which the newest ten are shown.",
                "",
                "Made by `mvn -q -f samples/league/pom.xml compile exec:java"
                        + " -Dexec.mainClass=com.example.league.CpuBenchmark -Dexec.args=src/docs/benchmarks`. All"
                        + " results are in [jmh.json](jmh.json).",
                "",
                "| what | messages | µs | error |",
                "|---|---|---|---|"));
        results.forEach(each -> lines.add(String.format(
                Locale.ROOT,
                "| %s | %s | %,.1f | ± %,.1f |",
                each.getPrimaryResult().getLabel(),
                each.getParams().getParam("messages"),
                each.getPrimaryResult().getScore(),
                each.getPrimaryResult().getScoreError())));
        return lines;
    }

    @Setup
    public void fill() {
        for (int i = 0; i < messages; i++) {
            said.add(message(i));
        }
        said.forEach(each -> json.add(codec.encode(each)));
        window = SlidingWindow.withMaxMessages(messages / 2);
        tokens = TokenLimit.withMaxTokens(messages / 2 * TOKENS_OF_MESSAGE, counter);
        keepsake = Keepsake.builder()
                .messageLog(MessageLogs.inMemory())
                .strategy(SlidingWindow.withMaxMessages(10).and(tokens))
                .index(new InMemoryMessageIndex())
                .build();
        keepsake.chatMemory("c").add(said);
        context = keepsake.conversation("c").context(SlidingWindow.withMaxMessages(2 * messages));
    }

    /** A turn of four messages has a tool call. */
    private static ChatMessage message(int index) {
        String text = Texts.question(index, false) + " The queen of hive " + index + " is " + index % 17 + ".";
        return switch (index % 4) {
            case 0 -> UserMessage.from(text);
            case 1 ->
                AiMessage.from(dev.langchain4j.agent.tool.ToolExecutionRequest.builder()
                        .id("call" + index)
                        .name("hive")
                        .arguments("{\"name\": \"north\"}")
                        .build());
            case 2 -> ToolExecutionResultMessage.from("call" + (index - 1), "hive", text);
            default -> AiMessage.from(text);
        };
    }

    @Benchmark
    public Context window() {
        return window.select(context);
    }

    @Benchmark
    public Context tokenLimit() {
        return tokens.select(context);
    }

    @Benchmark
    public List<String> toJson() {
        return said.stream().map(codec::encode).toList();
    }

    @Benchmark
    public List<ChatMessage> fromJson() {
        return json.stream().map(codec::decode).toList();
    }

    @Benchmark
    public int tokenCounts() {
        int sum = 0;
        for (ChatMessage each : said) {
            sum += counter.count(each).tokens();
        }
        return sum;
    }

    /** Finds passages in a log and an index in the heap: words, weights, ranking. */
    @Benchmark
    public Recalled recall() {
        return keepsake.recall().find("c", "How old is the queen of hive 8?");
    }
}
