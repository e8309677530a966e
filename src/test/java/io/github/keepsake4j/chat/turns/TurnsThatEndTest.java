package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.brokenCall;
import static io.github.keepsake4j.chat.turns.EndingTurns.quiet;
import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.moderation.Moderation;
import dev.langchain4j.model.moderation.ModerationModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.Counting;
import io.github.keepsake4j.chat.turns.EndingTurns.Moderated;
import io.github.keepsake4j.chat.turns.EndingTurns.Play;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.Streaming;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.OpenAiServer;
import io.github.keepsake4j.testing.OpenHomes;
import io.github.keepsake4j.testing.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** One row for each way in which a turn can end: what is stored, what is shown, and what the next model receives. */
class TurnsThatEndTest {

    /** What is left of a turn: the history, the view, and the request of the next turn. */
    record Left(String history, String view, String next) {}

    /** A turn that asks "one". */
    interface Turn {
        void take(Bench bench) throws Exception;
    }

    record Row(String name, Turn turn, Left known, Left listenersOnly, Left without) {
        static Row of(String name, Turn turn, String history, String view) {
            Left left = left(history, view);
            return new Row(name, turn, left, left, left);
        }

        Row listenersOnly(String history, String view) {
            // Listeners tell whose question it is, so that one without an answer is not shown once the next one comes.
            Left bound = view.equals("U(one)") ? new Left(history, view, "U(two)") : left(history, view);
            return new Row(name, turn, known, bound, left(history, view));
        }

        Row without(String history, String view) {
            return new Row(name, turn, known, listenersOnly, left(history, view));
        }

        private static Left left(String history, String view) {
            return new Left(history, view, view.isEmpty() ? "U(two)" : view + ", U(two)");
        }

        /** Sets what the next model receives where the next turn changes what is shown. */
        Row next(String history, String view, String next) {
            return new Row(name, turn, new Left(history, view, next), listenersOnly, without);
        }

        Left in(Column column) {
            return column.knows() ? known : column == Column.LISTENERS_ONLY ? listenersOnly : without;
        }
    }

    /** One cell of the table. */
    record Bench(Keepsake keepsake, Column column, List<String> answers) {
        <T> AiServices<T> builder(Class<T> type) {
            return column.builder(keepsake, type);
        }

        void chat(Script model, Consumer<AiServices<Assistant>> more) {
            AiServices<Assistant> builder = builder(Assistant.class).chatModel(model);
            more.accept(builder);
            Assistant assistant = builder.build();
            EndingTurns.ignoring(nothing -> answers.add(assistant.chat("c", "one")));
        }

        void chat(Object... steps) {
            chat(new Script(steps), builder -> {});
        }

        void stream(Consumer<TokenStream> settings, Play... plays) throws Exception {
            StreamScript model = new StreamScript(plays);
            Streaming assistant = builder(Streaming.class)
                    .streamingChatModel(model)
                    .tools(new EndingTurns.Tools())
                    .build();
            TokenStream stream = assistant.chat("c", "one");
            settings.accept(stream);
            EndingTurns.ignoring(nothing -> stream.start());
            model.await();
        }
    }

    private static final RuntimeException OUT_OF_ORDER = new IllegalStateException("out of order");

    static {
        // LangChain4j logs it each time. Where it was made says nothing.
        OUT_OF_ORDER.setStackTrace(new StackTraceElement[0]);
    }

