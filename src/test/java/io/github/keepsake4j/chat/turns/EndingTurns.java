package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.guardrail.InputGuardrail;
import dev.langchain4j.guardrail.InputGuardrailResult;
import dev.langchain4j.guardrail.OutputGuardrail;
import dev.langchain4j.guardrail.OutputGuardrailResult;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.Moderate;
import dev.langchain4j.service.TokenStream;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeListenerRegistrarFactory;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Services, models and short texts for tests of how turns end. */
public final class EndingTurns {

    private EndingTurns() {}

    public interface Assistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    public interface TurnAssistant {
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text, Turn turn);
    }

    public interface Moderated {
        @Moderate
        String chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    public interface Counting {
        int count(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    public interface Streaming {
        TokenStream chat(@MemoryId Object id, @dev.langchain4j.service.UserMessage String text);
    }

    /** How a service is built. */
    public enum Column {
        AI_SERVICES,
        ATTACH,
        LISTENERS_ONLY,
        WITHOUT;

        public boolean knows() {
            return this == AI_SERVICES || this == ATTACH;
        }

        public <T> AiServices<T> builder(Keepsake keepsake, Class<T> type) {
            return switch (this) {
                case AI_SERVICES -> keepsake.aiServices(type);
                case ATTACH ->
                    keepsake.attach(AiServices.builder(type).chatMemoryProvider(keepsake.chatMemoryProvider()));
                case LISTENERS_ONLY -> AiServices.builder(type).chatMemoryProvider(keepsake.chatMemoryProvider());
                case WITHOUT -> withoutListeners(type, keepsake.chatMemoryProvider());
            };
        }
    }

    private static synchronized <T> AiServices<T> withoutListeners(Class<T> type, ChatMemoryProvider memories) {
        System.setProperty(KeepsakeListenerRegistrarFactory.PROPERTY, "off");
        try {
            return AiServices.builder(type).chatMemoryProvider(memories);
        } finally {
            System.clearProperty(KeepsakeListenerRegistrarFactory.PROPERTY);
        }
    }

    /** One streamed answer: what the model's thread does with the handler. */
    public interface Play {
        void on(Sink sink) throws Exception;
    }

    /** What a scripted stream can do. */
    public static final class Sink {
        private final StreamingChatResponseHandler handler;
        public final AtomicBoolean cancelled = new AtomicBoolean();

        public Sink(StreamingChatResponseHandler handler) {
            this.handler = handler;
        }

        public Sink tokens(String... tokens) {
            for (String token : tokens) {
                try {
                    handler.onPartialResponse(new PartialResponse(token), new PartialResponseContext(new Handle()));
                } catch (RuntimeException e) {
                    // As LangChain4j's own models do when a consumer throws.
                    handler.onError(e);
                }
            }
            return this;
        }

        public void done(AiMessage message) {
            handler.onCompleteResponse(Script.response(message));
        }

        public void done(String text) {
            done(ai(text));
        }

        public void error(Throwable error) {
            handler.onError(error);
        }

        private final class Handle implements StreamingHandle {
            @Override
            public void cancel() {
                cancelled.set(true);
            }

            @Override
            public boolean isCancelled() {
                return cancelled.get();
            }
        }
    }

    /** A streaming model that plays one script for each request, on a thread of its own. */
    public static final class StreamScript implements StreamingChatModel {
        final List<ChatRequest> requests = Collections.synchronizedList(new ArrayList<>());
        private final List<Play> plays;
        private final List<CompletableFuture<Void>> ends = Collections.synchronizedList(new ArrayList<>());

        public StreamScript(Play... plays) {
            this.plays = List.of(plays);
        }

        @Override
        public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
            requests.add(request);
            Play play = plays.get(Math.min(requests.size(), plays.size()) - 1);
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            new Thread(() -> {
                        try {
                            play.on(new Sink(handler));
                            end.complete(null);
                        } catch (Throwable e) {
                            end.complete(null);
                        }
                    })
                    .start();
        }

        /** Waits until no script runs any more. */
        public void await() throws Exception {
            for (int i = 0; i < ends.size(); i++) {
                ends.get(i).get(1, TimeUnit.MINUTES);
            }
        }
    }

    public static TokenStream quiet(TokenStream stream) {
        return stream.onPartialResponse(token -> {}).onError(error -> {});
    }

    public static class Tools {
        @Tool
        public String tool() {
            return "done";
        }

        @Tool
        public String broken() {
            throw new IllegalStateException("broken");
        }
    }

    /** Asks for another answer than "bad". */
    public static class Reprompt implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return answer.text().equals("bad") ? reprompt("not that", "again") : success();
        }
    }

    public static class Retry implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return answer.text().equals("bad") ? retry("not that") : success();
        }
    }

    public static class Rewrite implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return successWith(answer.text() + "!");
        }
    }

    public static class Pass implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return success();
        }
    }

    public static class Fatal implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return answer.text().equals("bad") ? fatal("not that") : success();
        }
    }

    public static class FatalRemoval implements OutputGuardrail {
        @Override
        public OutputGuardrailResult validate(AiMessage answer) {
            return answer.text().equals("bad") ? fatalWithMessageRemoval("not that") : success();
        }
    }

    public static class Polite implements InputGuardrail {
        @Override
        public InputGuardrailResult validate(UserMessage question) {
            return question.singleText().equals("one") ? successWith("please one") : success();
        }
    }

    public static AiMessage toolCall(String id) {
        return AiMessage.from(call(id, "tool", "{}"));
    }

    public static AiMessage brokenCall(String id) {
        return AiMessage.from(call(id, "broken", "{}"));
    }

    public static String history(Keepsake keepsake, Object id) {
        return keepsake.conversation(id).history(HistoryQuery.oldest(1000)).messages().stream()
                .map(EndingTurns::text)
                .collect(Collectors.joining(", "));
    }

    public static String view(Keepsake keepsake, Object id) {
        return text(keepsake.chatMemory(id).messages());
    }

    public static List<LoggedMessage> logged(Keepsake keepsake, Object id) {
        return keepsake.conversation(id).history(HistoryQuery.oldest(1000)).messages();
    }

    public static String text(List<ChatMessage> messages) {
        return messages.stream().map(EndingTurns::text).collect(Collectors.joining(", "));
    }

    private static String text(LoggedMessage logged) {
        if (logged.outcome() == null) {
            return text(logged.message());
        }
        String reason = String.valueOf(logged.outcome().reason());
        return text(logged.message()) + " ["
                + logged.outcome().kind().name().toLowerCase(java.util.Locale.ROOT) + " "
                + reason.substring(Math.max(reason.lastIndexOf('.'), reason.lastIndexOf('$')) + 1) + "]";
    }

    private static String text(ChatMessage message) {
        if (message instanceof UserMessage user) {
            // What AI services add about the format of the answer is on lines of its own.
            return "U(" + user.singleText().lines().findFirst().orElse("") + ")";
        }
        if (message instanceof AiMessage ai) {
            return ai.hasToolExecutionRequests()
                    ? "C("
                            + ai.toolExecutionRequests().stream()
                                    .map(request -> request.id())
                                    .collect(Collectors.joining(" "))
                            + ")"
                    : "A(" + ai.text() + ")";
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return "R(" + result.id() + ")";
        }
        return message instanceof SystemMessage system
                ? "S(" + system.text() + ")"
                : message.type().name();
    }

    /** Ignores what a call throws, because the table tells what is left of it. */
    public static void ignoring(Consumer<Void> call) {
        try {
            call.accept(null);
        } catch (RuntimeException | Error e) {
            // The caller looks at what is left.
            e.getMessage();
        }
    }
}
