package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.history;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.output.FinishReason;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.chat.turns.EndingTurns.Column;
import io.github.keepsake4j.chat.turns.EndingTurns.Streaming;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.OpenAiServer;
import io.github.keepsake4j.testing.Script;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the reason of an answer's end, which many servers don't give, tells of the answer. */
class AnswerEndsTest {

    private static final String WHOLE = "U(one), A(p0 p1)";
    private static final String CUT = "U(one), A(p0 p1) [incomplete cut]";

    private final Keepsake keepsake = Keepsakes.on(new InMemoryMessageLog());

    @ParameterizedTest
    @CsvSource({", , whole", ", m, whole", "OTHER, m, whole", "STOP, m, whole", "LENGTH, , limit", "LENGTH, m, limit"})
    void an_answer_that_is_no_stream_is_cut_only_by_its_length(
            @Nullable FinishReason reason, @Nullable String name, String expected) {
        for (Column column : new Column[] {Column.AI_SERVICES, Column.ATTACH, Column.LISTENERS_ONLY}) {
            column.builder(keepsake, Assistant.class)
                    .chatModel(new Script((Script.Step) request -> response(reason, name)))
                    .build()
                    .chat(column.name(), "one");
            assertThat(history(keepsake, column.name()))
                    .as(column.name())
                    .isEqualTo(expected.equals("whole") ? WHOLE : "U(one), A(p0 p1) [incomplete limit]");
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "absent",
            value = {"absent, whole", "null, whole", "'\"\"', whole", "'\"eos\"', whole", "'\"length\"', limit"})
    void so_it_is_over_http(@Nullable String reason, String expected) throws Exception {
        try (OpenAiServer server = new OpenAiServer(false, "p0 ", "p1")) {
            server.endWith(reason, true);
            keepsake.aiServices(Assistant.class)
                    .chatModel(OpenAiChatModel.builder()
                            .baseUrl(server.baseUrl())
                            .apiKey("none")
                            .modelName("m")
                            .build())
                    .build()
                    .chat("c", "one");
        }
        assertThat(history(keepsake, "c"))
                .isEqualTo(expected.equals("whole") ? WHOLE : "U(one), A(p0 p1) [incomplete limit]");
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void a_stream_that_ends_without_a_reason_was_cut(Column column) throws Exception {
        try (OpenAiServer server = new OpenAiServer(false, "p0 ", "p1")) {
            server.endWith(null, false);
            stream(
                    column,
                    column.name(),
                    OpenAiStreamingChatModel.builder()
                            .baseUrl(server.baseUrl())
                            .apiKey("none")
                            .modelName("m")
                            .build());
        }
        assertThat(history(keepsake, column.name())).isEqualTo(CUT);
    }

    /** A thread that starts a stream also reads it if the response is there before the call returns. */
    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void so_was_one_that_the_thread_reads_that_started_it(Column column) throws Exception {
        stream(column, column.name(), new NoReasons("m"));
        assertThat(history(keepsake, column.name())).isEqualTo(CUT);
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void an_answer_that_is_asked_for_within_a_stream_is_no_stream(Column column) throws Exception {
        Assistant inner = column.builder(keepsake, Assistant.class)
                .chatModel(new Script((Script.Step) request -> response(null, "m")))
                .build();
        CompletableFuture<Void> end = new CompletableFuture<>();
        AtomicBoolean asked = new AtomicBoolean();
        column.builder(keepsake, Streaming.class)
                .streamingChatModel(new NoReasons("m"))
                .build()
                .chat("outer", "one")
                .onPartialResponse(token -> {
                    if (!asked.getAndSet(true)) {
                        inner.chat("inner", "one");
                    }
                })
                .onCompleteResponse(response -> end.complete(null))
                .onError(end::completeExceptionally)
                .start();
        end.get(1, TimeUnit.MINUTES);

        assertThat(history(keepsake, "inner")).isEqualTo(WHOLE);
        assertThat(history(keepsake, "outer")).isEqualTo(CUT);
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void a_model_that_gave_no_reason_in_three_streams_and_never_one_before_gives_none(Column column) throws Exception {
        try (OpenAiServer server = new OpenAiServer(false, "p0 ", "p1")) {
            server.endWith(null, true);
            StreamingChatModel model = OpenAiStreamingChatModel.builder()
                    .baseUrl(server.baseUrl())
                    .apiKey("none")
                    .modelName("m")
                    .build();
            for (int i = 0; i < 5; i++) {
                stream(column, "c" + i, model);
                assertThat(history(keepsake, "c" + i)).as("stream " + i).isEqualTo(i < 3 ? CUT : WHOLE);
            }
            server.endWith("\"stop\"", true);
            stream(column, "told", model);
            server.endWith(null, true);
            stream(column, "cut", model);
            assertThat(history(keepsake, "told")).isEqualTo(WHOLE);
            assertThat(history(keepsake, "cut")).isEqualTo(CUT);
        }
    }

    @Test
    void each_model_has_ways_of_its_own() throws Exception {
        for (int i = 0; i < 4; i++) {
            stream(Column.AI_SERVICES, "reasons" + i, new Reasons("m", i == 0));
            stream(Column.AI_SERVICES, "other" + i, new Reasons("other", false));
            stream(Column.AI_SERVICES, "none" + i, new NoReasons("m"));
        }

        assertThat(history(keepsake, "reasons3")).isEqualTo(CUT);
        assertThat(history(keepsake, "other2")).isEqualTo(CUT);
        assertThat(history(keepsake, "other3")).isEqualTo(WHOLE);
        assertThat(history(keepsake, "none2")).isEqualTo(CUT);
        assertThat(history(keepsake, "none3")).isEqualTo(WHOLE);
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void the_answer_that_guardrails_give_ends_as_the_models_answer_did(Column column) throws Exception {
        stream(column, "rewritten", new NoReasons("m"), new EndingTurns.Rewrite());
        stream(column, "retried", new BadThenCut(), new EndingTurns.Retry());
        stream(column, "reprompted", new BadThenCut(), new EndingTurns.Reprompt());
        column.builder(keepsake, Assistant.class)
                .chatModel(new Script((Script.Step) request -> response(FinishReason.LENGTH, "m")))
                .outputGuardrails(new EndingTurns.Rewrite())
                .build()
                .chat("limit", "one");

        assertThat(history(keepsake, "rewritten"))
                .isEqualTo("U(one), A(p0 p1) [rejected Rewrite], A(p0 p1!) [incomplete cut]");
        assertThat(history(keepsake, "retried"))
                .isEqualTo("U(one), A(bad) [rejected Retry], A(p0 p1) [incomplete cut]");
        assertThat(history(keepsake, "reprompted"))
                .isEqualTo("U(one), A(bad) [rejected Reprompt], A(p0 p1) [incomplete cut]");
        assertThat(history(keepsake, "limit"))
                .isEqualTo("U(one), A(p0 p1) [rejected Rewrite], A(p0 p1!) [incomplete limit]");
    }

    @ParameterizedTest
    @EnumSource(names = {"AI_SERVICES", "ATTACH", "LISTENERS_ONLY"})
    void the_model_that_answered_and_why_it_ended_are_known(Column column) throws Exception {
        Assistant assistant = column.builder(keepsake, Assistant.class)
                .chatModel(new Script(
                        (Script.Step) request -> named(ai("bad"), "first", FinishReason.STOP),
                        (Script.Step) request -> named(ai("good"), "org/second", FinishReason.OTHER),
                        (Script.Step) request -> response(null, "half \ud83d of a pair")))
                .outputGuardrails(new EndingTurns.Retry())
                .build();
        assistant.chat(column.name(), "one");
        assistant.chat(column.name(), "two");
        stream(column, column.name(), new Reasons("streamed", true));

        var conversation = keepsake.conversation(column.name());
        assertThat(EndingTurns.logged(keepsake, column.name()).stream()
                        .filter(message -> message.message() instanceof AiMessage)
                        .filter(message -> message.outcome() == null)
                        .map(message -> conversation.made(message.id()))
                        .map(made -> made.modelName() + " " + made.finishReason()))
                .containsExactly("org/second OTHER", "null null", "streamed STOP");
        assertThat(conversation.made(
                        EndingTurns.logged(keepsake, column.name()).get(0).id()))
                .isEqualTo(Made.NOTHING);
    }

    private static ChatResponse named(AiMessage answer, String name, FinishReason reason) {
        return ChatResponse.builder()
                .aiMessage(answer)
                .modelName(name)
                .finishReason(reason)
                .build();
    }

    private void stream(Column column, Object id, StreamingChatModel model, OutputGuardrail... guardrails)
            throws Exception {
        CompletableFuture<Void> end = new CompletableFuture<>();
        column.builder(keepsake, Streaming.class)
                .streamingChatModel(model)
                .outputGuardrails(guardrails)
                .build()
                .chat(id, "one")
                .onPartialResponse(token -> {})
                .onCompleteResponse(response -> end.complete(null))
                .onError(end::completeExceptionally)
                .start();
        end.get(1, TimeUnit.MINUTES);
    }

    private static ChatResponse response(@Nullable FinishReason reason, @Nullable String name) {
        return ChatResponse.builder()
                .aiMessage(ai("p0 p1"))
                .modelName(name)
                .finishReason(reason)
                .build();
    }

    private static class NoReasons implements StreamingChatModel {
        private final String name;

        NoReasons(String name) {
            this.name = name;
        }

        @Nullable
        FinishReason reason() {
            return null;
        }

        @Override
        public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
            handler.onPartialResponse("p0 ");
            handler.onPartialResponse("p1");
            handler.onCompleteResponse(response(reason(), name));
        }
    }

    private static final class BadThenCut extends NoReasons {
        private boolean asked;

        BadThenCut() {
            super("cut later");
        }

        @Override
        public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
            if (asked) {
                super.doChat(request, handler);
                return;
            }
            asked = true;
            handler.onPartialResponse("bad");
            handler.onCompleteResponse(named(ai("bad"), "cut later", FinishReason.STOP));
        }
    }

    private static final class Reasons extends NoReasons {
        private final boolean gives;

        Reasons(String name, boolean gives) {
            super(name);
            this.gives = gives;
        }

        @Override
        @Nullable
        FinishReason reason() {
            return gives ? FinishReason.STOP : null;
        }
    }
}
