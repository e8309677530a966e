package io.github.keepsake4j;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.backend.ObservedLog;
import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.ChatSettings;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.chat.LeavingViewListener;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryBlock;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.background.BackgroundCreators;
import io.github.keepsake4j.memories.store.FactsByMeaning;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageRecall;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.transfer.ImportSource;
import io.github.keepsake4j.turn.TurnConflictException;
import io.github.keepsake4j.turn.TurnHandle;
import io.github.keepsake4j.turn.TurnLeases;
import io.github.keepsake4j.turn.TurnPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry point: chat memories for LangChain4j over a log that keeps every message.
 *
 * <pre>{@code
 * Keepsake keepsake = Keepsake.builder()
 *         .messageLog(MessageLogs.sqlite(Path.of("chat.db")))
 *         .maxMessages(20)
 *         .build();
 * Assistant assistant = AiServices.builder(Assistant.class)
 *         .chatModel(model)
 *         .chatMemoryProvider(keepsake.chatMemoryProvider())
 *         .build();
 * }</pre>
 *
 * <p>Immutable and thread-safe. One instance is enough for an application. An instance need not be closed, and it does
 * not close the log: the application that opened the log closes it.
 */
public final class Keepsake {

    private static final Logger LOG = LoggerFactory.getLogger(Keepsake.class);

    private final MemoryIds ids;
    private final MessageLog log;
    private final MessageLog nodeLog;
    private final TurnLeases turns;
    private final ChatMemories memories;
    private final KeepsakeChatMemoryStore store;
    private final @Nullable MessageSearch search;
    private final TokenCounter counter;
    private final @Nullable BackgroundCreators creators;

    private Keepsake(
            MemoryIds ids,
            MessageLog log,
            MessageLog nodeLog,
            TurnLeases turns,
            ChatMemories memories,
            @Nullable MessageSearch search,
            TokenCounter counter,
            @Nullable BackgroundCreators creators) {
        this.ids = ids;
        this.log = log;
        this.nodeLog = nodeLog;
        this.turns = turns;
        this.memories = memories;
        this.store = memories.store();
        this.search = search;
        this.counter = counter;
        this.creators = creators;
    }

    /**
     * Creates a builder.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the provider for {@code AiServices.builder(...).chatMemoryProvider(...)}. Getting a memory does no I/O. A
     * memory keeps no messages outside of a turn, so a million memories are cheap.
     *
     * @return a provider of {@link KeepsakeChatMemory}
     */
    public ChatMemoryProvider chatMemoryProvider() {
        return this::chatMemory;
    }

    /**
     * Creates a builder of an AI service whose turns are recorded to their end. It is LangChain4j's builder with
     * {@link #chatMemoryProvider()} and the settings of {@link #attach}.
     *
     * <pre>{@code
     * Assistant assistant = keepsake.aiServices(Assistant.class).chatModel(model).build();
     * }</pre>
     *
     * @param service the interface of the AI service
     * @param <T> the interface
     * @return a new builder
     */
    public <T> AiServices<T> aiServices(Class<T> service) {
        return attach(AiServices.builder(service));
    }

    /**
     * Use this method when the memory must contain exactly the answers that users got, even if a turn fails. It makes
     * an AI service report the end of each turn to its memory: a failed question, an interrupted answer, or an answer
     * that a guardrail refused or rewrote.
     *
     * <p>The returned builder shares all settings with the given one, whichever sets them. When it builds
     * the service, it adds listeners, a {@linkplain #remembering remembering} streaming model, a request transformer
     * before the configured one, and, if no memory is set, {@link #chatMemoryProvider()}. A question that is asked again
     * is sent with its stored words, to which no template is applied again. Services that are built without it are observed only by the listeners on the class path. These listeners do not see an {@link Error},
     * streams that are not started, and interrupted answers.
     *
     * @param builder LangChain4j's builder
     * @param <T> the interface of the AI service
     * @return a builder that builds the same service
     */
    public <T> AiServices<T> attach(AiServices<T> builder) {
        return memories.attach(builder);
    }

    /**
     * Wraps a streaming model so that interrupted answers are kept: when the stream fails, when its connection is cut,
     * and when its handle is cancelled. The received part is stored as an incomplete answer. Use it if a service is
     * built without {@link #aiServices} and {@link #attach}. It only affects calls of AI services that use a memory of
     * this library.
     *
     * @param model the model
     * @return a model that calls it
     */
    public StreamingChatModel remembering(StreamingChatModel model) {
        return memories.remembering(InvalidInputException.given("model", model));
    }

