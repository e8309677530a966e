package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Context.Overflow;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.view.ViewWriter;
import java.lang.ref.SoftReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The chat memories of one {@code Keepsake}, from which applications obtain them, and the parts that they share.
 * Creating a memory, a handle or the store does no I/O. Thread-safe.
 */
public final class ChatMemories {

    /** The maximum number of contexts that are kept: about as many conversations are in a turn at a time. */
    private static final int MEMORIES = 1_000;

    private static final Duration TURN_LIMIT = Duration.ofMinutes(10);

    private final Function<MemoryKey, MessageLog> logs;
    private final Function<Object, MemoryKey> ids;
    private final ContextStrategy strategy;
    private final TokenCounter counter;
    private final Executor executor;
    private final LongSupplier nanoTime;
    private final Meter meter;
    private final Summaries summaries;
    private final ViewWriter views;
    private final TailLoader loader;
    private final Services services = new Services(this);
    private final boolean keepsRequests;
    private final RememberedSource remembered;
    private final Duration turnLimit;
    private final Leaving leaving;

    /** The context that each memory returned last. A context that is missing here is counted again. */
    private final RecentlyUsed<MemoryKey, SoftReference<Context>> contexts = new RecentlyUsed<>(MEMORIES);

    /**
     * Creates the memories.
     *
     * @param logs returns the log that keeps a memory
     * @param ids returns the key of a memory id
     * @param strategy selects the messages that a model sees
     * @param counter counts messages when they are appended
     * @param executor runs the asynchronous methods
     * @param worker makes summaries, or null for none
     * @param metrics the metrics sink
     * @param keepsRequests whether a request is kept beside its answer where the memory's own part does not tell it
     * @param listener is told which messages leave the view, or null
     * @param remembered loads the memories that the strategy shows
     * @param turnLimit how long a turn may run; a question that is older and has no answer is that of a process that was killed
     */
    public ChatMemories(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics,
            boolean keepsRequests,
            @Nullable LeavingViewListener listener,
            RememberedSource remembered,
            Duration turnLimit) {
        this(
                logs,
                ids,
                strategy,
                counter,
                executor,
                worker,
                metrics,
                keepsRequests,
                listener,
                remembered,
                turnLimit,
                System::nanoTime);
    }

    /**
     * Creates memories that keep no requests and have no listener.
     *
     * @param logs returns the log that keeps a memory
     * @param ids returns the key of a memory id
     * @param strategy selects the messages that a model sees
     * @param counter counts messages when they are appended
     * @param executor runs the asynchronous methods
     * @param worker makes summaries, or null for none
     * @param metrics the metrics sink
     */
    public ChatMemories(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics) {
        this(logs, ids, strategy, counter, executor, worker, metrics, System::nanoTime);
    }

    ChatMemories(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics,
            LongSupplier nanoTime) {
        this(
                logs,
                ids,
                strategy,
                counter,
                executor,
                worker,
                metrics,
                false,
                null,
                RememberedSource.NONE,
                TURN_LIMIT,
                nanoTime);
    }

    ChatMemories(
            Function<MemoryKey, MessageLog> logs,
            Function<Object, MemoryKey> ids,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            @Nullable SummaryWorker worker,
            Metrics metrics,
            boolean keepsRequests,
            @Nullable LeavingViewListener listener,
            RememberedSource remembered,
            Duration turnLimit,
            LongSupplier nanoTime) {
        this.logs = logs;
        this.ids = ids;
        this.strategy = strategy;
        this.counter = counter;
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.meter = new Meter(metrics, logs);
        this.summaries = new Summaries(this, worker);
        this.keepsRequests = keepsRequests;
        this.remembered = remembered;
        this.turnLimit = turnLimit;
        this.leaving = new Leaving(logs, executor, listener);
        this.loader = new TailLoader(strategy, executor, nanoTime);
        this.views = new ViewWriter(logs, this::append, meter::read, this::prepare);
    }

    /**
     * Returns the key of a memory id.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the key
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public MemoryKey key(Object memoryId) {
        return ids.apply(memoryId);
    }

    /**
     * Creates a chat memory.
     *
     * @param memoryId the id as LangChain4j passed it
     * @param key the memory that the id names
     * @return the memory
     */
    public KeepsakeChatMemory memory(Object memoryId, MemoryKey key) {
        return new KeepsakeChatMemory(memoryId, key, this);
    }

    /**
     * Creates a handle for an application or its user interface.
     *
     * @param memoryId the id as the application passed it
     * @param key the memory that the id names
     * @return the handle
     */
    public Conversation conversation(Object memoryId, MemoryKey key) {
        return new Conversation(memoryId, key, this);
    }

    /**
     * Creates a store for chat memories that rewrite a list.
     *
     * @return the store
     */
    public KeepsakeChatMemoryStore store() {
        return new KeepsakeChatMemoryStore(this);
    }

    /**
     * Creates a transformer that applies the strategy to whole requests.
     *
     * @return the transformer
     */
    public BiFunction<ChatRequest, Object, ChatRequest> requestBudget() {
        return new RequestBudget(this);
    }

