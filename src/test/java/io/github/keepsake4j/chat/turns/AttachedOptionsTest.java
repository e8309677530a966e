package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.guardrail.InputGuardrailResult;
import dev.langchain4j.guardrail.config.InputGuardrailsConfig;
import dev.langchain4j.guardrail.config.OutputGuardrailsConfig;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.input.PromptTemplate;
import dev.langchain4j.model.moderation.Moderation;
import dev.langchain4j.model.moderation.ModerationModel;
import dev.langchain4j.model.moderation.ModerationRequest;
import dev.langchain4j.model.moderation.ModerationResponse;
import dev.langchain4j.observability.api.event.AiServiceCompletedEvent;
import dev.langchain4j.observability.api.listener.AiServiceCompletedListener;
import dev.langchain4j.rag.DefaultRetrievalAugmentor;
import dev.langchain4j.rag.content.Content;
import dev.langchain4j.rag.content.injector.DefaultContentInjector;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.Moderate;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.tool.AiServiceTool;
import dev.langchain4j.service.tool.ToolErrorHandlerResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.langchain4j.service.tool.search.simple.SimpleToolSearchStrategy;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.Keepsake.ShowRetrieved;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.Fatal;
import io.github.keepsake4j.chat.turns.EndingTurns.Polite;
import io.github.keepsake4j.chat.turns.EndingTurns.Reprompt;
import io.github.keepsake4j.chat.turns.EndingTurns.Rewrite;
import io.github.keepsake4j.chat.turns.EndingTurns.StreamScript;
import io.github.keepsake4j.chat.turns.EndingTurns.Tools;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Script;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each option of {@link AiServices} is set once to another value than its default, in a plain service and in an attached
 * one, over two turns. What the model, the caller and the option are told, and what the memory shows, is the same, unless
 * decision 009 says otherwise.
 */
@SuppressWarnings({"deprecation", "unchecked"}) // Each option is set, also the old ones and those of generic varargs.
class AttachedOptionsTest {

    private static final Path DECISION = Path.of("src/docs/decisions/009-differences-from-stock-windows.md");
    private static final String FACT = "\n\nAnswer using the following information:\na fact";
    private static final String FORMAT = "\nYou must answer strictly in the following format: integer number";
    private static final ToolSpecification ADDED =
            ToolSpecification.builder().name("added").build();
    private static final ToolExecutor EXECUTOR = (call, id) -> "added result";

    /** The options with another effect, and the row of the decision that says so. */
    private static final Map<String, String> DIFFERENCES = Map.of(
            "moderationModel", "an attached service's call fails",
            "compensateOnToolErrors", "an attached service's call fails",
            "outputGuardrailsConfig, outputGuardrails", "an attached service's call fails",
            "outputGuardrails", "an attached service's call fails",
            "outputGuardrailClasses", "an output guardrail of an attached service rewrites or refuses an answer",
            "contentRetriever", "a bound turn has retrieved contents and is over",
            "retrievalAugmentor", "a bound turn has retrieved contents and is over");

