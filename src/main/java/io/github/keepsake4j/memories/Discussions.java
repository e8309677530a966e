package io.github.keepsake4j.memories;

import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Long-term memories of discussions. The entry point of this package.
 *
 * <p>Immutable and thread-safe. The caller closes the store.
 */
public final class Discussions {

    private final LongTermMemoryStore store;
    final Creator creator;
    final Map<String, LongTermMemoryRetriever> retrievers;
    final Trust leastTrust;
    final boolean userTextOnly;

    private Discussions(Builder builder) {
        store = builder.store;
        leastTrust = builder.leastTrust;
        userTextOnly = builder.userTextOnly;
        Map<String, LongTermMemoryRetriever> all = new HashMap<>(Retrievers.byName());
        ServiceLoader.load(LongTermMemoryRetrieverFactory.class).forEach(factory -> all.putAll(factory.retrievers()));
        all.putAll(builder.retrievers);
        retrievers = Map.copyOf(all);
        creator = new Creator(builder);
    }

    private Discussions(Discussions other, LongTermMemoryStore store) {
        this.store = InvalidInputException.given("store", store);
        leastTrust = other.leastTrust;
        userTextOnly = other.userTextOnly;
        retrievers = other.retrievers;
        creator = other.creator.on(store);
    }

    /**
     * Starts the configuration.
     *
     * @param store keeps the memories
     * @return a new builder
     */
    public static Builder builder(LongTermMemoryStore store) {
        return new Builder(store);
    }

    /**
     * Returns a discussion. Cheap: reads nothing.
     *
     * @param key the discussion's key, or null to persist nothing
     * @return the discussion
     */
    public Discussion discussion(@Nullable MemoryKey key) {
        return discussion(key, () -> {});
    }

    /**
     * Returns a discussion that calls a listener for each skipped passage.
     *
     * @param key the conversation, or null for none
     * @param onPassedBy called for each skipped passage; it must be fast
     * @return a new discussion
     */
    public Discussion discussion(@Nullable MemoryKey key, Runnable onPassedBy) {
        return new Discussion(this, key, onPassedBy);
    }

    /**
     * Returns a discussion. Cheap: reads nothing.
     *
     * @param tenant the tenant's or the user's id
     * @param discussionId the discussion's id, or null to persist nothing
     * @return the discussion
     * @throws InvalidInputException if an id breaks a rule of {@link io.github.keepsake4j.message.Ids#check}
     */
    public Discussion discussion(String tenant, @Nullable String discussionId) {
        return discussion(discussionId == null ? null : ConversationKey.of(tenant, discussionId));
    }

    /**
     * Returns memories with the same configuration in another store.
     *
     * @param other the store, such as one that wraps {@link #store}
     * @return a copy
     */
    public Discussions on(LongTermMemoryStore other) {
        return new Discussions(this, other);
    }

    /**
     * Returns whether memories are created. Without a model and a workflow, they can only be read.
     *
     * @return whether they are
     */
    public boolean creates() {
        return !creator.memories.equals(DirectPrompts.MISSING);
    }

    /**
     * Returns the store.
     *
     * @return the store of the memories
     */
    public LongTermMemoryStore store() {
        return store;
    }

    /** Configures the memories. Not thread-safe. */
    public static final class Builder {

        final LongTermMemoryStore store;
        private final Map<String, LongTermMemoryWorkflow> workflows = new HashMap<>();
        private final Map<String, LongTermMemoryRetriever> retrievers = new HashMap<>();
        DiscussionConfig config = DiscussionConfig.DEFAULT;
        TokenCountEstimator estimator = TokenCounter.standard();
        Duration leaseDuration = Duration.ofMinutes(5);
        Clock clock = Clock.systemUTC();
        private Trust leastTrust = Trust.RETRIEVED;
        private boolean userTextOnly;
        private @Nullable ChatModel chatModel;
        private @Nullable Path workflowDirectory;

