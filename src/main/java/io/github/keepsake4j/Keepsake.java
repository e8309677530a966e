package io.github.keepsake4j;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.TurnConflictException;
import io.github.keepsake4j.turn.TurnHandle;
import io.github.keepsake4j.turn.TurnLeases;
import io.github.keepsake4j.turn.TurnPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: chat memories for LangChain4j over a log that keeps every message.
 *
 * <pre>{@code
 * Keepsake keepsake = Keepsake.builder()
 *         .messageLog(JdbcMessageLog.sqlite(Path.of("chat.db")))
 *         .strategy(SlidingWindow.withMaxMessages(50))
 *         .build();
 * Assistant assistant = AiServices.builder(Assistant.class)
 *         .chatModel(model)
 *         .chatMemoryProvider(keepsake.chatMemoryProvider())
 *         .build();
 * }</pre>
 *
 * <p>Immutable and thread-safe; one per application is enough. It owns nothing that needs closing: the log is its
 * maker's to close.
 */
public final class Keepsake {

    private final String tenant;
    private final MessageLog log;
    private final TurnLeases turns;
    private final ChatMemories memories;
    private final ChatMemories nodeMemories;
    private final KeepsakeChatMemoryStore store;

    private Keepsake(
            String tenant, MessageLog log, TurnLeases turns, ChatMemories memories, ChatMemories nodeMemories) {
        this.tenant = tenant;
        this.log = log;
        this.turns = turns;
        this.memories = memories;
        this.nodeMemories = nodeMemories;
        this.store = memories.store();
    }

    /**
     * Starts a configuration.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns what {@code AiServices.builder(...).chatMemoryProvider(...)} takes. Getting a memory does no I/O, and a
     * memory that is not in a turn holds no messages, so a million of them are cheap.
     *
     * @return a provider of {@link KeepsakeChatMemory}
     */
    public ChatMemoryProvider chatMemoryProvider() {
        return this::chatMemory;
    }

    /**
     * Returns one memory, for use without a provider.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the memory
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public KeepsakeChatMemory chatMemory(Object memoryId) {
        return memories.memory(memoryId, memories.key(memoryId));
    }

    /**
     * Returns what {@code AiServices.builder(...).chatRequestTransformer(...)} takes, for limits on the whole request: a
     * memory's limits bound what it shows, and the new user message and the tools come on top. With this, the strategy is
     * applied to all of it, so that older turns give way. If the new message and the tools alone are over the limits, the
     * call fails with a {@link ContextOverflowException} and the model is not asked.
     *
     * <p>Tool specifications are counted as the text that describes them. What the memory handed out is not counted again;
     * everything else in the request is, by the memory's estimator, once for each request.
     *
     * @return the transformer, thread-safe
     */
    public BiFunction<ChatRequest, Object, ChatRequest> requestBudget() {
        return memories.requestBudget();
    }

    /**
     * Returns what {@code MessageWindowChatMemory.builder().id(...).chatMemoryStore(...)} and other chat memories take that
     * rewrite a list: what they drop from it stays in the history. Such a memory decides itself what the model sees, so the
     * strategy of this {@link Keepsake} does not apply.
     *
     * @return the store, always the same one
     */
    public KeepsakeChatMemoryStore chatMemoryStore() {
        return store;
    }

    /**
     * Returns a memory as an application or its user interface sees it.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return a handle; no I/O
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public Conversation conversation(Object memoryId) {
        return memories.conversation(memoryId, memories.key(memoryId));
    }

    /**
     * Returns the memories that nodes of an application have within its conversations, such as agents or steps of a
     * workflow that each keep a history of their own.
     *
     * @param appId the application's id within the tenant
     * @return the memories; no I/O
     * @throws InvalidInputException if the id breaks a rule
     */
    public NodeMemories nodes(String appId) {
        return new NodeMemories(Ids.check("app id", appId), nodeMemories);
    }