    interface Chat {
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    interface Moderated {
        @Moderate
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    interface Spoken {
        String chat(@MemoryId Object id);
    }

    interface Alone {
        String chat(String text);
    }

    interface Streamed {
        TokenStream chat(@MemoryId Object id, @UserMessage String text);
    }

    interface Setting {
        AiServices<?> on(AiServices<?> builder, Keepsake keepsake, List<String> told);
    }

    /**
     * Options with another value.
     *
     * @param options the names of the options
     * @param steps what the model does
     */
    private record Row(String options, Class<?> type, List<Object> steps, Setting setting) {}

    private static Row row(String options, Setting setting, Object... steps) {
        return new Row(options, Chat.class, steps.length == 0 ? List.of("a", "b") : Arrays.asList(steps), setting);
    }

    private static Row row(String options, Class<?> type, Setting setting) {
        return new Row(options, type, List.of("a", "b"), setting);
    }

    private static AiMessage call(String id, String tool, String arguments) {
        return AiMessage.from(Dialogue.call(id, tool, arguments));
    }

    private static List<Row> rows() {
        Content fact = Content.from("a fact");
        ToolProvider provider =
                request -> ToolProviderResult.builder().add(ADDED, EXECUTOR).build();
        List<AiServiceTool> tools = List.of(AiServiceTool.builder()
                .toolSpecification(ADDED)
                .toolExecutor(EXECUTOR)
                .build());
        AiMessage added = call("t", "added", "{}");
        return List.of(
                row("chatModel, chatMemoryProvider", (builder, keepsake, told) -> builder),
                row("streamingChatModel", Streamed.class, (builder, keepsake, told) -> builder),
                row("systemMessage", (builder, keepsake, told) -> builder.systemMessage("brief")),
                row(
                        "systemMessageProvider",
                        (builder, keepsake, told) -> builder.systemMessageProvider(id -> "for " + id)),
                row(
                        "systemMessageProviderWithContext",
                        (builder, keepsake, told) ->
                                builder.systemMessageProviderWithContext(call -> "in " + call.methodName())),
                row("systemMessageTransformer", (builder, keepsake, told) -> builder.systemMessage("brief")
                        .systemMessageTransformer(text -> text + "!")),
                row("userMessage", Spoken.class, (builder, keepsake, told) -> builder.userMessage("one")),
                row(
                        "userMessageProvider",
                        Spoken.class,
                        (builder, keepsake, told) -> builder.userMessageProvider(id -> "of " + id)),
                row(
                        "chatMemory",
                        Alone.class,
                        (builder, keepsake, told) -> builder.chatMemory(keepsake.chatMemory("c"))),
                row(
                        "chatRequestTransformer",
                        (builder, keepsake, told) -> builder.chatRequestTransformer(request -> {
                            told.add(texts(request.messages()));
                            return request.toBuilder().temperature(0.5).build();
                        })),
                row(
                        "moderationModel",
                        Moderated.class,
                        (builder, keepsake, told) -> builder.moderationModel(new ModerationModel() {
                            @Override
                            public ModerationResponse doModerate(ModerationRequest request) {
                                boolean bad = request.texts().contains("one");
                                return ModerationResponse.builder()
                                        .moderation(bad ? Moderation.flagged("one") : Moderation.notFlagged())
                                        .build();
                            }
                        })),
                row("tools", (builder, keepsake, told) -> builder.tools(new Tools()), toolCall("t"), "a", "b"),
                row("tools", (builder, keepsake, told) -> builder.tools(tools), added, "a", "b"),
                row("tools", (builder, keepsake, told) -> builder.tools(Map.of(ADDED, EXECUTOR)), added, "a", "b"),
                row(
                        "tools",
                        (builder, keepsake, told) -> builder.tools(Map.of(ADDED, EXECUTOR), Set.of("added")),
                        added,
                        "b"),
                row("toolProvider", (builder, keepsake, told) -> builder.toolProvider(provider), added, "a", "b"),
                row("toolProviders", (builder, keepsake, told) -> builder.toolProviders(provider), added, "a", "b"),
                row(
                        "executeToolsConcurrently",
                        (builder, keepsake, told) -> builder.tools(new Tools()).executeToolsConcurrently(),
                        AiMessage.from(
                                toolCall("t").toolExecutionRequests().get(0),
                                toolCall("u").toolExecutionRequests().get(0)),
                        "a",
                        "b"),
                row(
                        "maxToolCallingRoundTrips",
                        (builder, keepsake, told) -> builder.tools(new Tools()).maxToolCallingRoundTrips(1),
                        "a",
                        toolCall("t"),
                        toolCall("u"),
                        "b"),
                row(
                        "maxSequentialToolsInvocations",
                        (builder, keepsake, told) -> builder.tools(new Tools()).maxSequentialToolsInvocations(1),
                        "a",
                        toolCall("t"),
                        toolCall("u"),
                        "b"),
                row(
                        "beforeToolExecution",
                        (builder, keepsake, told) ->
                                builder.tools(new Tools()).beforeToolExecution(before -> told.add("before")),
                        toolCall("t"),
                        "a",
                        "b"),
                row(
                        "afterToolExecution",
                        (builder, keepsake, told) ->
                                builder.tools(new Tools()).afterToolExecution(after -> told.add(after.result())),
                        toolCall("t"),
                        "a",
                        "b"),
                row(
                        "hallucinatedToolNameStrategy",
                        (builder, keepsake, told) -> builder.tools(new Tools())
                                .hallucinatedToolNameStrategy(
                                        call -> ToolExecutionResultMessage.from(call, "no such tool")),
                        added,
                        "a",
                        "b"),
                row(
                        "toolArgumentsErrorHandler",
                        (builder, keepsake, told) -> builder.tools(new Tools())
                                .toolArgumentsErrorHandler((error, call) -> ToolErrorHandlerResult.text("no JSON")),
                        call("t", "tool", "{"),
                        "a",
                        "b"),
                row(
                        "toolExecutionErrorHandler",
                        (builder, keepsake, told) -> builder.tools(new Tools())
                                .toolExecutionErrorHandler((error, call) -> ToolErrorHandlerResult.text("sorry")),
                        EndingTurns.brokenCall("t"),
                        "a",
                        "b"),
                row(
                        "compensateOnToolErrors",
                        (builder, keepsake, told) -> builder.tools(new Tools())
                                .compensateOnToolErrors(true)
                                .toolExecutionErrorHandler((error, call) -> {
                                    throw new IllegalStateException("broken");
                                }),
                        "a",
                        EndingTurns.brokenCall("t"),
                        "b"),
                row(
                        "toolSearchStrategy",
                        (builder, keepsake, told) ->
                                builder.tools(new Tools()).toolSearchStrategy(new SimpleToolSearchStrategy()),
                        call("t", "tool_search_tool", "{\"terms\":[\"tool\"]}"),
                        "a",
                        "b"),
                row("contentRetriever", (builder, keepsake, told) -> builder.contentRetriever(query -> List.of(fact))),
                row(
                        "retrievalAugmentor",
                        (builder, keepsake, told) -> builder.retrievalAugmentor(DefaultRetrievalAugmentor.builder()
                                .contentRetriever(query -> List.of(fact))
                                .contentInjector(new DefaultContentInjector(
                                        PromptTemplate.from("{{contents}} for {{userMessage}}")))
                                .build())),
                row(
                        "storeRetrievedContentInChatMemory",
                        (builder, keepsake, told) -> builder.tools(new Tools())
                                .contentRetriever(query -> List.of(fact))
                                .storeRetrievedContentInChatMemory(false),
                        toolCall("t"),
                        "a",
                        "b"),
                row(
                        "registerListener",
                        (builder, keepsake, told) -> builder.registerListener(listener(told, "completed"))),
                row("registerListeners, unregisterListener, unregisterListeners", (builder, keepsake, told) -> {
                    AiServiceCompletedListener first = listener(told, "first");
                    AiServiceCompletedListener second = listener(told, "second");
                    return builder.registerListeners(first, second, listener(told, "third"))
                            .unregisterListener(first)
                            .unregisterListeners(second);
                }),
                row(
                        "inputGuardrailsConfig, inputGuardrails",
                        (builder, keepsake, told) -> builder.inputGuardrailsConfig(
                                        InputGuardrailsConfig.builder().build())
                                .inputGuardrails(new Polite())),
                row("inputGuardrailClasses", (builder, keepsake, told) -> builder.inputGuardrailClasses(Polite.class)),
                row(
                        "outputGuardrailsConfig, outputGuardrails",
                        (builder, keepsake, told) -> builder.outputGuardrailsConfig(OutputGuardrailsConfig.builder()
                                        .maxRetries(1)
                                        .build())
                                .outputGuardrails(new Reprompt()),
                        "a",
                        "bad",
                        "b"),
                row(
                        "outputGuardrailClasses",
                        (builder, keepsake, told) -> builder.outputGuardrailClasses(Rewrite.class)),
                row(
                        "outputGuardrails",
                        (builder, keepsake, told) -> builder.outputGuardrails(new Fatal()),
                        "bad",
                        "b"));
    }

    private static AiServiceCompletedListener listener(List<String> told, String name) {
        return (AiServiceCompletedEvent event) -> told.add(name);
    }

    /** What is told to the caller, the model and the option, and what the memory shows. */
    private static String run(Row row, Column column) throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        try (MessageLog log = new InMemoryMessageLog()) {
            Keepsake keepsake = Keepsake.builder().messageLog(log).build();
            Script model = new Script(row.steps().toArray());
            StreamScript streaming = new StreamScript(
                    sink -> sink.tokens("a").done("a"), sink -> sink.tokens("b").done("b"));
            AiServices<?> builder = column.builder(keepsake, row.type());
            AiServices<?> set = row.setting().on(builder, keepsake, told);
            Object service = row.type() == Streamed.class
                    ? set.streamingChatModel(streaming).build()
                    : set.chatModel(model).build();
            for (String text : List.of("one", "two")) {
                told.add("call: " + ask(service, text));
                streaming.await();
            }
            model.requests.forEach(request -> told.add("request: " + text(request)));
            streaming.requests.forEach(request -> told.add("request: " + text(request)));
            told.add("memory: " + texts(keepsake.chatMemory("c").messages()));
        }
        return String.join("\n", told);
    }