    /**
     * Returns one memory, for use without a provider. Does no I/O.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the memory
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public KeepsakeChatMemory chatMemory(Object memoryId) {
        return memories.memory(memoryId, memories.key(memoryId));
    }

    /**
     * Returns the transformer for {@code AiServices.builder(...).chatRequestTransformer(...)}, which applies limits to
     * the whole request. Without it, a memory's limits apply only to the messages that the memory shows; the new user
     * message and the tools come in addition. With it, the strategy is applied to all of them, and older turns are left
     * out until the request fits. If the new message and the tools alone exceed the limits, the call fails with a
     * {@link ContextOverflowException} and the model is not called.
     *
     * <p>Tool specifications are counted as the text that describes them. Messages that the memory returned are not
     * counted again. The memory's estimator counts everything else in the request, once for each request.
     *
     * @return the transformer, thread-safe; {@link AlternatingRoles} may follow it
     */
    public BiFunction<ChatRequest, Object, ChatRequest> requestBudget() {
        return memories.requestBudget();
    }

    /**
     * Returns the store for {@code MessageWindowChatMemory.builder().id(...).chatMemoryStore(...)} and for other chat
     * memories that rewrite a list. Messages that such a memory drops from its list stay in the history. Such a memory
     * decides itself what the model sees, so the strategy of this {@link Keepsake} does not apply.
     *
     * @return the store, always the same one
     */
    public KeepsakeChatMemoryStore chatMemoryStore() {
        return store;
    }

    /**
     * Returns a handle for one conversation, for an application or its user interface. Does no I/O.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the handle
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public Conversation conversation(Object memoryId) {
        return memories.conversation(memoryId, memories.key(memoryId));
    }

    /**
     * Returns the memories of an application's nodes, such as agents or the steps of a workflow. Each node keeps a
     * history of its own within each conversation. Does no I/O.
     *
     * @param appId the application's id within the tenant
     * @return the memories
     * @throws InvalidInputException if the id breaks a rule
     */
    public NodeMemories nodes(String appId) {
        return new NodeMemories(Ids.check("app id", appId), memories);
    }

    /**
     * Runs a turn that excludes other turns of the same conversation. Use it when two requests for a conversation must
     * not interleave, for example when a user sends a message twice. The body is a whole turn, such as one call of an
     * AI service. The configured policy applies. Unless the policy is {@link TurnPolicy#KEEP}, the turn holds a lease
     * in the log, so it excludes other turns of this and other processes. The lease is renewed while the turn runs. If
     * the process ends, the lease expires. Messages that are added outside of such a turn never wait for it.
     *
     * <p>If the current thread is already in a turn of the same memory, this method only runs the body.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param body the turn. It runs on the caller's thread. It does not run if this method throws one of the exceptions
     *     below
     * @param <T> the type of the turn's result
     * @return the body's result
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public <T extends @Nullable Object> T turn(Object memoryId, Supplier<? extends T> body) {
        return turns.run(memories.key(memoryId), null, body);
    }

    /**
     * Runs a turn as {@link #turn(Object, Supplier)} does. Use it when this turn needs another policy than the
     * configured one.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param policy what to do when another turn is in progress
     * @param body the turn
     * @param <T> the type of the turn's result
     * @return the body's result
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public <T extends @Nullable Object> T turn(Object memoryId, TurnPolicy policy, Supplier<? extends T> body) {
        return turns.run(memories.key(memoryId), InvalidInputException.given("policy", policy), body);
    }

    /**
     * Begins a turn that ends in another place of the code, such as in the callback of a streaming model. The configured
     * policy applies. With {@link TurnPolicy#WAIT}, this call waits. Until the handle is closed, every other turn of the memory
     * conflicts with it, even on this thread. A thread that must close the handle must do so before it waits for
     * another turn of the memory.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the handle; close it at the end of the turn, on any thread
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public TurnHandle openTurn(Object memoryId) {
        return turns.open(memories.key(memoryId), null);
    }

    /**
     * Begins a turn as {@link #openTurn(Object)} does, under the given policy.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param policy what to do when another turn is in progress
     * @return the handle; close it at the end of the turn, on any thread
     * @throws TurnConflictException if another turn is in progress and the policy rejects this one, or if the wait for
     *     the other turn times out or is interrupted
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public TurnHandle openTurn(Object memoryId, TurnPolicy policy) {
        return turns.open(memories.key(memoryId), InvalidInputException.given("policy", policy));
    }

    /**
     * Lists the conversations of the configured tenant in the message log, newest first, as {@link MessageLog#list}
     * describes. {@code ListQuery.first(50).byActivity()} lists the most recently used ones first. Memories of
     * {@linkplain #nodes nodes} are left out, so if the log has any, a page may have fewer entries than the query
     * allows, or none, and be followed by another one.
     *
     * @param query the page to return
     * @return the page
     */
    public MemoryPage conversations(ListQuery query) {
        return tenant(ids.tenant()).conversations(query);
    }

    /**
     * Returns the search over all messages, for users.
     *
     * @return a handle; this method does no I/O
     * @throws InvalidInputException if this {@link Keepsake} has no {@linkplain Builder#index index}
     */
    public Search search() {
        return new Search(required("index", search), ids);
    }