    /**
     * Returns what the AI services on these memories have in common.
     *
     * @return the services
     */
    public Services services() {
        return services;
    }

    MessageLog log(MemoryKey key) {
        return logs.apply(key);
    }

    ContextStrategy strategy() {
        return strategy;
    }

    TokenCounter counter() {
        return counter;
    }

    Executor executor() {
        return executor;
    }

    long nanoTime() {
        return nanoTime.getAsLong();
    }

    Meter meter() {
        return meter;
    }

    Summaries summaries() {
        return summaries;
    }

    /** Returns how long a turn may run. */
    Duration turnLimit() {
        return turnLimit;
    }

    /** Returns whether requests are kept beside their answers. */
    boolean keepsRequests() {
        return keepsRequests;
    }

    Leaving leaving() {
        return leaving;
    }

    ViewWriter views() {
        return views;
    }

    /**
     * Prepares a message for an append: counts it and gives it a new id.
     *
     * @param message the message
     * @return the message with its id and count
     */
    NewMessage prepare(ChatMessage message) {
        return prepare(Ids.next(), message, null);
    }

    /** Prepares a message that has an id, and perhaps a time, for an append. */
    NewMessage prepare(String messageId, ChatMessage message, @Nullable Instant createdAt) {
        TokenCounter.Count count = counter.count(message);
        return new NewMessage(messageId, message, count.tokens(), count.counter(), createdAt);
    }

    /** Appends, and counts it. */
    AppendResult append(MemoryKey key, Append append) {
        AppendResult result;
        try {
            result = logs.apply(key).append(key, append);
        } catch (HeadConflictException e) {
            meter.conflict(key);
            throw e;
        }
        meter.appended(key, append, result);
        append.messages().forEach(message -> views.tellId(key, message.message(), message.id()));
        return result;
    }

    /**
     * Reads as far back as the strategy requires.
     *
     * @param id the id as LangChain4j passed it
     * @param key the memory
     * @param atLeast the number of messages to read even if the strategy requires fewer
     * @param round the ids of the calls and of the results with which a turn goes on; empty for none, or null if unknown
     */
    Tail load(Object id, MemoryKey key, int atLeast, @Nullable List<String> round) {
        return load(id, key, atLeast, round, UnaryOperator.identity());
    }

    /** Reads as {@link #load(Object, MemoryKey, int, List)} does, on the branch to which each read is directed. */
    Tail load(Object id, MemoryKey key, int atLeast, @Nullable List<String> round, UnaryOperator<ReadQuery> from) {
        return meter.read(key, loader.load(log(key), id, key, atLeast, round, from));
    }

    /** Returns the messages that were read, before any limit. */
    private Context context(
            Object id, MemoryKey key, Tail tail, @Nullable List<String> round, @Nullable Remembered made) {
        return loader.context(id, key, tail, round, made);
    }

    /** Selects the messages that a model sees. */
    Context select(Object id, MemoryKey key, Tail tail, @Nullable List<String> round, @Nullable Remembered made) {
        Context context = context(id, key, tail, round, made);
        Context selected = strategy.select(context);
        // Memories must not keep a turn from being shown that fits without them.
        return made != null && selected.overflow() ? strategy.select(context(id, key, tail, round, null)) : selected;
    }

    /** Returns what loads the memories that are shown beside the messages. */
    RememberedSource remembered() {
        return remembered;
    }

    /** Returns the memories that are shown beside messages that were read already. */
    @Nullable
    Remembered remembered(MemoryKey key, Tail tail) {
        return remembered.begin(key).apply(tail).orElse(null);
    }

    /**
     * Returns what does not fit although all results of the newest calls are empty, or null. This is a check before the
     * tools run, so no remote counter is asked.
     */
    @Nullable
    Overflow overflowWithResults(Object id, MemoryKey key, Tail tail, AiMessage calls) {
        if (strategy.tokenCounter().filter(TokenCounter::isRemote).isPresent()) {
            return null;
        }
        List<NewMessage> empty = calls.toolExecutionRequests().stream()
                .map(call -> prepare(ToolExecutionResultMessage.from(call, "")))
                .toList();
        return loader.selectLocally(id, key, tail.followedBy(empty)).over();
    }

    /** Returns the sizes of messages for one read of a memory. */
    TokenSizes sizes(MemoryKey key) {
        return loader.sizes(key);
    }

    /** Records the context that a memory returned. */
    void shown(MemoryKey key, Context context, boolean cut) {
        meter.shown(key, shown(key), context, cut);
        contexts.put(key, new SoftReference<>(context));
    }

    /**
     * Reads what a model is shown of a memory.
     *
     * @param key the memory
     * @param use is given what was read, and what is shown of it
     * @param <T> the type of its result
     * @return its result
     */
    public <T> T showing(MemoryKey key, BiFunction<Tail, Context, T> use) {
        Tail tail = load(key, key, 0, null);
        return use.apply(tail, select(key, key, tail, null, remembered(key, tail)));
    }

    /** Returns the context that a memory returned last, or null if it is not known. */
    @Nullable
    Context shown(MemoryKey key) {
        SoftReference<Context> context = contexts.get(key);
        return context == null ? null : context.get();
    }
}
