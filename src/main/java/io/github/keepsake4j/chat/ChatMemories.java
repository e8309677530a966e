package io.github.keepsake4j.chat;

import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.TurnLeases;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The chat memories over one log. Applications obtain them from {@code Keepsake}. Creating a memory, a handle or the
 * store does no I/O. Immutable and thread-safe.
 */
public final class ChatMemories {

    private final MemoryIds ids;
    private final ChatMemorySettings settings;

    private ChatMemories(MemoryIds ids, ChatMemorySettings settings) {
        this.ids = ids;
        this.settings = settings;
    }

    /**
     * The memory ids that are accepted.
     *
     * @param tenant the tenant of plain ids
     * @param acceptDefault whether {@code "default"} is accepted, which LangChain4j passes when no id is given
     * @param mapper returns the key of an id of another type, or null to refuse such ids
     */
    public record IdRules(String tenant, boolean acceptDefault, @Nullable Function<Object, MemoryKey> mapper) {}

    /**
     * Creates the memories of a log.
     *
     * @param log where messages are kept
     * @param ids the memory ids that are accepted
     * @param strategy selects the messages that a model sees
     * @param counter counts messages when they are appended
     * @param executor runs the asynchronous methods
     * @param turns the turns that exclude other turns
     * @param worker makes summaries, or null for none
     * @param metrics the metrics sink
     * @return the memories
     * @throws InvalidInputException if the tenant breaks a rule
     */
    public static ChatMemories of(
            MessageLog log,
            IdRules ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            TurnLeases turns,
            @Nullable SummaryWorker worker,
            Metrics metrics) {
        return new ChatMemories(
                new MemoryIds(ids.tenant(), ids.acceptDefault(), ids.mapper()),
                new ChatMemorySettings(log, strategy, counter, executor, turns, worker, metrics));
    }

    /**
     * Returns the key of a memory id.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the key
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public MemoryKey key(Object memoryId) {
        return ids.key(memoryId);
    }

    /**
     * Creates a chat memory.
     *
     * @param memoryId the id as LangChain4j passed it
     * @param key the memory that the id names
     * @return the memory
     */
    public KeepsakeChatMemory memory(Object memoryId, MemoryKey key) {
        return new KeepsakeChatMemory(memoryId, key, settings);
    }

    /**
     * Creates a handle for an application or its user interface.
     *
     * @param memoryId the id as the application passed it
     * @param key the memory that the id names
     * @return the handle
     */
    public Conversation conversation(Object memoryId, MemoryKey key) {
        return new Conversation(memoryId, key, settings);
    }

    /**
     * Creates a store for chat memories that rewrite a list.
     *
     * @return the store
     */
    public KeepsakeChatMemoryStore store() {
        return new KeepsakeChatMemoryStore(ids, settings);
    }

    /**
     * Creates a transformer that applies the strategy to whole requests.
     *
     * @return the transformer
     */
    public BiFunction<ChatRequest, Object, ChatRequest> requestBudget() {
        return new RequestBudget(ids, settings);
    }
}