    /**
     * Returns the recall of earlier messages, for models.
     *
     * @return a handle; this method does no I/O
     * @throws InvalidInputException if this {@link Keepsake} has no {@linkplain Builder#index index}
     */
    public Recall recall() {
        return new Recall(new MessageRecall(required("index", search), this::seen, counter), memories::key);
    }

    /**
     * Returns the long-term memories of conversations.
     *
     * @return a handle; this method does no I/O
     * @throws InvalidInputException if this {@link Keepsake} has no {@linkplain Builder#longTermMemories long-term memories}
     */
    public LongTermMemories longTermMemories() {
        return new LongTermMemories(required("longTermMemories", creators), log, memories::key);
    }

    private static <T> T required(String setting, @Nullable T part) {
        if (part == null) {
            throw new InvalidInputException(
                    setting,
                    setting.equals("index")
                            ? "is required for search and recall, such as JdbcMessageIndex.sqlite(Path.of(\"index.db\"))"
                            : "is required for long-term memories, such as longTermMemories("
                                    + "Discussions.builder(store).chatModel(model).build(), Duration.ofMinutes(5))");
        }
        return part;
    }

    private MessageRecall.Seen seen(MemoryKey key) {
        return memories.showing(
                key,
                (tail, context) -> new MessageRecall.Seen(
                        tail,
                        context.shown().stream().map(LoggedMessage::id).collect(Collectors.toSet()),
                        memories.end(key)));
    }

    /**
     * Returns a clean-up of the message log and the node log, to be called by a scheduler. It removes a conversation
     * together with its {@linkplain Builder#longTermMemories long-term memories} and its {@linkplain Builder#index index}
     * entries. A clean-up of the bare logs leaves the long-term memories until the conversation is used again.
     *
     * @return the clean-up with its defaults; this method does no I/O
     */
    public CleanUp cleanUp() {
        return CleanUp.of(log, nodeLog);
    }

    /**
     * Returns a handle for all memories of a tenant, to use one of its conversations, to list them, to sum up tokens, and
     * to erase all of them or those of one user. Does no I/O.
     *
     * @param tenantId the tenant's id
     * @return the handle
     * @throws InvalidInputException if the id breaks a rule
     */
    public Tenant tenant(String tenantId) {
        return new Tenant(ids.of(tenantId), memories, log, nodeLog, search, creators);
    }

    /** Returns the tenant and the logs, without a password. */
    @Override
    public String toString() {
        return "Keepsake[tenant=" + MemoryKey.encode(ids.tenant()) + ", messageLog=" + log + ", nodeLog=" + nodeLog
                + "]";
    }

    /** Gives new memories their metadata. Must be thread-safe. */
    @FunctionalInterface
    public interface MetadataAtCreation {

        /**
         * Returns the metadata of a memory that may be new, such as its owner. Called on the thread that appends to the
         * memory or describes it, possibly several times, also for a memory that exists and then keeps its own. An
         * exception goes to the caller, and nothing is stored.
         *
         * @param key the memory, of a conversation or of a node
         * @return short texts by name; empty for none
         */
        Map<String, String> of(MemoryKey key);
    }

    /** The requests that show what was retrieved for a question. */
    public enum ShowRetrieved {
        /** The requests of the question's own turn. Later requests have the question without it, which saves tokens. */
        CURRENT_TURN,
        /** All requests, as long as the question is shown. */
        ALL_TURNS
    }

    /** Configures a {@link Keepsake}. Not thread-safe. */
    public static final class Builder {

        private static final int SUMMARY_TRIGGER = 4_000;
        private static final int SUMMARY_KEEP = 1_000;
        private static final int MAX_MODEL_NAME = 100;
        private static final Duration QUESTION_LIMIT = Duration.ofSeconds(2);

        private @Nullable MessageLog messageLog;
        private @Nullable MessageLog nodeLog;
        private @Nullable ContextStrategy strategy;
        private @Nullable ContextStrategy maxMessages;
        private @Nullable Function<TokenCounter, ContextStrategy> maxTokens;
        private boolean steps;
        private @Nullable TokenCountEstimator estimator;
        private @Nullable Summarizer summarizer;
        private Duration summarizerTimeout = Duration.ofSeconds(60);
        private Metrics metrics = Metrics.NONE;
        private Executor executor = BlockingWork.EXECUTOR;
        private String tenant = "default";
        private boolean acceptDefaultMemoryId;
        private @Nullable Function<Object, MemoryKey> memoryIdMapper;
        private TurnPolicy turnPolicy = TurnPolicy.KEEP;
        private Duration turnLease = Duration.ofSeconds(60);
        private Duration turnLimit = Duration.ofMinutes(10);
        private Duration turnWait = Duration.ofSeconds(60);
        private boolean keepRequests;
        private @Nullable MetadataAtCreation metadataAtCreation;
        private ShowRetrieved showRetrieved = ShowRetrieved.CURRENT_TURN;
        private @Nullable LeavingViewListener leavingViewListener;
        private @Nullable ImportSource importSource;
        private @Nullable MessageIndex index;
        private @Nullable Words words;
        private @Nullable EmbeddingModel embeddingModel;
        private String embeddingModelName = "";
        private @Nullable Discussions discussions;
        private Duration memoriesFreshness = Duration.ZERO;

