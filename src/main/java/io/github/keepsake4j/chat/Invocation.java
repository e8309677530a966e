package io.github.keepsake4j.chat;

import java.util.Map;
import java.util.List;
import java.util.Collection;
import java.util.ArrayList;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.invocation.InvocationParameters;
import dev.langchain4j.observability.api.event.InputGuardrailExecutedEvent;
import dev.langchain4j.service.memory.ChatMemoryService;
import java.lang.ref.WeakReference;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One call of an AI service. It becomes a turn of the memory that adds its user message. An earlier read binds it only
 * provisionally, because it may be a read of another memory with the same id. Thread-safe.
 */
final class Invocation implements CallsOfThread.Call {

    private final WeakReference<UUID> id;
    private final Object memoryId;
    private final String type;
    private final String method;
    final UserMessage question;

    /** The contents that the caller wrote: those of the user message and of the arguments. */
    private final List<Content> own;

    final InvocationParameters parameters;

    /** The listeners that reported the call first. Reports of other listeners about the same call are ignored. */
    private final Object source;

    private @Nullable BoundTurn turn;
    private boolean asked;

    /** The user message as an input guardrail rewrote it, which may be before a memory is used. */
    private volatile @Nullable UserMessage rewritten;

    /** Whether the caller gets a flux, which reports the tokens that it returns. */
    private volatile boolean flux;

    private volatile boolean over;

    /**
     * Creates an invocation that has just begun.
     *
     * @param id its id, which lives as long as the call may still be reported
     * @param context the call
     * @param question the user message as the caller wrote it
     * @param source the listeners that report the call
     */
    Invocation(UUID id, InvocationContext context, UserMessage question, Object source) {
        this.id = new WeakReference<>(id);
        this.memoryId = context.chatMemoryId();
        this.parameters = context.invocationParameters();
        this.question = question;
        this.own = own(question, context.methodArguments());
        this.type = context.interfaceName();
        this.method = context.methodName();
        this.source = source;
    }

    private static List<Content> own(UserMessage question, List<Object> arguments) {
        List<Content> own = new ArrayList<>(question.contents());
        List<Content> more = new ArrayList<>();
        arguments.forEach(argument -> addContents(argument, more));
        question.contents().forEach(more::remove);
        own.addAll(more);
        return own;
    }

    /** Adds an argument's contents, which LangChain4j adds to the question. */
    private static void addContents(@Nullable Object argument, List<Content> contents) {
        if (argument instanceof Content content) {
            contents.add(content);
        } else if (argument instanceof Collection<?> list) {
            list.forEach(each -> addContents(each, contents));
        } else if (argument instanceof Map<?, ?> map) {
            map.values().forEach(each -> addContents(each, contents));
        }
    }

    /** Returns what the user wrote, if the question was sent with more or other text, with unknown size. */
    @Nullable
    Asked asked(UserMessage sent) {
        return AskedForms.of(own, sent, rewritten != null, type, method);
    }

    boolean isToldBy(Object listeners) {
        return source == listeners;
    }

    /** Returns the turn, or null if no memory of this library was used yet. */
    synchronized @Nullable BoundTurn turn() {
        return turn;
    }

    /** Returns the turn in a memory if this call belongs to it or may do so, else null. */
    @Override
    public synchronized @Nullable BoundTurn turnIn(KeepsakeChatMemory memory) {
        if (turn != null && turn.isOf(memory)) {
            return turn;
        }
        // A service with one memory for all callers passes LangChain4j's default id, whatever the memory's own id is.
        boolean mayBe = memoryId.equals(memory.id()) || memoryId.equals(ChatMemoryService.DEFAULT);
        if (asked || !mayBe) {
            return null;
        }
        turn = new BoundTurn(memory, this);
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
        if (event.result().hasRewrittenResult()) {
            rewritten = event.rewrittenUserMessage();
        }
    }

    /** Returns the user message as an input guardrail rewrote it, or null if none did. */
    @Nullable
    UserMessage rewritten() {
        return rewritten;
    }

    void returnsFlux() {
        flux = true;
    }

    boolean isFlux() {
        return flux;
    }

    @Override
    public boolean isOver() {
        return over || id.get() == null;
    }

    void end() {
        over = true;
    }
}
