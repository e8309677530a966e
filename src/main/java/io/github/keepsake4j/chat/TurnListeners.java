package io.github.keepsake4j.chat;

import dev.langchain4j.observability.api.AiServiceListenerRegistrar;
import dev.langchain4j.observability.api.event.AiServiceCompletedEvent;
import dev.langchain4j.observability.api.event.AiServiceErrorEvent;
import dev.langchain4j.observability.api.event.AiServiceEvent;
import dev.langchain4j.observability.api.event.AiServiceRequestIssuedEvent;
import dev.langchain4j.observability.api.event.AiServiceResponseReceivedEvent;
import dev.langchain4j.observability.api.event.AiServiceStartedEvent;
import dev.langchain4j.observability.api.event.InputGuardrailExecutedEvent;
import dev.langchain4j.observability.api.event.OutputGuardrailExecutedEvent;
import dev.langchain4j.observability.api.event.ToolExecutedEvent;
import dev.langchain4j.observability.api.listener.AiServiceListener;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Reports the events of calls of AI services to the turns of this library's memories. Calls without such a memory are
 * not affected. Thread-safe.
 */
final class TurnListeners {

    private final List<AiServiceListener<?>> all = List.of(
            new Listener<>(AiServiceStartedEvent.class, this::started),
            new Listener<>(InputGuardrailExecutedEvent.class, this::inputChecked),
            new Listener<>(AiServiceRequestIssuedEvent.class, this::requested),
            new Listener<>(AiServiceResponseReceivedEvent.class, event -> tell(event, BoundTurn::responded)),
            new Listener<>(ToolExecutedEvent.class, event -> tell(event, (turn, executed) -> {})),
            new Listener<>(OutputGuardrailExecutedEvent.class, event -> tell(event, BoundTurn::outputChecked)),
            new Listener<>(AiServiceCompletedEvent.class, this::completed),
            new Listener<>(AiServiceErrorEvent.class, this::failed));

    /** Returns the listeners to register, once with each service. */
    List<AiServiceListener<?>> all() {
        return all;
    }

    /** Registers new listeners. */
    static void register(AiServiceListenerRegistrar registrar) {
        registrar.register(new TurnListeners().all());
    }

    private void started(AiServiceStartedEvent event) {
        var id = event.invocationContext().invocationId();
        if (id != null) {
            Invocations.started(id, () -> new Invocation(id, event.invocationContext(), event.userMessage(), this));
        }
    }

    /** Reports an event after which the same thread may use the memory. */
    private <T extends AiServiceEvent> void tell(T event, BiConsumer<BoundTurn, T> told) {
        Invocation invocation = Invocations.of(event.invocationContext(), this);
        if (invocation == null) {
            return;
        }
        CallsOfThread.enter(invocation);
        BoundTurn turn = invocation.turn();
        if (turn != null) {
            told.accept(turn, event);
        }
    }

    private void inputChecked(InputGuardrailExecutedEvent event) {
        Invocation invocation = Invocations.of(event.invocationContext(), this);
        if (invocation != null) {
            CallsOfThread.enter(invocation);
            invocation.inputChecked(event);
        }
    }

    private void requested(AiServiceRequestIssuedEvent event) {
        leave(event, turn -> {
            turn.requested(event.request());
            IssuedRequests.issued(event.request(), turn);
        });
    }

    private void completed(AiServiceCompletedEvent event) {
        leave(event, BoundTurn::completed);
    }

    private void failed(AiServiceErrorEvent event) {
        leave(event, turn -> turn.failed(event.error()));
    }

    /** Reports an event after which another call may use the same thread. */
    private void leave(AiServiceEvent event, Consumer<BoundTurn> told) {
        Invocation invocation = Invocations.of(event.invocationContext(), this);
        if (invocation == null) {
            return;
        }
        CallsOfThread.leave(invocation);
        BoundTurn turn = invocation.turn();
        if (turn != null) {
            told.accept(turn);
        }
    }

    private record Listener<T extends AiServiceEvent>(Class<T> getEventClass, Consumer<T> told)
            implements AiServiceListener<T> {
        @Override
        public void onEvent(T event) {
            told.accept(event);
        }
    }
}