    /**
     * Runs a whole turn, such as one call of an AI service, under the configured policy. A turn that keeps others out
     * does so by a lease in the log, so it counts in every process, and is over when the process is. What is added outside
     * of such a turn is never held up.
     *
     * <p>A turn within a turn of the same memory on the same thread only runs its body.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param body the turn; on the caller's thread, and not begun if this throws one of the errors below
     * @param <T> what the turn returns
     * @return what the body returned
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public <T extends @Nullable Object> T turn(Object memoryId, Supplier<? extends T> body) {
        return turns.run(memories.key(memoryId), null, body);
    }

    /**
     * Does {@link #turn(Object, Supplier)} under a policy of its own.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param policy what to do when another turn is going on
     * @param body the turn
     * @param <T> what the turn returns
     * @return what the body returned
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public <T extends @Nullable Object> T turn(Object memoryId, TurnPolicy policy, Supplier<? extends T> body) {
        return turns.run(memories.key(memoryId), Objects.requireNonNull(policy, "policy"), body);
    }

    /**
     * Begins a turn that ends elsewhere, such as in the callback of a streaming model, under the configured policy. With
     * {@link TurnPolicy#WAIT} it is this call that waits. Until the handle is closed, another turn of the memory is
     * another turn even on this thread; so a turn that waits for a handle of its own thread waits in vain.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @return the handle, to be closed at the end of the turn, by any thread
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public TurnHandle openTurn(Object memoryId) {
        return turns.open(memories.key(memoryId), null);
    }

    /**
     * Does {@link #openTurn(Object)} under a policy of its own.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param policy what to do when another turn is going on
     * @return the handle, to be closed at the end of the turn, by any thread
     * @throws TurnConflictException if another turn is going on, and this one is rejected or has waited long enough
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public TurnHandle openTurn(Object memoryId, TurnPolicy policy) {
        return turns.open(memories.key(memoryId), Objects.requireNonNull(policy, "policy"));
    }

    /**
     * Lists the memories of the tenant that plain ids belong to, newest first.
     *
     * @param query the page
     * @return the page
     */
    public MemoryPage conversations(ListQuery query) {
        return log.list(tenant, query);
    }

    /** Configures a {@link Keepsake}. Not thread-safe. */
    public static final class Builder {

        private @Nullable MessageLog messageLog;
        private @Nullable MessageLog nodeLog;
        private ContextStrategy strategy = SlidingWindow.withMaxMessages(50);
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
        private Duration turnWait = Duration.ofSeconds(60);

        private Builder() {}

        /**
         * Sets where messages are kept. Required.
         *
         * @param log the log
         * @return this builder
         */
        public Builder messageLog(MessageLog log) {
            this.messageLog = Objects.requireNonNull(log, "messageLog");
            return this;
        }

        /**
         * Sets where the memories of {@linkplain Keepsake#nodes nodes} are kept, also where a
         * {@link io.github.keepsake4j.message.NodeKey} is the memory id; with the others unless said otherwise.
         *
         * @param log the log
         * @return this builder
         */
        public Builder nodeLog(MessageLog log) {
            this.nodeLog = Objects.requireNonNull(log, "nodeLog");
            return this;
        }

        /**
         * Sets what a model sees. The newest 50 messages unless said otherwise.
         *
         * @param contextStrategy the strategy
         * @return this builder
         */
        public Builder strategy(ContextStrategy contextStrategy) {
            this.strategy = Objects.requireNonNull(contextStrategy, "strategy");
            return this;
        }

        /**
         * Sets what counts messages when they are appended. Unless said otherwise it is the strategy's estimator, or for
         * a strategy without one {@link TokenCounter#standard()}.
         *
         * @param tokenCountEstimator a fast, local estimator: it is called for every message
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = Objects.requireNonNull(tokenCountEstimator, "tokenCountEstimator");
            return this;
        }

        /**
         * Sets what writes the summaries that a {@link Summarization} shows. It is called in the background, on the
         * {@linkplain #executor executor}; no turn waits for it.
         *
         * @param writer the summarizer, such as {@link Summarizer#of}
         * @return this builder
         */
        public Builder summarizer(Summarizer writer) {
            this.summarizer = Objects.requireNonNull(writer, "summarizer");
            return this;
        }

        /**
         * Sets how long one call of the summarizer may take; 60 seconds unless said otherwise. If a process is killed
         * while it summarizes, another one takes over after a sixth more than this.
         *
         * @param longest from a millisecond to a day
         * @return this builder
         */
        public Builder summarizerTimeout(Duration longest) {
            this.summarizerTimeout = Objects.requireNonNull(longest, "summarizerTimeout");
            return this;
        }

        /**
         * Sets what counts what happens; nothing unless said otherwise. README has the table of what is counted.
         *
         * @param sink the metrics, such as {@code MicrometerMetrics}
         * @return this builder
         */
        public Builder metrics(Metrics sink) {
            this.metrics = Objects.requireNonNull(sink, "metrics");
            return this;
        }

        /**
         * Sets what runs the asynchronous methods, which block while they wait for storage, and summarizers. Threads of our own, as many
         * as there are calls, unless said otherwise; virtual ones where Java has them.
         *
         * @param blockingExecutor the executor; stays the caller's to shut down
         * @return this builder
         */
        public Builder executor(Executor blockingExecutor) {
            this.executor = Objects.requireNonNull(blockingExecutor, "executor");
            return this;
        }