    private static List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        rows.add(Row.of("plain", bench -> bench.chat("fine"), "U(one), A(fine)", "U(one), A(fine)"));
        rows.add(Row.of(
                "tool loop",
                bench -> bench.chat(
                        new Script(toolCall("a"), "fine"), builder -> builder.tools(new EndingTurns.Tools())),
                "U(one), C(a), R(a), A(fine)",
                "U(one), C(a), R(a), A(fine)"));
        rows.add(Row.of("model error", bench -> bench.chat(OUT_OF_ORDER), "U(one) [failed IllegalStateException]", "")
                .without("U(one)", "U(one)"));
        rows.add(Row.of(
                        "model error in round 2",
                        bench -> bench.chat(
                                new Script(toolCall("a"), OUT_OF_ORDER),
                                builder -> builder.tools(new EndingTurns.Tools())),
                        "U(one) [failed IllegalStateException], C(a), R(a)",
                        "U(one), C(a), R(a)")
                .without("U(one), C(a), R(a)", "U(one), C(a), R(a)"));
        rows.add(Row.of(
                        "an Error",
                        bench -> bench.chat(new NoClassDefFoundError("gone")),
                        "U(one) [failed NoClassDefFoundError]",
                        "")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "tool handler rethrows",
                        bench -> bench.chat(
                                new Script(brokenCall("a")), builder -> builder.tools(new EndingTurns.Tools())
                                        .toolExecutionErrorHandler((error, context) -> {
                                            throw new IllegalArgumentException("gave up");
                                        })),
                        "U(one) [failed IllegalArgumentException], C(a)",
                        "")
                .without("U(one), C(a)", "U(one)"));
        rows.add(Row.of(
                        "stream error after tokens",
                        bench -> bench.stream(stream -> quiet(stream), sink -> sink.tokens("p0 ", "p1")
                                .error(OUT_OF_ORDER)),
                        "U(one), A(p0 p1) [incomplete cut]",
                        "U(one), A(p0 p1)")
                .listenersOnly("U(one) [failed IllegalStateException]", "")
                .without("U(one)", "U(one)"));
        rows.add(Row.of(
                        "stream error at once",
                        bench -> bench.stream(stream -> quiet(stream), sink -> sink.error(OUT_OF_ORDER)),
                        "U(one) [failed IllegalStateException]",
                        "")
                .without("U(one)", "U(one)"));
        rows.add(Row.of(
                        "stream error in round 2",
                        bench -> bench.stream(
                                stream -> quiet(stream),
                                sink -> sink.done(toolCall("a")),
                                sink -> sink.error(OUT_OF_ORDER)),
                        "U(one) [failed IllegalStateException], C(a), R(a)",
                        "U(one), C(a), R(a)")
                .without("U(one), C(a), R(a)", "U(one), C(a), R(a)"));
        rows.add(Row.of(
                        "cancel honoured",
                        bench -> bench.stream(TurnsThatEndTest::cancelling, sink -> sink.tokens("p0 ", "p1")),
                        "U(one), A(p0 p1) [incomplete cancelled]",
                        "U(one), A(p0 p1)")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "cancel ignored",
                        bench -> bench.stream(TurnsThatEndTest::cancelling, sink -> sink.tokens("p0 ", "p1", " p2")
                                .done("p0 p1 p2")),
                        "U(one), A(p0 p1) [incomplete cancelled], A(p0 p1 p2)",
                        "U(one), A(p0 p1)")
                .listenersOnly("U(one), A(p0 p1 p2)", "U(one), A(p0 p1 p2)"));
        rows.add(Row.of(
                        "consumer throws",
                        bench -> bench.stream(
                                stream -> stream.onPartialResponse(token -> {
                                            if (token.equals("p1")) {
                                                throw OUT_OF_ORDER;
                                            }
                                        })
                                        .onError(error -> {}),
                                sink -> sink.tokens("p0 ", "p1", " p2").done("p0 p1 p2")),
                        "U(one), A(p0 p1) [incomplete cut], A(p0 p1 p2)",
                        "U(one), A(p0 p1 p2)")
                .listenersOnly("U(one), A(p0 p1 p2)", "U(one), A(p0 p1 p2)"));
        rows.add(
                Row.of("connection cut", TurnsThatEndTest::cut, "U(one), A(p0 p1) [incomplete cut]", "U(one), A(p0 p1)")
                        .without("U(one), A(p0 p1)", "U(one), A(p0 p1)"));
        rows.add(Row.of(
                        "errors ignored",
                        bench -> bench.stream(
                                stream -> stream.onPartialResponse(token -> {}).ignoreErrors(),
                                sink -> sink.tokens("p0").error(OUT_OF_ORDER)),
                        "U(one), A(p0) [incomplete cut]",
                        "U(one), A(p0)")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "errors ignored, no tokens",
                        bench -> bench.stream(
                                stream -> stream.onPartialResponse(token -> {}).ignoreErrors(),
                                sink -> sink.error(OUT_OF_ORDER)),
                        "U(one) [failed IllegalStateException]",
                        "")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "start throws",
                        bench -> bench.stream(stream -> stream.onPartialResponse(token -> {}), sink -> {}),
                        "U(one) [failed IllegalConfigurationException]",
                        "")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "never started",
                        bench -> bench.builder(Streaming.class)
                                .streamingChatModel(new StreamScript())
                                .build()
                                .chat("c", "one"),
                        "U(one)",
                        "U(one)")
                .next("U(one)", "U(one)", "U(two)")
                .listenersOnly("U(one)", "U(one)"));
        rows.add(Row.of(
                        "guardrail reprompt",
                        bench -> bench.chat(
                                new Script("bad", "good"),
                                builder -> builder.outputGuardrails(new EndingTurns.Reprompt())),
                        "U(one), A(bad) [rejected Reprompt], A(good)",
                        "U(one), A(good)")
                .without("U(one), A(bad)", "U(one), A(bad)"));
        rows.add(Row.of(
                        "guardrail retry",
                        bench -> bench.chat(
                                new Script("bad", "good"),
                                builder -> builder.outputGuardrails(new EndingTurns.Retry())),
                        "U(one), A(bad) [rejected Retry], A(good)",
                        "U(one), A(good)")
                .without("U(one), A(bad)", "U(one), A(bad)"));
        rows.add(Row.of(
                        "guardrail rewrite",
                        bench -> bench.chat(
                                new Script("good"), builder -> builder.outputGuardrails(new EndingTurns.Rewrite())),
                        "U(one), A(good) [rejected Rewrite], A(good!)",
                        "U(one), A(good!)")
                .without("U(one), A(good)", "U(one), A(good)"));
        rows.add(Row.of(
                        "guardrail rewrite, then another guardrail, after a reprompt",
                        bench -> bench.chat(
                                new Script("bad", "good"),
                                builder -> builder.outputGuardrails(
                                        new EndingTurns.Reprompt(), new EndingTurns.Rewrite(), new EndingTurns.Pass())),
                        "U(one), A(bad) [rejected Reprompt], A(good)",
                        "U(one), A(good)")
                .without("U(one), A(bad)", "U(one), A(bad)"));
        rows.add(Row.of(
                        "two guardrails rewrite",
                        bench -> bench.chat(
                                new Script("good"),
                                builder ->
                                        builder.outputGuardrails(new EndingTurns.Rewrite(), new EndingTurns.Rewrite())),
                        "U(one), A(good) [rejected Rewrite], A(good!!)",
                        "U(one), A(good!!)")
                .without("U(one), A(good)", "U(one), A(good)"));
        rows.add(Row.of(
                        "guardrail fatal",
                        bench -> bench.chat(
                                new Script("bad"), builder -> builder.outputGuardrails(new EndingTurns.Fatal())),
                        "U(one) [failed OutputGuardrailException], A(bad) [rejected Fatal]",
                        "")
                .without("U(one), A(bad)", "U(one), A(bad)"));
        rows.add(Row.of(
                        "guardrail fatal with removal",
                        bench -> bench.chat(
                                new Script("bad"), builder -> builder.outputGuardrails(new EndingTurns.FatalRemoval())),
                        "U(one) [failed OutputGuardrailException], A(bad) [rejected FatalRemoval]",
                        "")
                .without("U(one), A(bad)", "U(one)"));
        rows.add(Row.of(
                        "input rewritten",
                        bench -> bench.chat(
                                new Script("fine"), builder -> builder.inputGuardrails(new EndingTurns.Polite())),
                        "U(please one), A(fine)",
                        "U(please one), A(fine)")
                .without("U(please one), A(fine)", "U(please one), A(fine)"));
        rows.add(Row.of(
                        "moderation",
                        bench -> {
                            Moderated service = bench.builder(Moderated.class)
                                    .chatModel(new Script("fine"))
                                    .moderationModel(new Strict())
                                    .build();
                            EndingTurns.ignoring(nothing -> service.chat("c", "one"));
                        },
                        "U(one) [failed ModerationException]",
                        "")
                .without("U(one)", "U(one)"));
        rows.add(Row.of(
                        "answer that cannot be parsed",
                        bench -> {
                            Counting service = bench.builder(Counting.class)
                                    .chatModel(new Script("many"))
                                    .userMessageProvider(id -> "one")
                                    .build();
                            EndingTurns.ignoring(nothing -> service.count("c", "one"));
                        },
                        "U(one) [failed OutputParsingException], A(many) [rejected OutputParsingException]",
                        "")
                .without("U(one), A(many)", "U(one), A(many)"));
        return rows;
    }

    static class Strict implements ModerationModel {
        @Override
        public Response<Moderation> moderate(String text) {
            return Response.from(Moderation.flagged(text));
        }

        @Override
        public Response<Moderation> moderate(List<dev.langchain4j.data.message.ChatMessage> messages) {
            return Response.from(Moderation.flagged("one"));
        }
    }

    /** The connection breaks over real HTTP. */
    private static void cut(Bench bench) throws Exception {
        try (OpenAiServer server = new OpenAiServer(true, "p0 ", "p1")) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            bench.builder(Streaming.class)
                    .streamingChatModel(OpenAiStreamingChatModel.builder()
                            .baseUrl(server.baseUrl())
                            .apiKey("none")
                            .modelName("m")
                            .build())
                    .build()
                    .chat("c", "one")
                    .onPartialResponse(token -> {})
                    .onCompleteResponse(response -> end.complete(null))
                    .onError(error -> {})
                    .start();
            end.get(1, TimeUnit.MINUTES);
        }
    }

    private static void cancelling(TokenStream stream) {
        stream.onPartialResponseWithContext((token, context) -> {
                    if (token.text().equals("p1")) {
                        cancel(context);
                    }
                })
                .onError(error -> {});
    }

    private static void cancel(PartialResponseContext context) {
        context.streamingHandle().cancel();
    }

    private static final List<Home> HOMES = List.of(Home.IN_MEMORY, Home.SQLITE, Home.POSTGRESQL);

    @AutoClose
    private static final OpenHomes LOGS = new OpenHomes();

    @TestFactory
    Stream<DynamicTest> table() {
        return rows().stream().flatMap(row -> Stream.of(Column.values()).flatMap(column -> HOMES.stream()
                .map(home -> DynamicTest.dynamicTest(
                        row.name() + ", " + column + ", " + home, () -> check(row, column, home)))));
    }

    private static void check(Row row, Column column, Home home) throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(LOGS.log(home))
                .tenant(row.name() + ", " + column)
                .build();
        Bench bench = new Bench(keepsake, column, new ArrayList<>());

        row.turn().take(bench);

        String history = EndingTurns.history(keepsake, "c");
        String view = EndingTurns.view(keepsake, "c");
        if (column != Column.WITHOUT && !bench.answers().isEmpty()) {
            assertThat(view)
                    .as("what the user got is what is shown")
                    .endsWith("A(" + bench.answers().get(0) + ")");
        }
        Script next = new Script("ok");
        bench.builder(Assistant.class).chatModel(next).build().chat("c", "two");
        assertThat(new Left(history, view, next.lastRequest())).isEqualTo(row.in(column));
    }
}
