package io.github.keepsake4j.testing;

import static io.github.keepsake4j.testing.Dialogue.ai;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import io.github.keepsake4j.chat.turns.EndingTurns;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;

/**
 * A model that plays a list of steps and keeps the requests. A step is a text, a message, an error or a {@link Step}. It plays
 * the last one again and again.
 */
public final class Script implements ChatModel {

    /** What a model does with a request. */
    public interface Step {
        ChatResponse play(ChatRequest request);
    }

    public final List<ChatRequest> requests = Collections.synchronizedList(new ArrayList<>());

    private final Deque<Step> coming = new ArrayDeque<>();
    private final Step last;

    public Script(Object... steps) {
        says(Arrays.copyOf(steps, steps.length - 1));
        last = step(steps[steps.length - 1]);
    }

    /** Returns a model that plays the same step on several threads at once, or within itself. */
    public static ChatModel playing(Step step) {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return step.play(request);
            }
        };
    }

    /** Returns a model that answers each request by a function, on several threads at once. */
    public static ChatModel answering(Function<ChatRequest, AiMessage> answer) {
        return playing(request -> response(answer.apply(request)));
    }

    /** Returns the answer of a model that has said all. */
    public static ChatResponse response(AiMessage message) {
        return ChatResponse.builder()
                .aiMessage(message)
                .finishReason(FinishReason.STOP)
                .build();
    }

    private static Step step(Object step) {
        if (step instanceof Step play) {
            return play;
        }
        if (step instanceof AiMessage message) {
            return request -> response(message);
        }
        if (step instanceof RuntimeException error) {
            return request -> {
                throw error;
            };
        }
        if (step instanceof Error error) {
            return request -> {
                throw error;
            };
        }
        return request -> response(ai((String) step));
    }

    /** Plays these steps before it plays the last one again. */
    public synchronized void says(Object... steps) {
        Arrays.stream(steps).map(Script::step).forEach(coming::add);
    }

    @Override
    public synchronized ChatResponse doChat(ChatRequest request) {
        requests.add(request);
        return (coming.isEmpty() ? last : coming.remove()).play(request);
    }

    public List<ChatMessage> lastMessages() {
        return requests.get(requests.size() - 1).messages();
    }

    public String lastRequest() {
        return EndingTurns.text(lastMessages());
    }
}