        private Builder() {}

        /**
         * Sets the log that keeps the messages. Required.
         *
         * @param log the log
         * @return this builder
         */
        public Builder messageLog(MessageLog log) {
            this.messageLog = InvalidInputException.given("messageLog", log);
            return this;
        }

        /**
         * Sets the log that keeps the memories of {@linkplain Keepsake#nodes nodes}. It also keeps every memory whose
         * id is a {@link NodeKey}. Default: the {@linkplain #messageLog message log}.
         *
         * @param log the log
         * @return this builder
         */
        public Builder nodeLog(MessageLog log) {
            this.nodeLog = InvalidInputException.given("nodeLog", log);
            return this;
        }

        /**
         * Limits what a model sees to the newest messages, as {@link SlidingWindow#withMaxMessages} does. It holds together
         * with {@link #maxTokens} and the {@link #strategy}. It is exact, unless {@link #steps} is set. Default: no such
         * limit if one of these or a {@link #summarizer} is set, else {@link SlidingWindow#standard}.
         *
         * @param messages the maximum number of messages, 1 or more
         * @return this builder
         */
        public Builder maxMessages(int messages) {
            this.maxMessages = SlidingWindow.withMaxMessages(messages);
            return this;
        }

        /**
         * Limits what a model sees to a number of tokens. They are counted by the {@link #tokenCountEstimator}, by the
         * {@link #strategy}'s estimator if that is not set, or else by {@link TokenCounter#standard()}. Models count
         * differently: name yours with {@link #maxTokens(int, TokenCountEstimator)}. The limit holds together with
         * {@link #maxMessages} and the {@link #strategy}. It is exact, unless {@link #steps} is set. Default: no such
         * limit.
         *
         * @param tokens the maximum number of tokens, 1 or more
         * @return this builder
         */
        public Builder maxTokens(int tokens) {
            InvalidInputException.checkAtLeast("maxTokens", 1, tokens);
            this.maxTokens = counter -> TokenLimit.withMaxTokens(tokens, counter);
            return this;
        }

        /**
         * Limits what a model sees to a number of tokens, as {@link TokenLimit#withMaxTokens} does. It holds together with
         * {@link #maxMessages} and the {@link #strategy}. It is exact, unless {@link #steps} is set. Default: no such limit.
         *
         * @param tokens the maximum number of tokens, 1 or more
         * @param counter counts them, such as {@code TokenCounter.forModel("gpt-4o-mini")}
         * @return this builder
         */
        public Builder maxTokens(int tokens, TokenCountEstimator counter) {
            ContextStrategy limit = TokenLimit.withMaxTokens(tokens, counter);
            this.maxTokens = any -> limit;
            return this;
        }

        /**
         * Lets all limits move in steps of a third: when one is full, up to a third of it is removed in addition to what
         * must leave. Until the next step, a prompt only grows at its end, so that a provider's prompt cache holds. This is
         * for {@link #maxMessages}, {@link #maxTokens} and the limits of the {@link #strategy}; one that has a step keeps
         * it. Default: a limit that is set is exact, and without any limit, {@link SlidingWindow#standard} moves in such
         * steps.
         *
         * @return this builder
         */
        public Builder steps() {
            this.steps = true;
            return this;
        }

        /**
         * Sets the strategy, which selects the messages that a model sees. {@link #maxMessages} and {@link #maxTokens} limit
         * what it selects. Default: summaries if a {@link #summarizer} is set. Without it and these limits,
         * {@link SlidingWindow#standard}.
         *
         * @param contextStrategy the strategy
         * @return this builder
         */
        public Builder strategy(ContextStrategy contextStrategy) {
            this.strategy = InvalidInputException.given("strategy", contextStrategy);
            return this;
        }

        /**
         * Sets the estimator that counts the tokens of each message when it is appended. Default: the strategy's
         * estimator, or {@link TokenCounter#standard()} if the strategy has none. A {@linkplain TokenCounter#remote
         * remote} estimator is replaced by {@link TokenCounter#standard()} here.
         *
         * @param tokenCountEstimator a fast, local estimator; it is called for every message
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = InvalidInputException.given("tokenCountEstimator", tokenCountEstimator);
            return this;
        }

        /**
         * Sets the summarizer, which writes the summaries that a {@link Summarization} shows. It is called in the
         * background, on the {@linkplain #executor executor}. No turn waits for it. If no {@link #strategy} is set, a
         * summary replaces old turns at {@value #SUMMARY_TRIGGER} tokens, or when {@link #maxMessages} or {@link
         * #maxTokens} would leave them out, and the newest {@value #SUMMARY_KEEP} tokens stay.
         * Default: none. Required by a strategy that summarizes.
         *
         * @param writer the summarizer, such as {@link Summarizer#of}, or {@code ModelSummarizer.builder(model)} for a
         *     prompt of your own
         * @return this builder
         */
        public Builder summarizer(Summarizer writer) {
            this.summarizer = InvalidInputException.given("summarizer", writer);
            return this;
        }

