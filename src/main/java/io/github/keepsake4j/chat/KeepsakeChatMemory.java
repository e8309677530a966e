package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A LangChain4j chat memory over the log. Added messages are appended to the log and stay there. {@link #messages()}
 * returns the messages that the strategy selects. {@link #set} and {@link #clear()} change which messages are shown and
 * delete nothing.
 *
 * <p>Added messages are written at once, with two exceptions. Tool results are written together, when all results that
 * their assistant message requested have been added. A system message is written at the next read or before the next
 * message, and only if it has changed.
 *
 * <p>Thread-safe. Several instances, threads and processes may use one memory at once. No message is lost, and messages
 * are kept in order of arrival. An instance keeps no messages between turns. Its {@code Keepsake} caches the last
 * reads, up to 16 million characters for all memories, so that a read gets only new messages from the log.
 *
 * <p>Errors are {@code KeepsakeException}s. If an add fails with a retryable error, the same message object can be
 * added again: it is never stored twice.
 */
public final class KeepsakeChatMemory implements ChatMemory {

    /** All that is added outside of bound turns. */
    final OpenTurn unbound;

    /**
     * Creates a memory. Does no I/O. Applications obtain one from {@code Keepsake.chatMemoryProvider()}.
     *
     * @param id the id as LangChain4j passed it
     * @param key the memory that the id names
     * @param memories the parts that all memories share
     */
    KeepsakeChatMemory(Object id, MemoryKey key, SharedParts memories) {
        this.unbound = new OpenTurn(id, key, memories);
    }

    /** Returns the class and the key, without text of messages. */
    @Override
    public String toString() {
        return "KeepsakeChatMemory[" + unbound.key + "]";
    }

    @Override
    public Object id() {
        return unbound.id;
    }

    /**
     * Adds a message at the end of the current branch. It is always a new message, even if it equals an old one. What no
     * provider accepts, such as a tool's result without its call or a message without text, is stored but not shown;
     * {@code Conversation.explain()} names it.
     *
     * @param message the message, not null
     * @throws ContextOverflowException if the message's tool calls exceed the limits even with empty results. The
     * message is stored. Thrown here only if this object has read the memory during the turn; otherwise by the next
     * read after the results
     */
    @Override
    public void add(ChatMessage message) {
        add(List.of(InvalidInputException.given("message", message)));
    }

    /**
     * Adds messages at the end of the current branch, all or none.
     *
     * @param messages the messages, without nulls
     */
    @Override
    public void add(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = copy(messages);
        adding(list).add(list);
    }

    /**
     * Replaces the messages that the memory shows, in one step. New messages are appended to the log.
     *
     * <p>A message object that {@link #messages()} returned is recognized as the stored message. If the list contains
     * no such object, for example because it was read from JSON, its messages are compared with the shown ones, in
     * order. Messages that other writers have added since the caller's read are shown behind the list.
     *
     * @param messages the messages, without nulls and not empty
     * @throws InvalidInputException if the list is empty
     */
    @Override
    public void set(Iterable<ChatMessage> messages) {
        turn().set(copy(messages));
    }

    /**
     * Returns the messages that the strategy selects: the system message in force first, then whole turns.
     *
     * @return a new, mutable list
     * @throws ContextOverflowException if the system message does not fit the strategy's limits, or if the current turn
     * does not fit them and this object added the turn's newest message. Thrown once for a turn: later calls, on any
     * object, leave the turn out, so that later turns work
     */
    @Override
    public List<ChatMessage> messages() {
        return turn().messages();
    }

    /**
     * Empties the list of shown messages. The log keeps all messages. Message objects that {@link #messages()} returned
     * may be added again right after this call. They are then linked to the stored messages and not stored again.
     *
     * <p>When Quarkus ends the scope of an AI service, it clears the service's memories. Such a call empties nothing.
     */
    @Override
    public void clear() {
        if (ContainerClose.isCalling()) {
            turn().flush();
        } else {
            turn().clear();
        }
    }

    /**
     * Writes the messages that are held back: tool results that wait for other results, a system message that waits for
     * a read, and messages that the log was configured to hold back. Call it at the end of a turn that ends without an
     * answer. Other turns do not need it.
     */
    public void flush() {
        turn().flush();
    }

    /**
     * Calls {@link #add(Iterable)} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @param messages the messages, without nulls
     * @return a future that completes when the messages are accepted, or completes exceptionally
     */
    public CompletableFuture<Void> addAsync(List<ChatMessage> messages) {
        List<ChatMessage> list = copy(messages);
        OpenTurn turn = adding(list);
        return unbound.memories.runAsync(unbound.key, () -> turn.add(list));
    }

    /**
     * Calls {@link #set} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @param messages the messages, without nulls and not empty
     * @return a future that completes when the messages are set, or completes exceptionally
     */
    public CompletableFuture<Void> setAsync(List<ChatMessage> messages) {
        List<ChatMessage> list = copy(messages);
        OpenTurn turn = turn();
        return unbound.memories.runAsync(unbound.key, () -> turn.set(list));
    }

    /**
     * Calls {@link #messages()} on the executor. LangChain4j 1.20 and newer call this method.
     *
     * @return a future that completes with the messages, or completes exceptionally
     */
    public CompletableFuture<List<ChatMessage>> messagesAsync() {
        OpenTurn turn = turn();
        return CompletableFuture.supplyAsync(turn::messages, unbound.memories.executor());
    }

    /** Returns the turn that the current call belongs to. */
    private OpenTurn turn() {
        CallsOfThread.Call call = CallsOfThread.of(this);
        return call == null ? unbound : turnOf(call);
    }

    /** Returns the turn that an added list belongs to. The user message of a call binds the call to this memory. */
    private OpenTurn adding(List<ChatMessage> list) {
        CallsOfThread.Call call = CallsOfThread.of(this);
        if (call == null) {
            return unbound;
        }
        OpenTurn turn = turnOf(call);
        if (list.stream().anyMatch(UserMessage.class::isInstance) && call.asked()) {
            CallsOfThread.leave(call);
        }
        return turn;
    }

    private OpenTurn turnOf(CallsOfThread.Call call) {
        return Objects.requireNonNullElse(call.turnIn(this), unbound);
    }

    static List<ChatMessage> copy(Iterable<ChatMessage> messages) {
        List<ChatMessage> list = new ArrayList<>();
        for (ChatMessage message : InvalidInputException.given("messages", messages)) {
            int at = list.size();
            list.add(InvalidInputException.given("messages[" + at + "]", message));
        }
        return list;
    }
}
