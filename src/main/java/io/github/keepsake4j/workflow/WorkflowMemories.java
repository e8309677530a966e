package io.github.keepsake4j.workflow;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.workflow.files.FileContentSource;
import io.github.keepsake4j.workflow.files.FileRebuilder;
import io.github.keepsake4j.workflow.files.FileResolver;
import io.github.keepsake4j.workflow.files.RemoteHosts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the memories that a workflow engine's nodes use.
 *
 * <pre>{@code
 * WorkflowMemories memories = WorkflowMemories.builder()
 *         .conversationLog(PostgresMessageLog.open(dataSource))
 *         .nodeLog(nodeLog)
 *         .build();
 * NodeTokenBufferMemory memory = memories.node(NodeKey.of("tenant", "app", "conversation", "node"));
 * }</pre>
 *
 * <p>Thread-safe; one instance per application is enough. The creators of the logs remain responsible for closing them.
 */
public final class WorkflowMemories {

    private static final Logger LOG = LoggerFactory.getLogger(WorkflowMemories.class);
    private static final int REMEMBERED_NODES = 10_000;

    /** The configuration of a memory for which none is given. */
    private static final MemoryConfig UNCONFIGURED = MemoryConfig.of(MemoryMode.CONVERSATION);

    final WorkflowSettings settings;
    private final boolean requiresConversation;
    private final boolean countsByModel;

    /** The nodes for which a warning was logged already. Copies of this object share it. */
    private final RecentlyUsed<String, Boolean> told;

