package io.github.keepsake4j.chat.turns;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.guardrail.OutputGuardrailException;
import dev.langchain4j.guardrail.OutputGuardrailResult;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * One try of a question by an AI service of its own, whose model follows a plan and stops before each answer, each token
 * and each result. It records all that its model and its tools got and said.
 */
final class ScriptedTurn {

    interface Assistant {
        String chat(@MemoryId Object id, @UserMessage String text);

        String chatAt(@MemoryId Object id, @UserMessage String text, Turn turn);

        TokenStream stream(@MemoryId Object id, @UserMessage String text);

        TokenStream streamAt(@MemoryId Object id, @UserMessage String text, Turn turn);
    }

    /** What an output guardrail does with the answer. */
    enum Guard {
        NONE,
        REWRITES,
        REFUSES
    }

    /**
     * What the model does. It is like a real one in that it asks for no round again that it is shown.
     *
     * @param rounds how many tool rounds it wants before it answers
     * @param calls how many calls each round has
     * @param streams whether it streams
     * @param failsAt the request at which it throws, from 1, or 0 for none
     * @param failsLate whether it throws behind its first token, if it streams
     * @param ignoresStop whether it goes on although it is stopped
     * @param guard what is done with its answer
     */
    record Plan(
            int rounds, int calls, boolean streams, int failsAt, boolean failsLate, boolean ignoresStop, Guard guard) {

        static final Plan PLAIN = new Plan(0, 0, false, 0, false, false, Guard.NONE);

        static Plan random(Random random) {
            int rounds = Math.max(0, random.nextInt(5) - 2);
            boolean fails = random.nextInt(4) == 0;
            return new Plan(
                    rounds,
                    1 + random.nextInt(2),
                    random.nextInt(3) == 0,
                    fails ? 1 + random.nextInt(rounds + 1) : 0,
                    random.nextBoolean(),
                    random.nextInt(4) == 0,
                    random.nextInt(5) > 0 ? Guard.NONE : random.nextBoolean() ? Guard.REWRITES : Guard.REFUSES);
        }
    }

    private static final class ModelDown extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static final ToolSpecification TOOL =
            ToolSpecification.builder().name("pay").build();

    final Keepsake keepsake;
    final Object id;
    final String question;
    final String by;
    final Plan plan;

    /** How it begins, or null if it is a new question behind the newest message. */
    final Turn begin;

    private final boolean byParameter;
    private final Assistant assistant;

    final List<List<ChatMessage>> requests = new ArrayList<>();

    /** The calls and results of this turn, in order, as LangChain4j adds them. */
    final List<Said> rounds = new ArrayList<>();

    final List<String> ran = new ArrayList<>();
    final StringBuffer handedOut = new StringBuffer();
    private int issued;
    private int shown;
    private volatile boolean streaming;
    volatile boolean stopped;
    volatile AiMessage given;
    volatile Throwable error;