        private Builder(LongTermMemoryStore store) {
            this.store = InvalidInputException.given("store", store);
        }

        /**
         * Sets the model for direct calls and workflow files. Not needed if the configuration names a function for the
         * memories and one for the summary, or if memories are only read.
         *
         * @param model the model; a small and cheap one is sufficient
         * @return this builder
         */
        public Builder chatModel(ChatModel model) {
            this.chatModel = InvalidInputException.given("chatModel", model);
            return this;
        }

        /**
         * Sets how memories are created. Default: {@link DiscussionConfig#DEFAULT}.
         *
         * @param discussionConfig the configuration
         * @return this builder
         */
        public Builder config(DiscussionConfig discussionConfig) {
            this.config = InvalidInputException.given("config", discussionConfig);
            return this;
        }

        /**
         * Registers a workflow that the configuration may name.
         *
         * @param name the name
         * @param workflow a function, for example the method of an AI service
         * @return this builder
         */
        public Builder workflow(String name, LongTermMemoryWorkflow workflow) {
            workflows.put(InvalidInputException.given("name", name), InvalidInputException.given("workflow", workflow));
            return this;
        }

        /**
         * Sets the directory of WilmerAI's workflow files. A name in the configuration that is not registered is the
         * name of a file, without {@code .json}. Each file is read once. Only nodes of the type {@code Standard} can be
         * run.
         *
         * @param directory the directory
         * @return this builder
         */
        public Builder workflowDirectory(Path directory) {
            this.workflowDirectory = InvalidInputException.given("workflowDirectory", directory);
            return this;
        }

        /**
         * Registers a retriever, or replaces one of the same name.
         *
         * @param name the name
         * @param retriever the retriever
         * @return this builder
         */
        public Builder retriever(String name, LongTermMemoryRetriever retriever) {
            retrievers.put(
                    InvalidInputException.given("name", name), InvalidInputException.given("retriever", retriever));
            return this;
        }

        /**
         * Sets the least trust that a memory must have to be read. Default: {@link Trust#RETRIEVED}: all are read.
         *
         * @param trust the least trust
         * @return this builder
         */
        public Builder leastTrust(Trust trust) {
            this.leastTrust = InvalidInputException.given("leastTrust", trust);
            return this;
        }

        /**
         * Creates memories only from texts of users, so that every memory has {@link Trust#USER}. Answers, tool results
         * and retrieved texts are not shown to the model. Default: memories are created from all messages, and each
         * memory has the least trust of its sources.
         *
         * @return this builder
         */
        public Builder userTextOnly() {
            this.userTextOnly = true;
            return this;
        }

        /**
         * Sets the estimator of the tokens in chunks. Default: {@link TokenCounter#standard()}.
         *
         * @param tokenCountEstimator a fast, local estimator
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator tokenCountEstimator) {
            this.estimator = InvalidInputException.given("tokenCountEstimator", tokenCountEstimator);
            return this;
        }

        /**
         * Sets the time after which another creator continues the work of a creator whose process died. It should be
         * longer than a workflow takes. Default: 5 minutes.
         *
         * @param duration more than zero
         * @return this builder
         * @throws InvalidInputException if it is zero or negative
         */
        public Builder leaseDuration(Duration duration) {
            InvalidInputException.checkPositive("leaseDuration", duration);
            this.leaseDuration = duration;
            return this;
        }

        /** Sets the clock for the creation times of memories. */
        Builder clock(Clock time) {
            this.clock = time;
            return this;
        }

        /**
         * Creates the object.
         *
         * @return the memories of all discussions of the store
         * @throws InvalidInputException if the configuration names a workflow that does not exist, or a workflow file
         * that cannot be run
         */
        public Discussions build() {
            return new Discussions(this);
        }

        Workflows workflows() {
            return new Workflows(Map.copyOf(workflows), workflowDirectory, chatModel);
        }
    }
}