        /**
         * Sets a model as the {@linkplain #summarizer(Summarizer) summarizer}, with the default prompt and limits, as
         * {@link Summarizer#of} does.
         *
         * @param model the model; a small and cheap one is sufficient
         * @return this builder
         */
        public Builder summarizer(ChatModel model) {
            return summarizer(Summarizer.of(model));
        }

        /**
         * Sets the maximum duration of one call of the summarizer. Default: 60 seconds. If a process is killed while it
         * summarizes, another process takes over after 7/6 of this duration.
         *
         * @param longest from one millisecond to one day
         * @return this builder
         */
        public Builder summarizerTimeout(Duration longest) {
            this.summarizerTimeout = InvalidInputException.given("summarizerTimeout", longest);
            return this;
        }

        /**
         * Sets the metrics sink. Default: none. The guide's page {@code write-your-own.md} lists the metrics.
         *
         * @param sink the metrics, such as {@code MicrometerMetrics}
         * @return this builder
         */
        public Builder metrics(Metrics sink) {
            this.metrics = InvalidInputException.given("metrics", sink);
            return this;
        }

        /**
         * Sets the executor that runs the asynchronous methods and the summarizer. The asynchronous methods block its
         * threads while they wait for the store. Default: an executor of this library with one thread for each call
         * in progress. Its threads are virtual on JDK 21 and newer.
         *
         * @param blockingExecutor the executor; the caller shuts it down
         * @return this builder
         */
        public Builder executor(Executor blockingExecutor) {
            this.executor = InvalidInputException.given("executor", blockingExecutor);
            return this;
        }

        /**
         * Sets the tenant of memory ids without a tenant, such as a String. Default: {@code "default"}. A
         * {@link MemoryKey} names its own tenant.
         *
         * @param tenantId the tenant's id
         * @return this builder
         */
        public Builder tenant(String tenantId) {
            this.tenant = InvalidInputException.given("tenant", tenantId);
            return this;
        }

        /**
         * Accepts {@code "default"} as a memory id. LangChain4j passes it when a method has no {@code @MemoryId}.
         * Default: refused. Use this only for an application with one user, because all callers without an id share
         * this memory.
         *
         * @return this builder
         */
        public Builder acceptDefaultMemoryId() {
            this.acceptDefaultMemoryId = true;
            return this;
        }

        /**
         * Sets the mapper of memory ids that are not a {@link MemoryKey}, String, number or UUID. Default: none, so
         * such ids are refused.
         *
         * @param mapper returns the key of an id; equal ids must give equal keys
         * @return this builder
         */
        public Builder memoryIdMapper(Function<Object, MemoryKey> mapper) {
            this.memoryIdMapper = InvalidInputException.given("memoryIdMapper", mapper);
            return this;
        }

        /**
         * Sets what {@link Keepsake#turn(Object, Supplier)} does when another turn is in progress. Default:
         * {@link TurnPolicy#KEEP}.
         *
         * @param policy the policy
         * @return this builder
         */
        public Builder turnPolicy(TurnPolicy policy) {
            this.turnPolicy = InvalidInputException.given("turnPolicy", policy);
            return this;
        }

        /**
         * Sets the time for which a turn excludes other turns if its process is killed. Default: 60 seconds. While a
         * turn runs, its lease is renewed in the background, up to the {@linkplain #turnLimit limit}.
         *
         * @param lease from one millisecond to one day
         * @return this builder
         */
        public Builder turnLease(Duration lease) {
            this.turnLease = InvalidInputException.given("turnLease", lease);
            return this;
        }

        /**
         * Sets the longest time for which a turn excludes other turns. Default: 10 minutes. Afterwards, other
         * turns may begin, and the turn continues without its lease.
         *
         * @param limit from one millisecond to one day
         * @return this builder
         */
        public Builder turnLimit(Duration limit) {
            this.turnLimit = InvalidInputException.given("turnLimit", limit);
            return this;
        }

        /**
         * Sets the maximum time that a turn under {@link TurnPolicy#WAIT} waits. Default: 60 seconds.
         *
         * @param longestWait from zero to one day
         * @return this builder
         */
        public Builder turnWait(Duration longestWait) {
            this.turnWait = InvalidInputException.given("turnWait", longestWait);
            return this;
        }

