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
            new Listener<>(AiServiceResponseReceivedEvent.class, event -> within(event, turn -> turn.responded(event))),
            new Listener<>(ToolExecutedEvent.class, event -> within(event, turn -> {})),
            new Listener<>(
                    OutputGuardrailExecutedEvent.class, event -> within(event, turn -> turn.outputChecked(event))),
            new Listener<>(AiServiceCompletedEvent.class, event -> leave(event, BoundTurn::completed)),
            new Listener<>(AiServiceErrorEvent.class, event -> leave(event, turn -> turn.failed(event.error()))));

    /** Registers new listeners, once with each service. */
    static void register(AiServiceListenerRegistrar registrar) {
        registrar.register(new TurnListeners().all);
    }

    private void started(AiServiceStartedEvent event) {
        Invocation.begin(event.invocationContext(), event.userMessage(), this);
    }

    private void inputChecked(InputGuardrailExecutedEvent event) {
        Consumer<Invocation> enter = CallsOfThread::enter;
        tell(event, enter.andThen(invocation -> invocation.inputChecked(event)), turn -> {});
    }

    private void requested(AiServiceRequestIssuedEvent event) {
        leave(event, turn -> {
            turn.requested(event.request());
            IssuedRequests.issued(event.request(), turn);
        });
    }

    /** Tells the turn of something after which the same thread may use the memory. */
    private void within(AiServiceEvent event, Consumer<BoundTurn> told) {
        tell(event, CallsOfThread::enter, told);
    }

    /** Reports an event after which another call may use the same thread. */
    private void leave(AiServiceEvent event, Consumer<BoundTurn> told) {
        tell(event, CallsOfThread::leave, told);
    }

    private void tell(AiServiceEvent event, Consumer<Invocation> call, Consumer<BoundTurn> told) {
        Invocation invocation = Invocation.of(event.invocationContext(), this);
        if (invocation == null) {
            return;
        }
        call.accept(invocation);
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
