package io.github.keepsake4j.workflow;

import dev.langchain4j.model.TokenCountEstimator;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import java.net.InetAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the memories that a workflow engine's nodes use.
 *
 * <pre>{@code
 * WorkflowMemories memories = WorkflowMemories.builder()
 *         .conversationLog(JdbcMessageLog.postgres(dataSource))
 *         .nodeLog(nodeLog)
 *         .build();
 * NodeTokenBufferMemory memory = memories.node(NodeKey.of("tenant", "app", "conversation", "node"));
 * }</pre>
 *
 * <p>Thread-safe; one per application is enough. The logs stay their makers' to close.
 */
public final class WorkflowMemories {

    private static final Logger LOG = LoggerFactory.getLogger(WorkflowMemories.class);
    private static final int REMEMBERED_NODES = 10_000;

    private final WorkflowSettings settings;
    private final MissingConversation missingConversation;
    private final boolean countsByModel;

    /** Nodes that were told of already; shared by what is made of this. */
    private final Map<String, Boolean> told;

    private static Map<String, Boolean> remembered() {
        return Collections.synchronizedMap(new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                return size() > REMEMBERED_NODES;
            }
        });
    }

    private WorkflowMemories(
            WorkflowSettings settings,
            MissingConversation missingConversation,
            boolean countsByModel,
            Map<String, Boolean> told) {
        this.settings = settings;
        this.missingConversation = missingConversation;
        this.countsByModel = countsByModel;
        this.told = told;
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
     * Counts as a model does, unless an estimator was configured. {@link LlmNode} does this with its own model.
     *
     * @param modelName the model's name, or null if it is not known
     * @return memories over the same logs whose limits are meant in that model's tokens; these if nothing is known of it
     */
    public WorkflowMemories countingFor(@Nullable String modelName) {
        if (!countsByModel || modelName == null) {
            return this;
        }
        JtokkitTokenCountEstimator models;
        try {
            models = JtokkitTokenCountEstimator.forModel(modelName);
        } catch (InvalidInputException e) {
            return this;
        }
        TokenCounter counter = TokenCounter.of(models);
        return new WorkflowMemories(
                settings.counting(models, new TokenCounts(counter, counter)), missingConversation, true, told);
    }

    /**
     * Returns the memory of a conversation.
     *
     * @param key the conversation
     * @return the memory; no I/O
     * @throws InvalidInputException if there is no log of conversations
     */
    public TokenBufferMemory conversation(MemoryKey key) {
        MessageLog log = settings.conversations();
        if (log == null) {
            throw new InvalidInputException("conversationLog", "is required for memories of conversations");
        }
        return new TokenBufferMemory(key, log, settings);
    }

    /**
     * Returns the memory of a node.
     *
     * @param key the node within a conversation
     * @return a new memory for one run of the node; no I/O
     * @throws InvalidInputException if there is no log of nodes
     */
    public NodeTokenBufferMemory node(NodeKey key) {
        return node(key, null);
    }

    NodeTokenBufferMemory node(NodeKey key, @Nullable Integer messageLimit) {
        MessageLog log = settings.nodes();
        if (log == null) {
            throw new InvalidInputException("nodeLog", "is required for memories of nodes");
        }
        return new NodeTokenBufferMemory(key, log, settings, messageLimit);
    }

    /**
     * Returns the memory that a node's configuration asks for.
     *
     * @param config the configuration, or null for no memory
     * @param tenantId the tenant
     * @param appId the application
     * @param conversationId the conversation, or null where the engine runs without one
     * @param nodeId the node
     * @return one memory at most; none without a configuration or a conversation
     * @throws InvalidInputException if an id breaks a rule, or the node asks for a memory of its own, there is no
     *     conversation, and {@link MissingConversation#ERROR} is configured
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
                    : new Selection(conversation(ConversationKey.of(tenantId, given)), null);
        }
        if (given == null) {
            tellOnce(tenantId, appId, nodeId);
            if (missingConversation == MissingConversation.ERROR) {
                throw new InvalidInputException(
                        "conversation_id", "is required by the memory mode \"node\"; use a chat flow, or another mode");
            }
            return Selection.NONE;
        }
        NodeKey key = NodeKey.of(tenantId, appId, given, nodeId);
        return new Selection(null, node(key, config.messageLimit()));
    }

    /**
     * What a configuration asks for: one of the two at most.
     *
     * @param conversation the conversation's memory, or null
     * @param node the node's memory, or null
     */
    public record Selection(@Nullable TokenBufferMemory conversation, @Nullable NodeTokenBufferMemory node) {

        /** No memory. */
        public static final Selection NONE = new Selection(null, null);
    }

    WorkflowSettings settings() {
        return settings;
    }

    private void tellOnce(String tenantId, String appId, String nodeId) {
        String node = MemoryKey.encode(tenantId) + "/" + MemoryKey.encode(appId) + "/" + MemoryKey.encode(nodeId);
        if (told.put(node, true) == null) {
            LOG.warn("Node {}: its memory mode is \"node\", but it runs without a conversation id: no memory", node);
        }
    }

    /** Configures {@link WorkflowMemories}. Not thread-safe. */
    public static final class Builder {

        private @Nullable MessageLog conversationLog;
        private @Nullable MessageLog nodeLog;
        private @Nullable TokenCountEstimator estimator;
        private boolean estimatorIsRemote;
        private FileResolver fileResolver = FileResolver.NONE;
        private FileContentSource fileContents = FileContentSource.NONE;
        private MissingConversation missingConversation = MissingConversation.NO_MEMORY;
        private RemoteUrls.Names names = InetAddress::getAllByName;
        private boolean fetchesRemoteFiles;

        private Builder() {}

        /**
         * Sets where conversations are kept. It also bridges turns in which a node did not run.
         *
         * @param log the log
         * @return this builder
         */
        public Builder conversationLog(MessageLog log) {
            this.conversationLog = Objects.requireNonNull(log, "conversationLog");
            return this;
        }

        /**
         * Sets where memories of nodes are kept.
         *
         * @param log the log
         * @return this builder
         */
        public Builder nodeLog(MessageLog log) {
            this.nodeLog = Objects.requireNonNull(log, "nodeLog");
            return this;
        }

        /**
         * Sets what limits are meant in. Unless said otherwise it is the encoding of the {@linkplain #countingFor model in
         * use}, or OpenAI's since GPT-4o.
         *
         * @param tokenCountEstimator a fast, local estimator
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = Objects.requireNonNull(tokenCountEstimator, "tokenCountEstimator");
            this.estimatorIsRemote = false;
            return this;
        }

        /**
         * Sets what limits are meant in, where counting asks a server. It is never called when a turn is written: what is
         * stored is our own count, and a message is counted again when it is first read.
         *
         * @param tokenCountEstimator an estimator of any kind
         * @return this builder
         */
        public Builder remoteTokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = Objects.requireNonNull(tokenCountEstimator, "tokenCountEstimator");
            this.estimatorIsRemote = true;
            return this;
        }

        /**
         * Sets what finds files; nothing unless said otherwise, so that placeholders are shown.
         *
         * @param resolver the resolver, such as {@link JdbcFileResolver}
         * @return this builder
         */
        public Builder fileResolver(FileResolver resolver) {
            this.fileResolver = Objects.requireNonNull(resolver, "fileResolver");
            return this;
        }

        /**
         * Sets what gives the content of files that were found.
         *
         * @param source the source
         * @return this builder
         */
        public Builder fileContentSource(FileContentSource source) {
            this.fileContents = Objects.requireNonNull(source, "fileContentSource");
            return this;
        }

        /**
         * Sets what a node with a memory of its own does where there is no conversation; it runs without memory unless
         * said otherwise.
         *
         * @param policy the policy
         * @return this builder
         */
        public Builder missingConversation(MissingConversation policy) {
            this.missingConversation = Objects.requireNonNull(policy, "missingConversation");
            return this;
        }

        /**
         * Fetches images and documents of the open web here, up to 5 redirects far, and gives the model their bytes. Unless
         * this is said, their URLs are passed on as they are, and whoever fetches them decides where redirects may lead:
         * say it where that is something within your own network. In both cases a URL that points inside is refused.
         *
         * @return this builder
         */
        public Builder fetchRemoteFiles() {
            this.fetchesRemoteFiles = true;
            return this;
        }

        /** For tests: what names resolve to. */
        Builder names(RemoteUrls.Names resolved) {
            this.names = resolved;
            return this;
        }

        /**
         * Makes the {@link WorkflowMemories}.
         *
         * @return a new one
         * @throws InvalidInputException if there is no log at all
         */
        public WorkflowMemories build() {
            if (conversationLog == null && nodeLog == null) {
                throw new InvalidInputException("nodeLog", "is required, or a conversationLog");
            }
            RemoteUrls remote = new RemoteUrls(names);
            Files files = new Files(
                    fileResolver, fileContents, remote, fetchesRemoteFiles ? new RemoteFetcher(remote) : null);
            TokenCountEstimator counting =
                    estimator == null ? JtokkitTokenCountEstimator.forEncoding("o200k_base") : estimator;
            TokenCounter counter = TokenCounter.of(counting);
            TokenCounts counts = new TokenCounts(counter, estimatorIsRemote ? TokenCounter.standard() : counter);
            return new WorkflowMemories(
                    new WorkflowSettings(conversationLog, nodeLog, counting, counts, files),
                    missingConversation,
                    estimator == null,
                    remembered());
        }
    }
}