        /**
         * Stores whole requests with their answers, as the model received them: the messages, and the names of the
         * model and of the tools. A request is stored only if it differs from the stored messages: if retrieved texts,
         * a transformer or other code changed it, or tool results were shortened. {@link Conversation#seenBy} returns
         * it. It is known for answers of AI services whose turns are bound. It is stored in full, and erased with the
         * memory. Default: not stored.
         *
         * @return this builder
         */
        public Builder keepRequests() {
            this.keepRequests = true;
            return this;
        }

        /**
         * Sets the metadata that a memory gets when its first message is appended, such as the user who began the
         * conversation. They are stored in the same step, and they change nothing if the memory exists. A title or an
         * expiry that is set before the first message creates the memory with them too. {@code describe} with metadata
         * of its own, a fork, and an imported conversation keep the metadata that they bring. Asynchronous methods call
         * the function on the caller's thread. Default: none.
         *
         * @param metadata returns the metadata of a memory
         * @return this builder
         */
        public Builder metadataAtCreation(MetadataAtCreation metadata) {
            this.metadataAtCreation = InvalidInputException.given("metadataAtCreation", metadata);
            return this;
        }

        /**
         * Sets which requests show what was retrieved for a question. The log keeps it in any case. It is known for
         * questions of AI services whose turns are bound. Default: {@link ShowRetrieved#CURRENT_TURN}.
         *
         * @param requests the requests
         * @return this builder
         */
        public Builder showRetrieved(ShowRetrieved requests) {
            this.showRetrieved = InvalidInputException.given("showRetrieved", requests);
            return this;
        }

        /**
         * Sets the listener for messages that leave the view, for example to extract facts from them. It is called on
         * the {@linkplain #executor executor} after a memory was read or an answer was added, and no turn waits for it.
         * Default: none.
         *
         * @param listener the listener
         * @return this builder
         */
        public Builder onLeavingView(LeavingViewListener listener) {
            this.leavingViewListener = InvalidInputException.given("onLeavingView", listener);
            return this;
        }

        /**
         * Sets the store whose conversations are imported when they are used, as {@link ImportSource#importingInto} describes. While
         * it is set, each read of a conversation also reads the old store. So remove it when all important
         * conversations have been used and no old instance of the application is running. Default: none.
         *
         * <p>An old store has no tenants. So only conversations of {@linkplain #tenant this tenant} are imported;
         * another tenant's conversation of the same id is another one. To import several tenants, wrap the message log
         * by {@link ImportSource#importingInto}, whose source is read for all of them.
         *
         * @param oldStore the store, which is only read
         * @return this builder
         */
        public Builder importFrom(ChatMemoryStore oldStore) {
            return importFrom(ImportSource.of(oldStore));
        }

        /**
         * Sets the source whose conversations are imported when they are used, as {@link #importFrom(ChatMemoryStore)}
         * does.
         *
         * @param source the source, such as {@code JdbcImportSource.springAi(dataSource)}
         * @return this builder
         */
        public Builder importFrom(ImportSource source) {
            this.importSource = InvalidInputException.given("importFrom", source);
            return this;
        }

        /**
         * Sets the index for {@link Keepsake#search()}. It is made from the logs in the background, on the
         * {@linkplain #executor executor}, beginning with what they have already. No append waits for it. Several processes
         * may share it. Default: none.
         *
         * @param messageIndex the index; the caller closes it when the logs are no longer used
         * @return this builder
         */
        public Builder index(MessageIndex messageIndex) {
            this.index = InvalidInputException.given("index", messageIndex);
            return this;
        }

        /**
         * Sets the splitter of texts into the terms of the {@linkplain #index index}. An index that was made with other
         * words is refused; {@linkplain MessageIndex#clear clear} it to rebuild it. Default: {@link Words#standard()}.
         *
         * @param splitter the words
         * @return this builder
         */
        public Builder words(Words splitter) {
            this.words = InvalidInputException.given("words", splitter);
            return this;
        }

        /**
         * Sets the embedding model by which {@link Keepsake#recall()} also finds messages of the same meaning that have
         * no word of the question, and {@link Keepsake#longTermMemories()} such facts. The vectors are made in the background, after the {@linkplain #index index}, and are
         * kept in it. No append waits for the model. A question calls it once and waits at most 2 seconds; if it fails,
         * words alone decide. A long message has vectors of its first 4 parts of 1,000 characters. Default: none.
         *
         * @param model the model; it must be thread-safe. An index is required
         * @param name a name of your choice for exactly this model, at most {@value #MAX_MODEL_NAME} characters. If it
         * or the dimension changes, all vectors are made again in the background, and words serve meanwhile
         * @return this builder
         * @throws InvalidInputException if the name breaks a rule of ids or is too long
         */
        public Builder embeddingModel(EmbeddingModel model, String name) {
            Ids.check("name of the embedding model", name);
            InvalidInputException.checkRange(
                    "length of the name of the embedding model", 1, MAX_MODEL_NAME, name.length());
            this.embeddingModel = InvalidInputException.given("embeddingModel", model);
            this.embeddingModelName = name;
            return this;
        }

