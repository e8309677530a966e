package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.invocation.InvocationParameters;
import dev.langchain4j.observability.api.event.InputGuardrailExecutedEvent;
import dev.langchain4j.service.memory.ChatMemoryService;
import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One call of an AI service. It becomes a turn of the memory that adds its user message. An earlier read binds it only
 * provisionally, because it may be a read of another memory with the same id. Thread-safe.
 */
final class Invocation implements CallsOfThread.Call {

    /** The calls of this process that may have further events. An entry is removed with the last context of its call. */
    private static final Map<UUID, Invocation> BY_ID = Collections.synchronizedMap(new WeakHashMap<>());

    private final WeakReference<UUID> id;
    private final Object memoryId;
    private final String type;
    private final String method;
    final UserMessage question;

    private final List<Object> arguments;

    /** The methods of the service that may have been called, or null if they were not looked up. */
    private volatile @Nullable ServiceMethods methods;

    final InvocationParameters parameters;

    /** Whether the service is attached, so that its requests can be changed. */
    volatile boolean attached;

    /** Whether the question is stored without what was retrieved for it. */
    volatile boolean leavesOutRetrieved;

    /** The listeners that reported the call first. Reports of other listeners about the same call are ignored. */
    private final Object source;

    private @Nullable BoundTurn turn;
    private boolean asked;

    /** The user message as the first input guardrail got it, which may be before a memory is used. */
    private volatile @Nullable UserMessage checked;

    /** The user message as the last input guardrail rewrote it. LangChain4j drops the results of earlier ones. */
    private volatile @Nullable UserMessage rewritten;

    /** Whether the caller gets a flux, which reports the tokens that it returns. */
    volatile boolean flux;

    private Invocation(UUID id, InvocationContext context, UserMessage question, Object source) {
        this.id = new WeakReference<>(id);
        this.memoryId = context.chatMemoryId();
        this.parameters = context.invocationParameters();
        this.question = question;
        this.arguments = new ArrayList<>(context.methodArguments());
        this.type = context.interfaceName();
        this.method = context.methodName();
        this.source = source;
    }

    /**
     * Records a call that begins on this thread. Only the first listeners that report it are used.
     *
     * @param context the call; its id lives as long as the call may still be reported
     * @param question the user message as the caller wrote it
     * @param source the listeners that report the call
     */
    static void begin(InvocationContext context, UserMessage question, Object source) {
        UUID id = context.invocationId();
        Invocation begun = id == null ? null : new Invocation(id, context, question, source);
        if (begun != null && BY_ID.putIfAbsent(id, begun) == null) {
            CallsOfThread.enter(begun);
            WatchedCall.begun(begun);
        }
    }

    /** Returns the call of an event, or null if these listeners did not report its beginning. */
    static @Nullable Invocation of(InvocationContext context, Object listeners) {
        Invocation invocation = of(context);
        return invocation != null && invocation.source == listeners ? invocation : null;
    }

    /** Returns a call by its id, or null if it is unknown. */
    static @Nullable Invocation of(InvocationContext context) {
        return context.invocationId() == null ? null : BY_ID.get(context.invocationId());
    }

    /** Records that an attached service was called, and its method, if it is one of the service. */
    void calls(Method called) {
        attached = true;
        // By its name, because Reactor may be absent.
        flux = called.getReturnType().getName().equals("reactor.core.publisher.Flux");
        if (called.getName().equals(method) && called.getParameterCount() == arguments.size()) {
            methods = new ServiceMethods(List.of(called));
        }
    }

    /** Returns the comparison of the question with the forms that it had until now. */
    AskedForms forms() {
        return new AskedForms(question, arguments, methods().methods(), checked, rewritten);
    }

    /** Returns whether the caller may get a stream. */
    boolean mayStream() {
        return methods().mayStream();
    }

    private ServiceMethods methods() {
        ServiceMethods known = methods;
        if (known == null) {
            known = ServiceMethods.of(type, method);
            methods = known;
        }
        return known;
    }

    /** Returns the turn in a memory for which this thread works, or null if there is none. */
    static @Nullable BoundTurn turnOfThread(MemoryKey key, SharedParts memories) {
        for (CallsOfThread.Call call : CallsOfThread.all()) {
            BoundTurn turn = call instanceof Invocation invocation && !call.isOver() ? invocation.turn() : null;
            if (turn != null && turn.memories == memories && turn.key.equals(key)) {
                return turn;
            }
        }
        return null;
    }

    /** Returns the turn, or null if no memory of this library was used yet. */
    synchronized @Nullable BoundTurn turn() {
        return turn;
    }

    /** Returns the turn in a memory if this call belongs to it or may do so, else null. */
    @Override
    public synchronized @Nullable BoundTurn turnIn(KeepsakeChatMemory memory) {
        if (turn != null && turn.memory == memory) {
            return turn;
        }
        // A service with one memory for all callers passes LangChain4j's default id, whatever the memory's own id is.
        boolean mayBe = memoryId.equals(memory.id()) || memoryId.equals(ChatMemoryService.DEFAULT);
        if (asked || !mayBe) {
            return null;
        }
        turn = new BoundTurn(memory, this, turn);
        leavesOutRetrieved = WatchedCall.bound() && attached;
        return turn;
    }

    /** Binds this call finally, and returns whether it was not bound before. */
    @Override
    public synchronized boolean asked() {
        boolean first = !asked;
        asked = true;
        return first;
    }

    void inputChecked(InputGuardrailExecutedEvent event) {
        if (checked == null) {
            checked = event.request().userMessage();
        }
        rewritten = event.result().hasRewrittenResult() ? event.rewrittenUserMessage() : null;
    }

    @Override
    public boolean isOver() {
        return id.get() == null;
    }
}
