package io.github.keepsake4j.component;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.component.MemoryInput.Action;
import io.github.keepsake4j.component.MemoryInput.Strategy;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.ReadBounds;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.summary.SummaryFailedException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memory component for low-code hosts: it adds messages to the memory of a session, returns the messages that a model
 * should see, clears the memory and summarizes it. Each call is independent of the others, so a host need not keep any
 * state.
 *
 * <pre>{@code
 * MemoryComponent memory = MemoryComponent.builder()
 *         .backend("in_memory", InMemoryMessageLog::new)
 *         .backend("sqlite", () -> SqliteMessageLog.open(Path.of("chat.db")))
 *         .build();
 * memory.run(MemoryInput.add("sess_123", UserMessage.from("What is Python?")));
 * String output = memory.run("{\"action\": \"get\", \"session_id\": \"sess_123\"}");
 * }</pre>
 *
 * <p>A session is a conversation: {@code Keepsake.conversation(id)} on the same log has the same messages. Messages
 * beyond the limits are not lost: the history keeps them. {@code clear} only hides messages, unless the input says to
 * erase them.
 *
 * <p>If calls for one session run at the same time, the store decides their order. Messages that were added before
 * {@code clear} is called are hidden. Messages that are added after it returned are shown.
 *
 * <p>Thread-safe. To be closed at the end.
 */
public final class MemoryComponent implements AutoCloseable {

    private final Map<String, Supplier<? extends MessageLog>> factories;
    private final String tenant;
    private final TokenCounter counter;
    private final @Nullable Summarizer summarizer;
    private final @Nullable Executor executor;
    private final Metrics metrics;
    private final Map<String, Backend> opened = new LinkedHashMap<>();
    private boolean closed;