        /**
         * Sets how memories of conversations are made. Creators run in the background, on the {@linkplain #executor
         * executor}, at most one per conversation in all processes. No turn waits for them, even if they fail or hang.
         * They read the conversation's current branch. When a conversation is erased, its memories are too. After a
         * crash, a conversation gets its memories with its next turn in any process, or by {@link
         * LongTermMemories#make}. Default: none.
         *
         * @param creators creates and keeps the memories; the caller closes the store when the logs are no longer used
         * @param freshness the longest time from an append to the start of the creators, from zero to one day. Appends
         * within this time are processed together
         * @return this builder
         * @throws InvalidInputException if the creators have neither a model nor a workflow
         */
        public Builder longTermMemories(Discussions creators, Duration freshness) {
            if (!InvalidInputException.given("creators", creators).creates()) {
                throw new InvalidInputException(
                        "longTermMemories",
                        "need a model or a workflow that creates them: set Discussions.builder(…).chatModel(…)");
            }
            this.discussions = creators;
            this.memoriesFreshness = InvalidInputException.given("freshness", freshness);
            return this;
        }

        /**
         * Sets a store of memories that only the application writes, by {@link
         * io.github.keepsake4j.memories.LongTermMemoriesOfConversation#remember}: no model makes any.
         *
         * @param store keeps the memories; the caller closes it when the logs are no longer used
         * @return this builder
         */
        public Builder longTermMemories(LongTermMemoryStore store) {
            this.discussions = Discussions.builder(store).build();
            return this;
        }

        /**
         * Builds the {@link Keepsake}.
         *
         * @return a new {@link Keepsake}
         * @throws InvalidInputException if the message log or a required summarizer is missing, the tenant breaks a
         *     rule, or a duration is out of range
         * @throws KeepsakeException if the LangChain4j on the class path is too old. It names the required version
         */
        public Keepsake build() {
            LangChain4j.check();
            if (messageLog == null) {
                throw new InvalidInputException(
                        "messageLog", "is required, such as MessageLogs.sqlite(Path.of(\"chat.db\"))");
            }
            ContextStrategy limits = limits();
            exactBesideSteps(limits).ifPresent(LOG::warn);
            TokenCounter counter = loaded(counter(limits).forAppends());
            if (limits.summarizes() && summarizer == null) {
                throw new InvalidInputException(
                        "summarizer", "the strategy requires one, such as summarizer(chatModel)");
            }
            MessageSearch search = search(messageLog);
            MessageLog indexed = search == null ? messageLog : search.watched(messageLog);
            BackgroundCreators creators =
                    discussions == null ? null : creators(byMeaning(discussions, search), indexed);
            MessageLog kept = creators == null ? indexed : new ObservedLog(indexed, creators);
            // Every method accepts a node's key as a memory id, and the key must name the same memory everywhere.
            MessageLog undescribed =
                    importSource == null ? kept : importSource.ofTenant(tenant).importingInto(kept, counter);
            MessageLog separate = nodeLog == messageLog ? null : nodeLog;
            MessageLog undescribedNodes =
                    separate == null ? kept : search == null ? separate : search.watched(separate);
            MessageLog conversations = described(undescribed);
            MessageLog nodes = undescribedNodes == undescribed ? conversations : described(undescribedNodes);
            Function<MemoryKey, MessageLog> logs = key -> key instanceof NodeKey ? nodes : conversations;
            TurnLeases turns = new TurnLeases(
                    logs,
                    turnPolicy,
                    new TurnLeases.Times(turnLease, turnLimit, turnWait, BlockingWork::after, System::nanoTime));
            MemoryIds ids = new MemoryIds(tenant, acceptDefaultMemoryId, memoryIdMapper);
            SummaryWorker worker = summarizer == null
                    ? null
                    : new SummaryWorker(
                            logs,
                            summarizer,
                            counter,
                            executor,
                            metrics,
                            SummaryWorker.Options.of(
                                    summarizerTimeout, answer -> answer.contains(Summarization.MARKER.strip())));
            ChatMemories memories = new ChatMemories(new ChatSettings(
                    logs,
                    ids::key,
                    limits,
                    counter,
                    executor,
                    worker,
                    metrics,
                    keepRequests,
                    showRetrieved == ShowRetrieved.ALL_TURNS,
                    leavingViewListener,
                    remembered(limits, logs, counter),
                    turnLimit,
                    System::nanoTime,
                    turns,
                    new LogsOfConversation(undescribed, undescribedNodes, kept),
                    (key, task) -> logs.apply(key) instanceof DescribingLog log ? log.capture(key, task) : task));
            if (search != null) {
                search.start(tenant);
            }
            // A log with both is listed once.
            return new Keepsake(
                    ids,
                    conversations,
                    separate == null ? conversations : nodes,
                    turns,
                    memories,
                    search,
                    counter,
                    creators);
        }

