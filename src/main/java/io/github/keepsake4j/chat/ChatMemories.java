package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.service.AiServices;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Objects;
import java.util.function.BiFunction;

/**
 * The chat memories of one {@code Keepsake}, from which applications obtain them. Creating a memory, a handle or the
 * store does no I/O. Thread-safe.
 */
public final class ChatMemories {

    final SharedParts parts;

    /**
     * Creates the memories.
     *
     * @param settings the shared settings
     */
    public ChatMemories(ChatSettings settings) {
        this.parts = new SharedParts(settings);
    }

    /**
     * Returns the key of a memory id.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the key
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public MemoryKey key(Object memoryId) {
        return parts.key(memoryId);
    }

    /**
     * Creates a chat memory.
     *
     * @param memoryId the id as LangChain4j passed it
     * @param key the memory that the id names
     * @return the memory
     */
    public KeepsakeChatMemory memory(Object memoryId, MemoryKey key) {
        return new KeepsakeChatMemory(memoryId, key, parts);
    }

    /**
     * Creates a handle for an application or its user interface.
     *
     * @param memoryId the id as the application passed it
     * @param key the memory that the id names
     * @return the handle
     */
    public Conversation conversation(Object memoryId, MemoryKey key) {
        return new Conversation(memoryId, key, parts);
    }

    /**
     * Creates a store for chat memories that rewrite a list.
     *
     * @return the store
     */
    public KeepsakeChatMemoryStore store() {
        return new KeepsakeChatMemoryStore(parts);
    }

    /**
     * Creates a transformer that applies the strategy to whole requests.
     *
     * @return the transformer
     */
    public BiFunction<ChatRequest, Object, ChatRequest> requestBudget() {
        return new RequestBudget(parts);
    }

    /**
     * Prepares a builder of AI services.
     *
     * @param builder LangChain4j's builder
     * @param <T> the service's type
     * @return a builder on the same service
     */
    public <T> AiServices<T> attach(AiServices<T> builder) {
        return new AttachedServices<>(InvalidInputException.given("builder", builder), parts);
    }

    /**
     * Returns the message behind which the next messages of this thread belong. It differs from the head in a turn that
     * regenerates, edits or repeats something, or is on a named branch. Reads only in a turn that has not read yet.
     *
     * @param key the memory
     * @return the place
     */
    public Parent end(MemoryKey key) {
        BoundTurn turn = Invocation.turnOfThread(key, parts);
        return turn == null ? Parent.head() : turn.end();
    }

    /**
     * Returns a model whose interrupted answers are kept.
     *
     * @param model the model
     * @return a model that calls it
     */
    public StreamingChatModel remembering(StreamingChatModel model) {
        return RememberingModel.of(model);
    }

    /**
     * Reads what a model is shown of a memory. Within a turn of this memory, that is what the turn was shown.
     *
     * @param key the memory
     * @param use receives the messages that were read, and the messages that are shown
     * @param <T> the type of its result
     * @return its result
     */
    public <T> T showing(MemoryKey key, BiFunction<Tail, Context, T> use) {
        Tail tail = parts.load(key, key, 0);
        BoundTurn turn = Invocation.turnOfThread(key, parts);
        Tail seen = Objects.requireNonNullElse(turn == null ? null : turn.lastShown(), tail);
        return use.apply(tail, parts.select(key, key, seen, parts.remembered(key, seen)));
    }
}