    private static String ask(Object service, String text) {
        try {
            if (service instanceof Streamed streamed) {
                EndingTurns.quiet(streamed.chat("c", text)).start();
                return "started";
            }
            return service instanceof Chat chat
                    ? chat.chat("c", text)
                    : service instanceof Moderated moderated
                            ? moderated.chat("c", text)
                            : service instanceof Spoken spoken ? spoken.chat("c") : ((Alone) service).chat(text);
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }

    private static String text(ChatRequest request) {
        return texts(request.messages()) + " " + request.temperature() + " "
                + request.toolSpecifications().stream()
                        .map(ToolSpecification::name)
                        .sorted()
                        .toList();
    }

    private static String texts(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> message instanceof dev.langchain4j.data.message.UserMessage user
                        ? "U(" + ((TextContent) user.contents().get(0)).text().replace("\n", "|") + ")"
                        : message instanceof ToolExecutionResultMessage result
                                ? "R(" + result.text() + ")"
                                : EndingTurns.text(List.of(message)))
                .collect(Collectors.joining(", "));
    }

    @Test
    void every_option_has_a_row() {
        Set<String> missing = Stream.of(AiServices.class.getMethods())
                .filter(method -> method.getReturnType() == AiServices.class)
                .filter(method -> method.getDeclaringClass() == AiServices.class)
                .map(Method::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        rows().forEach(row -> missing.removeAll(List.of(row.options().split(", "))));
        missing.remove("builder");
        assertThat(missing).isEmpty();
    }

    @TestFactory
    Stream<DynamicTest> an_option_had_another_effect_in_an_attached_service() throws IOException {
        String decision = Files.readString(DECISION);
        return rows().stream()
                .map(row -> DynamicTest.dynamicTest(row.options(), () -> {
                    String plain = run(row, Column.WITHOUT);
                    String attached = run(row, Column.ATTACH);
                    String difference = DIFFERENCES.get(row.options());
                    if (difference == null) {
                        assertThat(attached).isEqualTo(plain);
                    } else {
                        assertThat(attached).isNotEqualTo(plain);
                        assertThat(decision).contains("\n| " + difference + " |");
                    }
                    assertThat(run(row, Column.AI_SERVICES)).isEqualTo(attached);
                }));
    }

    interface Viewer {
        String see(@MemoryId Object id, @UserMessage String text, @UserMessage ImageContent image);
    }

    interface Counter {
        int count(@MemoryId Object id, @UserMessage String text);
    }

    /** Masks a number. */
    static class Masking implements InputGuardrail {
        @Override
        public InputGuardrailResult validate(dev.langchain4j.data.message.UserMessage question) {
            return successWith(question.singleText().replace("4711", "****"));
        }
    }

    @ParameterizedTest
    @Homes
    void what_was_retrieved_was_stored_although_the_service_was_not_to_store_it(MessageLog log) throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .showRetrieved(ShowRetrieved.ALL_TURNS)
                .build();
        Conversation chat = keepsake.conversation("c");
        Script model = new Script(toolCall("t"), "a", "b", "c");
        Viewer service = keepsake.aiServices(Viewer.class)
                .chatModel(model)
                .tools(new Tools())
                .contentRetriever(query -> List.of(Content.from("a fact")))
                .storeRetrievedContentInChatMemory(false)
                .build();
        ImageContent image = ImageContent.from("AAAA", "image/png");

        service.see("c", "one", image);
        String answer = chat.branch(1).messages().get(0).id();
        service.see("c", "two", image);
        chat.regenerate(answer, asked -> service.see("c", "one", image));

        List<LoggedMessage> stored = chat.history(HistoryQuery.oldest(100)).messages();
        assertThat(stored)
                .filteredOn(row -> row.message() instanceof dev.langchain4j.data.message.UserMessage)
                .extracting(row -> TemplatesAgainTest.text(row.message()) + " " + row.userText())
                .containsExactly("one|IMAGE one", "two|IMAGE two");
        assertThat(stored.toString()).doesNotContain("a fact");
        assertThat(model.requests)
                .extracting(request -> request.messages().stream()
                        .filter(dev.langchain4j.data.message.UserMessage.class::isInstance)
                        .map(TemplatesAgainTest::text)
                        .collect(Collectors.joining(", ")))
                .containsExactly(
                        "one" + FACT + "|IMAGE",
                        "one" + FACT + "|IMAGE",
                        "one|IMAGE, two" + FACT + "|IMAGE",
                        "one" + FACT + "|IMAGE");
        assertThat(chat.seenBy(answer).orElseThrow().altered()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH"})
    void what_was_retrieved_was_stored_behind_the_text_of_a_guardrail(Column column) {
        try (MessageLog log = new InMemoryMessageLog()) {
            Keepsake keepsake = Keepsake.builder().messageLog(log).build();
            Script model = new Script("1", "2");
            Counter service = column.builder(keepsake, Counter.class)
                    .chatModel(model)
                    .inputGuardrails(new Masking())
                    .contentRetriever(query -> List.of(Content.from("a fact")))
                    .storeRetrievedContentInChatMemory(false)
                    .build();

            service.count("c", "card 4711");
            service.count("c", "and now");

            LoggedMessage question = keepsake.conversation("c")
                    .history(HistoryQuery.oldest(1))
                    .messages()
                    .get(0);
            assertThat(TemplatesAgainTest.text(question.message())).isEqualTo("card ****" + FORMAT);
            assertThat(question.userText()).isEqualTo("card 4711");
            assertThat(TemplatesAgainTest.text(model.requests.get(0).messages().get(0)))
                    .isEqualTo("card ****" + FACT + FORMAT);
            assertThat(TemplatesAgainTest.text(model.requests.get(1).messages().get(0)))
                    .isEqualTo("card ****" + FORMAT);
        }
    }
}