    private MemoryComponent(Builder builder) {
        this.factories = Map.copyOf(builder.factories);
        this.tenant = Ids.check("tenant", builder.tenant);
        this.counter = builder.counter;
        this.summarizer = builder.summarizer;
        this.executor = builder.executor;
        this.metrics = builder.metrics;
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
     * Runs an action, such as <code>{"action": "get", "session_id": "sess_123", "max_messages": 20}</code>.
     *
     * @param json the input, with the fields that {@link MemoryInput#fromJson} names
     * @return the output, as {@link MemoryOutput#toJson} writes it
     * @throws InvalidInputException if the input breaks a rule; the exception names the field, and nothing was changed
     * @throws SummaryFailedException if the action {@code summarize} failed; retryable
     * @throws KeepsakeException if the store fails
     */
    public String run(String json) {
        return run(MemoryInput.fromJson(json)).toJson();
    }

    /**
     * Runs an action. A change is stored when this method returns.
     *
     * @param input the input
     * @return the messages that the memory shows after the action; other callers may have added some of them meanwhile
     * @throws InvalidInputException if the store is unknown, a summarizer is missing, or a tool's result answers no
     *     call; nothing was changed
     * @throws SummaryFailedException if the action {@code summarize} failed; retryable
     * @throws KeepsakeException if the store fails
     */
    public MemoryOutput run(MemoryInput input) {
        ConversationKey key = ConversationKey.of(tenant, input.sessionId());
        ComponentSettings settings = ComponentSettings.of(input);
        check(input);
        Backend backend = backend(input.backend());
        Keepsake keepsake = backend.with(settings);
        switch (input.action()) {
            case ADD -> add(input.message(), backend, keepsake.conversation(key));
            case CLEAR -> {
                if (input.erase()) {
                    keepsake.conversation(key).erase();
                } else {
                    keepsake.chatMemory(key).clear();
                }
            }
            case SUMMARIZE ->
                backend.with(NewestMessages.TO_SUMMARIZE).conversation(key).summarizeNow();
            case GET -> {}
        }
        if (input.action() != Action.GET) {
            backend.log.flush(key);
        }
        if (input.action() == Action.ADD && settings.summarizes()) {
            keepsake.conversation(key).summarizeInBackground();
        }
        return output(settings, backend, keepsake.conversation(key));
    }

    private void check(MemoryInput input) {
        boolean isAction = input.action() == Action.SUMMARIZE;
        if (summarizer == null && (isAction || input.strategy() == Strategy.SUMMARIZATION)) {
            throw new InvalidInputException(
                    isAction ? "action" : "strategy",
                    (isAction ? "summarize" : "summarization")
                            + " requires a summarizer; set it with MemoryComponent.builder().summarizer(...)");
        }
    }

    private void add(@Nullable ChatMessage message, Backend backend, Conversation conversation) {
        if (message instanceof ToolExecutionResultMessage result) {
            new ToolCalls(backend.log, conversation.key(), counter.forAppends()).add(result);
        } else if (message != null) {
            conversation.append(Parent.head(), Ids.next(), message);
        }
    }

    private MemoryOutput output(ComponentSettings settings, Backend backend, Conversation conversation) {
        OutputMessages shown = OutputMessages.of(conversation.context(), settings, counter);
        LoggedMessage summary =
                backend.summaries.conversation(conversation.key()).context().summary();
        return new MemoryOutput(
                shown.messages(),
                shown.messages().size(),
                Math.toIntExact(shown.tokens()),
                summary == null ? null : ((UserMessage) summary.message()).singleText());
    }

    private synchronized Backend backend(String name) {
        if (closed) {
            throw new StorageClosedException("Memory component");
        }
        Backend known = opened.get(name);
        if (known != null) {
            return known;
        }
        Supplier<? extends MessageLog> factory = factories.get(name);
        if (factory == null) {
            throw new InvalidInputException(
                    "backend",
                    "\"" + name + "\" is not configured; configured are "
                            + factories.keySet().stream().sorted().toList()
                            + "; add one with MemoryComponent.builder().backend(...)");
        }
        Backend backend = new Backend(opened(name, factory));
        opened.put(name, backend);
        return backend;
    }

    private static MessageLog opened(String name, Supplier<? extends MessageLog> factory) {
        try {
            MessageLog log = factory.get();
            if (log != null) {
                return log;
            }
        } catch (KeepsakeException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new KeepsakeException("store \"" + name + "\" could not be opened; its factory failed", e);
        }
        throw new KeepsakeException("store \"" + name + "\" could not be opened; its factory returned null", null);
    }

    /**
     * Closes the logs that were opened. Idempotent. A data source or client that a factory passed to them stays open.
     */
    @Override
    public synchronized void close() {
        closed = true;
        opened.values().forEach(backend -> backend.log.close());
        opened.clear();
    }

    /**
     * An open log, and the memories on it by their settings. The memories are kept because they know the running and
     * the failed summaries. Thread-safe.
     */
    private final class Backend {

        /** The maximum number of different settings. Each input may have its own limits. */
        private static final int MOST = 100;

        private final MessageLog log;

        /** Memories of which only the summary in force is read. */
        private final Keepsake summaries;

        private final RecentlyUsed<ComponentSettings, Keepsake> bySettings = new RecentlyUsed<>(MOST);

        Backend(MessageLog log) {
            this.log = log;
            this.summaries = with(NewestMessages.ONLY_SUMMARY);
        }

        Keepsake with(ContextStrategy strategy) {
            Keepsake.Builder builder = Keepsake.builder()
                    .messageLog(log)
                    .tenant(tenant)
                    .strategy(strategy)
                    .tokenCountEstimator(counter)
                    .metrics(metrics)
                    // A memory may have summaries even if this component creates none.
                    .summarizer(summarizer == null ? (previous, messages) -> "" : summarizer);
            return (executor == null ? builder : builder.executor(executor)).build();
        }

        synchronized Keepsake with(ComponentSettings settings) {
            Keepsake known = bySettings.get(settings);
            if (known == null) {
                known = with(settings.toStrategy(counter));
                bySettings.put(settings, known);
            }
            return known;
        }
    }

    /** Configures a {@link MemoryComponent}. Not thread-safe. */
    public static final class Builder {

        private final Map<String, Supplier<? extends MessageLog>> factories = new LinkedHashMap<>();
        private String tenant = "default";
        private TokenCounter counter = TokenCounter.standard();
        private @Nullable Summarizer summarizer;
        private @Nullable Executor executor;
        private Metrics metrics = Metrics.NONE;

        private Builder() {}

        /**
         * Adds a store. The usual names are {@code in_memory}, {@code sqlite}, {@code file}, {@code postgresql},
         * {@code s3} and {@code redis}; any other name is allowed.
         *
         * @param name the name by which inputs select it
         * @param factory opens the log; called at the first use. The component closes the log
         * @return this builder
         */
        public Builder backend(String name, Supplier<? extends MessageLog> factory) {
            factories.put(Ids.check("backend", name), InvalidInputException.given("factory", factory));
            return this;
        }

        /**
         * Sets the tenant of all sessions. Default: {@code "default"}.
         *
         * @param tenantId the tenant's id
         * @return this builder
         */
        public Builder tenant(String tenantId) {
            this.tenant = InvalidInputException.given("tenant", tenantId);
            return this;
        }

        /**
         * Sets the estimator that counts tokens. Default: {@link TokenCounter#standard()}.
         *
         * @param estimator the estimator
         * @return this builder
         */
        public Builder tokenCountEstimator(TokenCountEstimator estimator) {
            this.counter = TokenCounter.of(estimator);
            return this;
        }

        /**
         * Sets the summarizer. Default: none. Required by the action {@code summarize} and the strategy
         * {@code summarization}.
         *
         * @param writer the summarizer, such as {@link Summarizer#of}
         * @return this builder
         */
        public Builder summarizer(Summarizer writer) {
            this.summarizer = InvalidInputException.given("summarizer", writer);
            return this;
        }

        /**
         * Sets a model as the summarizer, as {@link Summarizer#of} does.
         *
         * @param model the model; a small and cheap one is sufficient
         * @return this builder
         */
        public Builder summarizer(ChatModel model) {
            return summarizer(Summarizer.of(model));
        }

        /**
         * Sets the executor that creates summaries in the background. Default: the same as in {@link Keepsake}.
         *
         * @param blockingExecutor the executor; the caller shuts it down
         * @return this builder
         */
        public Builder executor(Executor blockingExecutor) {
            this.executor = InvalidInputException.given("executor", blockingExecutor);
            return this;
        }

        /**
         * Sets the metrics sink. Default: none.
         *
         * @param sink the metrics
         * @return this builder
         */
        public Builder metrics(Metrics sink) {
            this.metrics = InvalidInputException.given("metrics", sink);
            return this;
        }

        /**
         * Builds the component. Opens nothing. If no store was added, {@value MemoryInput#DEFAULT_BACKEND} is the heap.
         *
         * @return a new component
         * @throws InvalidInputException if the tenant breaks a rule
         */
        public MemoryComponent build() {
            if (factories.isEmpty()) {
                backend(MemoryInput.DEFAULT_BACKEND, MessageLogs::inMemory);
            }
            return new MemoryComponent(this);
        }
    }

    /**
     * Shows all messages that no summary covers, and lets a summary cover every complete turn. Used to create a summary
     * on request, and to read the summary in force.
     *
     * @param messages the number of newest messages that are read
     */
    private record NewestMessages(int messages) implements ContextStrategy {

        /** Reads no more than what is needed to find the summary in force. */
        static final NewestMessages ONLY_SUMMARY = new NewestMessages(1);

        /** Older messages that no summary covers are read in pieces when they are summarized. */
        static final NewestMessages TO_SUMMARIZE = new NewestMessages(200);

        @Override
        public Context select(Context context) {
            return context;
        }

        @Override
        public Optional<String> foldUpTo(Context selected) {
            List<String> ends = selected.ends();
            return ends.isEmpty() ? Optional.empty() : Optional.of(ends.get(ends.size() - 1));
        }

        @Override
        public boolean summarizes() {
            return true;
        }

        @Override
        public ReadBounds bounds(Object memoryId) {
            return new ReadBounds(messages, Integer.MAX_VALUE, Long.MAX_VALUE, 0, true);
        }
    }
}