    ScriptedTurn(Keepsake keepsake, Object id, String question, String by, Plan plan, Turn begin, Random random) {
        this.keepsake = keepsake;
        this.id = id;
        this.question = question;
        this.by = by;
        this.plan = plan;
        this.begin = begin;
        byParameter = random.nextBoolean();
        AiServices<Assistant> builder = random.nextBoolean()
                ? keepsake.aiServices(Assistant.class)
                : keepsake.attach(
                        AiServices.builder(Assistant.class).chatMemoryProvider(keepsake.chatMemoryProvider()));
        builder.chatModel(Script.answering(request -> said(answerTo(request))));
        builder.streamingChatModel(new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                streaming = true;
                stream(request, new EndingTurns.Sink(handler));
                streaming = false;
            }
        });
        builder.tools(Map.of(TOOL, (call, memoryId) -> {
            ran.add(call.id());
            Steps.stop();
            return "result of " + call.id();
        }));
        if (plan.guard() != Guard.NONE) {
            builder.outputGuardrails(new Guarding(plan.guard()));
        }
        assistant = builder.build();
    }

    private record Guarding(Guard guard) implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return guard == Guard.REWRITES ? successWith(answer.text() + "!") : fatal("not that");
        }
    }

    /** Returns whether the question is stored already. */
    boolean isAgain() {
        return begin != null && (begin.kind() == Turn.Kind.RETRY || begin.kind() == Turn.Kind.REGENERATE);
    }

    String branch() {
        return begin == null ? null : begin.branch();
    }

    boolean isStreaming() {
        return streaming;
    }

    /** Runs the turn to its end. What its caller gets is in {@link #given} or {@link #error}. */
    void run() {
        try {
            if (plan.streams()) {
                call(assistant::stream, assistant::streamAt)
                        .onPartialResponse(handedOut::append)
                        .onCompleteResponse(response -> given = response.aiMessage())
                        .onError(e -> error = e)
                        .start();
            } else {
                given = AiMessage.from(call(assistant::chat, assistant::chatAt));
            }
        } catch (RuntimeException e) {
            error = e;
        }
    }

    private interface At<T> {
        T call(Object id, String text, Turn turn);
    }

    private <T> T call(BiFunction<Object, String, T> plain, At<T> at) {
        if (begin == null) {
            return plain.apply(id, question);
        }
        if (byParameter) {
            return at.call(id, question, begin);
        }
        Supplier<T> body = () -> plain.apply(id, question);
        return switch (begin.kind()) {
            case RETRY ->
                keepsake.conversation(id).retry(begin.messageId(), asked -> plain.apply(id, asked.singleText()));
            case REGENERATE ->
                keepsake.conversation(id).regenerate(begin.messageId(), asked -> plain.apply(id, asked.singleText()));
            default -> keepsake.conversation(id).turn(begin, body);
        };
    }

    private AiMessage answerTo(ChatRequest request) {
        requests.add(List.copyOf(request.messages()));
        if (requests.size() == 1) {
            shown = (int) request.messages().stream()
                    .map(Said::of)
                    .filter(said -> said.is(Said.Kind.CALLS) && said.question().equals(question))
                    .count();
        }
        Steps.stop();
        if (requests.size() == plan.failsAt() && !(plan.streams() && plan.failsLate())) {
            throw new ModelDown();
        }
        if (shown + issued >= plan.rounds()) {
            return AiMessage.from(Said.answer(question, by) + (plan.streams() ? " and more" : ""));
        }
        List<ToolExecutionRequest> calls = new ArrayList<>();
        for (int i = 0; i < plan.calls(); i++) {
            String call = Said.call(question, by, issued, i);
            calls.add(Dialogue.call(call, TOOL.name(), "{}"));
        }
        issued++;
        return AiMessage.from(calls);
    }

    private AiMessage said(AiMessage message) {
        if (message.hasToolExecutionRequests()) {
            rounds.add(Said.of(message));
            message.toolExecutionRequests()
                    .forEach(call -> rounds.add(new Said(Said.Kind.RESULT, question, by, call.id())));
        }
        return message;
    }

    private void stream(ChatRequest request, EndingTurns.Sink sink) {
        AiMessage message;
        try {
            message = answerTo(request);
        } catch (ModelDown e) {
            sink.error(e);
            return;
        }
        if (message.hasToolExecutionRequests()) {
            if (!stopped || plan.ignoresStop()) {
                done(sink, said(message));
            }
            return;
        }
        sink.tokens(Said.answer(question, by));
        if (requests.size() == plan.failsAt()) {
            sink.error(new ModelDown());
            return;
        }
        for (String token : List.of(" and", " more")) {
            Steps.stop();
            if (sink.cancelled.get() && !plan.ignoresStop()) {
                return;
            }
            sink.tokens(token);
        }
        done(sink, message);
    }

    /** The tools run within the call of the model. */
    private void done(EndingTurns.Sink sink, AiMessage message) {
        streaming = false;
        sink.done(message);
    }

    /** Returns the ids of the calls that the model asked for. */
    List<String> asked() {
        return rounds.stream()
                .filter(said -> said.is(Said.Kind.RESULT))
                .map(Said::text)
                .toList();
    }

    /** Returns the texts that LangChain4j has added without an exception, as far as the turn has come. */
    List<String> acknowledged() {
        List<String> texts = new ArrayList<>();
        if (!requests.isEmpty()) {
            texts.add(question);
        }
        // A request follows the round that it shows.
        int done = requests.size() - 1;
        int round = 1 + plan.calls();
        rounds.subList(0, Math.min(rounds.size(), Math.max(0, done) * round)).forEach(said -> texts.add(said.text()));
        if (given != null && !stopped) {
            texts.add(given.text());
        }
        if (stopped && given == null && !handedOut.isEmpty() && plan.guard() == Guard.NONE) {
            texts.add(handedOut.toString());
        }
        return texts;
    }

    /** Returns whether the turn ended as its plan says. */
    boolean endedAsPlanned() {
        Throwable thrown = error;
        if (thrown == null) {
            return given != null || stopped;
        }
        return thrown instanceof ModelDown
                ? plan.failsAt() > 0
                : thrown instanceof OutputGuardrailException && plan.guard() == Guard.REFUSES;
    }

    @Override
    public String toString() {
        String kind = begin == null ? "NEW" : begin.kind() + (branch() == null ? "" : " on " + branch());
        return "turn " + by + " (" + kind + " " + question + ", " + plan + ")";
    }
}