        /**
         * Sets the tenant that plain memory ids belong to; {@code "default"} unless said otherwise. A {@link MemoryKey}
         * as memory id names its own.
         *
         * @param tenantId the tenant's id
         * @return this builder
         */
        public Builder tenant(String tenantId) {
            this.tenant = Objects.requireNonNull(tenantId, "tenant");
            return this;
        }

        /**
         * Accepts {@code "default"} as a memory id, which LangChain4j passes when a method has no {@code @MemoryId}. Only
         * for applications with one user: all who give no id share this memory.
         *
         * @return this builder
         */
        public Builder acceptDefaultMemoryId() {
            this.acceptDefaultMemoryId = true;
            return this;
        }

        /**
         * Takes memory ids of other types than {@link MemoryKey}, String, number and UUID.
         *
         * @param mapper makes the key; equal ids must give equal keys
         * @return this builder
         */
        public Builder memoryIdMapper(Function<Object, MemoryKey> mapper) {
            this.memoryIdMapper = Objects.requireNonNull(mapper, "memoryIdMapper");
            return this;
        }

        /**
         * Sets what {@link Keepsake#turn(Object, Supplier)} does when another turn is going on;
         * {@link TurnPolicy#KEEP} unless said otherwise.
         *
         * @param policy the policy
         * @return this builder
         */
        public Builder turnPolicy(TurnPolicy policy) {
            this.turnPolicy = Objects.requireNonNull(policy, "turnPolicy");
            return this;
        }

        /**
         * Sets how long a turn keeps others out after its begin or its newest append; 60 seconds unless said otherwise.
         * Longer than the slowest answer or tool, since others begin when it has passed; and no longer than others may
         * have to wait for a process that was killed.
         *
         * @param lease from a millisecond to a day
         * @return this builder
         */
        public Builder turnLease(Duration lease) {
            this.turnLease = Objects.requireNonNull(lease, "turnLease");
            return this;
        }

        /**
         * Sets how long a turn under {@link TurnPolicy#WAIT} waits at most; 60 seconds unless said otherwise.
         *
         * @param longestWait from zero to a day
         * @return this builder
         */
        public Builder turnWait(Duration longestWait) {
            this.turnWait = Objects.requireNonNull(longestWait, "turnWait");
            return this;
        }

        /**
         * Makes the {@link Keepsake}.
         *
         * @return a new one
         * @throws InvalidInputException if there is no message log, the tenant breaks a rule, or a duration is out of range
         */
        public Keepsake build() {
            if (messageLog == null) {
                throw new InvalidInputException(
                        "messageLog", "is required, such as JdbcMessageLog.sqlite(Path.of(\"chat.db\"))");
            }
            TokenCounter counter = estimator != null
                    ? TokenCounter.of(estimator)
                    : strategy.tokenCounter().orElseGet(TokenCounter::standard);
            if (strategy.summarizes() && summarizer == null) {
                throw new InvalidInputException(
                        "summarizer", "is required by the strategy, such as Summarizer.of(chatModel)");
            }
            // A node's key can be a memory id anywhere, and must not name another memory there.
            MessageLog log = nodeLog == null ? messageLog : new ScopedLog(messageLog, nodeLog);
            // One for both: a turn on a node's memory is the same turn by whichever way its messages are added.
            TurnLeases turns = new TurnLeases(log, turnPolicy, turnLease, turnWait);
            ChatMemories conversations = memories(log, counter, turns);
            return new Keepsake(
                    tenant,
                    log,
                    turns,
                    conversations,
                    nodeLog == null ? conversations : memories(nodeLog, counter, turns));
        }

        private ChatMemories memories(MessageLog log, TokenCounter counter, TurnLeases turns) {
            return ChatMemories.of(
                    log,
                    new ChatMemories.IdRules(tenant, acceptDefaultMemoryId, memoryIdMapper),
                    strategy,
                    counter,
                    executor,
                    turns,
                    summarizer == null ? null : worker(log, summarizer, counter),
                    metrics);
        }

        private SummaryWorker worker(MessageLog log, Summarizer written, TokenCounter counter) {
            SummaryWorker.Options options = SummaryWorker.Options.standard(log.backend())
                    .callTimeout(summarizerTimeout)
                    .reserving(answer -> answer.contains(Summarization.MARKER.strip()));
            return new SummaryWorker(log, written, counter, executor, metrics, options);
        }
    }
}
