package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServiceContext;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.tool.ToolExecution;
import io.github.keepsake4j.message.InvalidInputException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * LangChain4j's builder of an AI service, with additions for the turns of this library's memories. It shares the
 * settings of the builder from which it was created. Not thread-safe, as every builder.
 */
final class AttachedServices<T> extends AiServices<T> {

    private final AiServices<T> builder;
    private final SharedParts memories;
    private boolean attached;

    /** Whether the questions are stored without what was retrieved for them. */
    private volatile boolean leavesOutRetrieved;

    AttachedServices(AiServices<T> builder, SharedParts memories) {
        super(settings(builder));
        this.builder = builder;
        this.memories = memories;
    }

    /** Returns the settings of a builder, which LangChain4j shows only to builders. */
    private static AiServiceContext settings(AiServices<?> builder) {
        try {
            Field context = AiServices.class.getDeclaredField("context");
            context.setAccessible(true);
            return (AiServiceContext) context.get(builder);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new InvalidInputException(
                    "builder",
                    "has no readable settings (" + e + "); use AiServices with keepsake.chatMemoryProvider(); "
                            + "the listeners on the class path then bind the turns");
        }
    }

    @Override
    public T build() {
        if (!attached) {
            attach();
            attached = true;
        }
        return watched(builder.build());
    }

    private void attach() {
        if (!context.hasChatMemory()) {
            chatMemoryProvider(id -> new KeepsakeChatMemory(id, memories.key(id), memories));
        }
        TurnListeners.register(context.eventListenerRegistrar);
        if (context.streamingChatModel != null) {
            streamingChatModel(RememberingModel.of(context.streamingChatModel));
        }
        Consumer<ToolExecution> before = context.toolService.afterToolExecution();
        Consumer<ToolExecution> told = AttachedServices::executed;
        afterToolExecution(before == null ? told : told.andThen(before));
        var transformer = context.chatRequestTransformer;
        chatRequestTransformer((request, memoryId) -> transformer.apply(asAsked(request, memoryId), memoryId));
    }

    /** Changes a request in a memory of this library, which may have another id than LangChain4j's. */
    private ChatRequest asAsked(ChatRequest request, Object memoryId) {
        return context.hasChatMemory()
                        && context.chatMemoryService.getOrCreateChatMemory(memoryId) instanceof KeepsakeChatMemory ours
                ? ours.unbound.memories.turns.asAsked(request, ours.unbound.key)
                : request;
    }

    /** Reports a finished tool to the turn, before the AI service adds the results of the round. */
    private static void executed(ToolExecution execution) {
        Invocation invocation = Invocation.of(execution.invocationContext());
        BoundTurn turn = invocation == null ? null : invocation.turn();
        if (turn != null) {
            turn.executed(execution);
        }
    }

    /** Returns a service that reports errors and streams for which LangChain4j has no events. */
    @SuppressWarnings({"unchecked", "ReferenceEquality"})
    private T watched(T service) {
        if (!Proxy.isProxyClass(service.getClass())) {
            // A framework creates its services in another way. Its events report them.
            return service;
        }
        // Called directly, because the service's interface may be one that only its own package can call.
        InvocationHandler handler = Proxy.getInvocationHandler(service);
        Class<?> type = context.aiServiceClass;
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getDeclaringClass() != Object.class) {
                return call(service, handler, method, arguments);
            }
            return method.getName().equals("equals") && arguments != null
                    ? (Object) (proxy == arguments[0])
                    : handler.invoke(service, method, arguments);
        });
    }

    /**
     * Lets the service add questions as they are sent. Otherwise it would add the question as it was before its
     * guardrails, and without the contents among its arguments.
     *
     * @return whether the turn must leave out what was retrieved, because the service is not to store it
     */
    private boolean bound() {
        if (!context.storeRetrievedContentInChatMemory) {
            leavesOutRetrieved = true;
            context.storeRetrievedContentInChatMemory = true;
        }
        return leavesOutRetrieved;
    }

    private @Nullable Object call(
            Object service, InvocationHandler handler, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        WatchedCall call = WatchedCall.begin(method, this::bound);
        try {
            return call.watched(handler.invoke(service, method, arguments));
        } catch (Throwable e) {
            call.threw(e);
            throw e;
        } finally {
            call.end();
        }
    }
}