        /** Returns the strategy with all limits, or what is the default without any. */
        private ContextStrategy limits() {
            ContextStrategy summaries = strategy != null || summarizer == null
                    ? strategy
                    : Summarization.triggerTokens(SUMMARY_TRIGGER).keepTokens(SUMMARY_KEEP);
            ContextStrategy tokens = maxTokens == null ? null : maxTokens.apply(counter(summaries));
            ContextStrategy limits = Stream.of(summaries, maxMessages, tokens)
                    .flatMap(Stream::ofNullable)
                    .reduce(ContextStrategy::and)
                    .orElseGet(SlidingWindow::standard);
            return steps ? limits.steps(ContextStrategy.THIRD) : limits;
        }

        /** Returns a warning if an exact limit changes the beginning of each prompt, so that another one's steps keep nothing. */
        static Optional<String> exactBesideSteps(ContextStrategy limits) {
            Map<Boolean, List<ContextStrategy>> bySteps = limits.parts().stream()
                    .filter(part -> part instanceof SlidingWindow || part instanceof TokenLimit)
                    .collect(Collectors.partitioningBy(part -> part.steps(ContextStrategy.THIRD) == part));
            List<ContextStrategy> exact = bySteps.getOrDefault(false, List.of());
            List<ContextStrategy> stepping = bySteps.getOrDefault(true, List.of());
            return exact.isEmpty() || stepping.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            "The limit " + exact + " is exact. When it is full, each prompt begins elsewhere, and a"
                                    + " prompt cache gains nothing from " + stepping
                                    + ". Call steps() on Keepsake's builder, so that all limits move in steps");
        }

        /** Returns what counts tokens, if a strategy may say it. */
        private TokenCounter counter(@Nullable ContextStrategy chosen) {
            if (estimator != null) {
                return TokenCounter.of(estimator);
            }
            return Optional.ofNullable(chosen)
                    .flatMap(ContextStrategy::tokenCounter)
                    .orElseGet(TokenCounter::standard);
        }

        /** Returns a counter. JTokkit's table is loaded at its first use, for which no turn should wait. */
        private static TokenCounter loaded(TokenCounter counter) {
            if (counter.name().equals(TokenCounter.standard().name())) {
                BlockingWork.EXECUTOR.execute(() -> counter.count("…"));
            }
            return counter;
        }

        private MessageLog described(MessageLog log) {
            return metadataAtCreation == null ? log : new DescribingLog(log, metadataAtCreation);
        }

        /** Returns the source of the long-term memories that the strategy shows. */
        private ChatSettings.Remembering remembered(
                ContextStrategy limits, Function<MemoryKey, MessageLog> logs, TokenCounter counter) {
            List<LongTermMemoryBlock> blocks = limits.parts().stream()
                    .filter(LongTermMemoryBlock.class::isInstance)
                    .map(LongTermMemoryBlock.class::cast)
                    .toList();
            if (blocks.isEmpty()) {
                return ChatSettings.Remembering.NONE;
            }
            if (blocks.size() > 1) {
                throw new InvalidInputException(
                        "strategy",
                        "must have at most one LongTermMemoryBlock, has " + blocks.size() + "; remove the others");
            }
            return blocks.get(0)
                            .source(
                                    required("longTermMemories", discussions).store(),
                                    logs,
                                    counter,
                                    BlockingWork.EXECUTOR)::apply;
        }

        private MessageSearch.@Nullable Embedding embedding() {
            return embeddingModel == null
                    ? null
                    : new MessageSearch.Embedding(
                            embeddingModel, embeddingModelName, BlockingWork.EXECUTOR, QUESTION_LIMIT, metrics);
        }

        private Discussions byMeaning(Discussions made, @Nullable MessageSearch search) {
            return search == null || embeddingModel == null ? made : made.on(new FactsByMeaning(made.store(), search));
        }

        private BackgroundCreators creators(Discussions made, MessageLog indexed) {
            return new BackgroundCreators(
                    made,
                    key -> indexed,
                    memoriesFreshness,
                    executor,
                    BlockingWork::after,
                    () -> Metrics.tell(
                            metrics, sink -> sink.passagePassedBy(made.store().backend())));
        }

        private @Nullable MessageSearch search(MessageLog log) {
            MessageIndex made = index;
            if (made == null) {
                if (embeddingModel != null) {
                    throw new InvalidInputException(
                            "embeddingModel", "needs an index, such as JdbcMessageIndex.sqlite(Path.of(\"index.db\"))");
                }
                return null;
            }
            MessageLog nodes = nodeLog == null ? log : nodeLog;
            return new MessageSearch(
                    made,
                    key -> key instanceof NodeKey ? nodes : log,
                    nodes == log ? List.of(log) : List.of(log, nodes),
                    words == null ? Words.standard() : words,
                    executor,
                    BlockingWork::after,
                    embedding());
        }
    }
}