    private WorkflowMemories(
            WorkflowSettings settings,
            boolean requiresConversation,
            boolean countsByModel,
            RecentlyUsed<String, Boolean> told) {
        this.settings = settings;
        this.requiresConversation = requiresConversation;
        this.countsByModel = countsByModel;
        this.told = told;
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
     * Returns memories that count tokens as a model does. Changes nothing if an estimator was configured.
     * {@link LlmNode} calls this method with its own model.
     *
     * @param modelName the model's name, or null if it is not known
     * @return memories over the same logs, with limits in the model's tokens; this object if an estimator was
     *     configured or the model is unknown
     */
    public WorkflowMemories countingFor(@Nullable String modelName) {
        if (!countsByModel || modelName == null) {
            return this;
        }
        try {
            TokenCounter counter = TokenCounter.of(JtokkitTokenCountEstimator.forModel(modelName));
            return new WorkflowMemories(
                    settings.counting(new NodeTokenCounts(counter, counter)), requiresConversation, true, told);
        } catch (InvalidInputException e) {
            return this;
        }
    }

    /**
     * Returns the memory of a conversation.
     *
     * @param key the conversation
     * @return the memory; this method does no I/O
     * @throws InvalidInputException if no conversation log was configured
     */
    public TokenBufferMemory conversation(MemoryKey key) {
        return conversation(key, UNCONFIGURED);
    }

    private TokenBufferMemory conversation(MemoryKey key, MemoryConfig config) {
        MessageLog log = settings.conversations();
        if (log == null) {
            throw new InvalidInputException(
                    "conversationLog",
                    "is required for memories of conversations; set WorkflowMemories.builder().conversationLog(...)");
        }
        return new TokenBufferMemory(key, log, settings, config);
    }

    /**
     * Returns the memory of a node.
     *
     * @param key the node within a conversation
     * @return a new memory for one run of the node; this method does no I/O
     * @throws InvalidInputException if no node log was configured
     */
    public NodeTokenBufferMemory node(NodeKey key) {
        return node(key, UNCONFIGURED);
    }

    private NodeTokenBufferMemory node(NodeKey key, MemoryConfig config) {
        MessageLog log = settings.nodes();
        if (log == null) {
            throw new InvalidInputException(
                    "nodeLog", "is required for memories of nodes; set WorkflowMemories.builder().nodeLog(...)");
        }
        return new NodeTokenBufferMemory(key, log, settings, config);
    }

    /**
     * Returns the memory that a node's configuration selects.
     *
     * @param config the configuration, or null for no memory
     * @param tenantId the tenant
     * @param appId the application
     * @param conversationId the conversation, or null if the engine runs without one
     * @param nodeId the node
     * @return at most one memory; none without a configuration or a conversation
     * @throws InvalidInputException if an id breaks a rule, if the log of the selected memory was not configured, or if
     *     a node with its own memory runs without a {@linkplain Builder#requireConversation required} conversation
     */
    public Selection select(
            @Nullable MemoryConfig config,
            String tenantId,
            String appId,
            @Nullable String conversationId,
            String nodeId) {
        if (config == null) {
            return Selection.NONE;
        }
        String given = conversationId == null || conversationId.isEmpty() ? null : conversationId;
        if (config.mode() == MemoryMode.CONVERSATION) {
            return given == null
                    ? Selection.NONE
                    : new Selection(conversation(ConversationKey.of(tenantId, given), config), null);
        }
        if (given == null) {
            tellOnce(tenantId, appId, nodeId);
            if (requiresConversation) {
                throw new InvalidInputException(
                        "conversation_id", "is required by the memory mode \"node\"; use a chat flow or another mode");
            }
            return Selection.NONE;
        }
        return new Selection(null, node(NodeKey.of(tenantId, appId, given, nodeId), config));
    }

    /**
     * The memory that a configuration selects: at most one of the two.
     *
     * @param conversation the conversation's memory, or null
     * @param node the node's memory, or null
     */
    public record Selection(@Nullable TokenBufferMemory conversation, @Nullable NodeTokenBufferMemory node) {

        /** No memory. */
        public static final Selection NONE = new Selection(null, null);
    }

    private void tellOnce(String tenantId, String appId, String nodeId) {
        String node = MemoryKey.encode(tenantId) + "/" + MemoryKey.encode(appId) + "/" + MemoryKey.encode(nodeId);
        if (told.put(node, true)) {
            LOG.warn(
                    "Node {}: its memory mode is \"node\", but it runs without a conversation id, so it has no memory",
                    node);
        }
    }

    /** A builder of {@link WorkflowMemories}. Not thread-safe. */
    public static final class Builder {

        private @Nullable MessageLog conversationLog;
        private @Nullable MessageLog nodeLog;
        private @Nullable TokenCountEstimator estimator;
        private boolean estimatorIsRemote;
        private FileResolver fileResolver = FileResolver.NONE;
        private FileContentSource fileContents = FileContentSource.NONE;
        private boolean requiresConversation;
        private RemoteHosts remoteHosts = RemoteHosts.openWeb();
        private Metrics metrics = Metrics.NONE;
        private boolean keepRequests;

        private Builder() {}

        /**
         * Sets the log of conversations. A node's memory also reads it to place a turn whose parent is not in that
         * memory. Default: none; {@link #nodeLog} is required then.
         *
         * @param log the log
         * @return this builder
         */
        public Builder conversationLog(MessageLog log) {
            this.conversationLog = InvalidInputException.given("conversationLog", log);
            return this;
        }

        /**
         * Sets the log of the nodes' memories. Default: none; {@link #conversationLog} is required then.
         *
         * @param log the log
         * @return this builder
         */
        public Builder nodeLog(MessageLog log) {
            this.nodeLog = InvalidInputException.given("nodeLog", log);
            return this;
        }

        /**
         * Sets the estimator that defines the tokens of limits. Default: the encoding of the
         * {@linkplain #countingFor model in use}, or the encoding of OpenAI's models since GPT-4o.
         *
         * @param tokenCountEstimator a fast, local estimator
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = InvalidInputException.given("tokenCountEstimator", tokenCountEstimator);
            this.estimatorIsRemote = false;
            return this;
        }

        /**
         * Sets the estimator that defines the tokens of limits and may call a server; see {@link TokenCounter#remote}.
         * It is never called when a turn is written: this library's own estimator counts the turn then, and the given
         * one counts it when it is first read. Default: see {@link #tokenCountEstimator}.
         *
         * @param tokenCountEstimator an estimator of any kind
         * @return this builder
         */
        public Builder remoteTokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = InvalidInputException.given("tokenCountEstimator", tokenCountEstimator);
            this.estimatorIsRemote = true;
            return this;
        }

        /**
         * Sets the resolver of files. Default: {@link FileResolver#NONE}, which shows placeholders.
         *
         * @param resolver the resolver, such as {@link io.github.keepsake4j.workflow.files.jdbc.JdbcFileResolver}
         * @return this builder
         */
        public Builder fileResolver(FileResolver resolver) {
            this.fileResolver = InvalidInputException.given("fileResolver", resolver);
            return this;
        }

        /**
         * Sets the source of the files' contents. Default: {@link FileContentSource#NONE}.
         *
         * @param source the source
         * @return this builder
         */
        public Builder fileContentSource(FileContentSource source) {
            this.fileContents = InvalidInputException.given("fileContentSource", source);
            return this;
        }

        /**
         * Makes {@link #select} fail if a node with its own memory runs without a conversation. Default: such a node
         * has no memory, and a warning is logged once for each node.
         *
         * @return this builder
         */
        public Builder requireConversation() {
            this.requiresConversation = true;
            return this;
        }

        /**
         * Sets the hosts whose URLs may be passed to a model: only those of a list, or every host of the open web.
         * Default: {@link RemoteHosts#openWeb()}, which refuses a URL that points to an internal address or whose host
         * cannot be resolved.
         *
         * @param hosts the rule
         * @return this builder
         */
        public Builder remoteHosts(RemoteHosts hosts) {
            this.remoteHosts = InvalidInputException.given("hosts", hosts);
            return this;
        }

        /**
         * Sets the metrics sink. It counts the turns that a limit of tokens leaves out of a history, and the runs that
         * have no room for a history. Default: {@link Metrics#NONE}.
         *
         * @param sink the metrics
         * @return this builder
         */
        public Builder metrics(Metrics sink) {
            this.metrics = InvalidInputException.given("metrics", sink);
            return this;
        }

        /**
         * Makes {@link LlmNode} store whole requests with its answers, as the model received them. A request is stored
         * only if it differs from the stored messages, for example by a system prompt, a template or the contents of
         * files. {@code Keepsake.conversation(key).seenBy(answerId)} returns it. It is stored in full, and erased with
         * the memory. Default: not stored; {@code altered()} says that there was a difference.
         *
         * @return this builder
         */
        public Builder keepRequests() {
            this.keepRequests = true;
            return this;
        }

        /**
         * Creates the {@link WorkflowMemories}.
         *
         * @return a new object
         * @throws InvalidInputException if neither log was set
         */
        public WorkflowMemories build() {
            if (conversationLog == null && nodeLog == null) {
                throw new InvalidInputException("nodeLog", "is required unless a conversationLog is set");
            }
            FileRebuilder files = FileRebuilder.of(fileResolver, fileContents, remoteHosts);
            TokenCountEstimator counting =
                    estimator == null ? JtokkitTokenCountEstimator.forEncoding("o200k_base") : estimator;
            TokenCounter named = TokenCounter.of(counting);
            TokenCounter counter = estimatorIsRemote ? TokenCounter.remote(named.name(), counting) : named;
            NodeTokenCounts counts = new NodeTokenCounts(counter, counter.forAppends());
            return new WorkflowMemories(
                    new WorkflowSettings(conversationLog, nodeLog, counts, files, metrics, keepRequests),
                    requiresConversation,
                    estimator == null,
                    new RecentlyUsed<>(REMEMBERED_NODES));
        }
    }
}
