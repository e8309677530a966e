package io.github.keepsake4j.component;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The input of {@link MemoryComponent#run(MemoryInput)}. Created by {@link #add}, {@link #get}, {@link #clear},
 * {@link #summarize} or {@link #fromJson}; the other methods return changed copies. A field that the action does not
 * use is refused, not ignored.
 */
public final class MemoryInput {

    /** The default of {@code max_messages}. */
    public static final int DEFAULT_MAX_MESSAGES = 50;

    /** The default of {@code max_tokens}. */
    public static final int DEFAULT_MAX_TOKENS = 4_000;

    /** The default of {@code backend}. */
    public static final String DEFAULT_BACKEND = "in_memory";

    private static final Set<String> NAMES =
            Set.of("action", "session_id", "message", "max_messages", "max_tokens", "backend", "strategy", "erase");

    /** The action. In JSON, the names are in lower case. */
    public enum Action {
        /** Adds a message. */
        ADD,
        /** Only returns the output. */
        GET,
        /** Hides all messages and the summary, and keeps them in the history. */
        CLEAR,
        /** Creates a summary of all complete turns. */
        SUMMARIZE
    }

    /**
     * The selection of the messages of the output. Both limits apply with each strategy. In JSON, the names are in
     * lower case.
     */
    public enum Strategy {
        /** Shows the newest messages. */
        SLIDING_WINDOW,
        /** The same as {@link #SLIDING_WINDOW}, because both limits always apply. */
        TOKEN_LIMIT,
        /** Shows a summary in place of old turns. It is created in the background when a limit is reached. */
        SUMMARIZATION
    }

    private final Action action;
    private final String sessionId;
    private final @Nullable ChatMessage message;
    private final int maxMessages;
    private final int maxTokens;
    private final String backend;
    private final Strategy strategy;
    private final boolean erase;

    private MemoryInput(
            Action action,
            String sessionId,
            @Nullable ChatMessage message,
            int maxMessages,
            int maxTokens,
            String backend,
            Strategy strategy,
            boolean erase) {
        InvalidInputException.given("action", action);
        Ids.check("session_id", sessionId);
        InvalidInputException.checkAtLeast("max_messages", 1, maxMessages);
        InvalidInputException.checkAtLeast("max_tokens", 1, maxTokens);
        InvalidInputException.given("backend", backend);
        InvalidInputException.given("strategy", strategy);
        if (message != null) {
            Messages.check(message);
        }
        if (action == Action.ADD && message == null) {
            throw new InvalidInputException("message", "is required by the action add");
        }
        if (action != Action.ADD && message != null) {
            throw new InvalidInputException(
                    "message", "is only for the action add, not for " + name(action) + "; leave it out");
        }
        if (action != Action.CLEAR && erase) {
            throw new InvalidInputException(
                    "erase", "is only for the action clear, not for " + name(action) + "; leave it out");
        }
        this.action = action;
        this.sessionId = sessionId;
        this.message = message;
        this.maxMessages = maxMessages;
        this.maxTokens = maxTokens;
        this.backend = backend;
        this.strategy = strategy;
        this.erase = erase;
    }

    /**
     * Creates an input that adds a message.
     *
     * @param sessionId the session's id
     * @param message the message, of the roles user, assistant, system or tool
     * @return the input
     * @throws InvalidInputException if the id or the message breaks a rule
     */
    public static MemoryInput add(String sessionId, ChatMessage message) {
        return of(Action.ADD, sessionId, InvalidInputException.given("message", message));
    }

    /**
     * Creates an input that only reads.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput get(String sessionId) {
        return of(Action.GET, sessionId, null);
    }

    /**
     * Creates an input that hides the messages.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput clear(String sessionId) {
        return of(Action.CLEAR, sessionId, null);
    }

    /**
     * Creates an input that requests a summary.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput summarize(String sessionId) {
        return of(Action.SUMMARIZE, sessionId, null);
    }

    private static MemoryInput of(Action action, String session, @Nullable ChatMessage message) {
        return new MemoryInput(
                action,
                session,
                message,
                DEFAULT_MAX_MESSAGES,
                DEFAULT_MAX_TOKENS,
                DEFAULT_BACKEND,
                Strategy.SLIDING_WINDOW,
                false);
    }

    /**
     * Sets the maximum number of messages. Default: 50.
     *
     * @param limit the limit, 1 or more
     * @return a copy
     * @throws InvalidInputException if the limit is less than 1
     */
    public MemoryInput withMaxMessages(int limit) {
        return new MemoryInput(action, sessionId, message, limit, maxTokens, backend, strategy, erase);
    }

    /**
     * Sets the maximum number of tokens. Default: 4000.
     *
     * @param limit the limit, 1 or more
     * @return a copy
     * @throws InvalidInputException if the limit is less than 1
     */
    public MemoryInput withMaxTokens(int limit) {
        return new MemoryInput(action, sessionId, message, maxMessages, limit, backend, strategy, erase);
    }

    /**
     * Sets the store, the field {@code backend}. Default: {@code in_memory}.
     *
     * @param name the name of one of the component's stores
     * @return a copy
     */
    public MemoryInput onBackend(String name) {
        return new MemoryInput(action, sessionId, message, maxMessages, maxTokens, name, strategy, erase);
    }

    /**
     * Sets the strategy. Default: {@link Strategy#SLIDING_WINDOW}.
     *
     * @param other the strategy
     * @return a copy
     */
    public MemoryInput withStrategy(Strategy other) {
        return new MemoryInput(action, sessionId, message, maxMessages, maxTokens, backend, other, erase);
    }

    /**
     * Makes {@code clear} delete the session's messages and summaries. This cannot be undone. Default: no.
     *
     * @return a copy
     * @throws InvalidInputException if the action is not {@code clear}
     */
    public MemoryInput erasing() {
        return new MemoryInput(action, sessionId, message, maxMessages, maxTokens, backend, strategy, true);
    }

    /**
     * Reads an input from JSON, such as <code>{"action": "add", "session_id": "sess_123", "message": {"role": "user",
     * "content": "Hello!"}}</code>. The fields are {@code action} ({@code add}, {@code get}, {@code clear} or {@code
     * summarize}), {@code session_id}, {@code message} (for {@code add}; in OpenAI's JSON), {@code max_messages},
     * {@code max_tokens}, {@code backend}, {@code strategy} ({@code sliding_window}, {@code token_limit} or {@code
     * summarization}) and {@code erase} (for {@code clear}).
     *
     * @param json a JSON object with these fields; a field whose value is null counts as absent
     * @return the input
     * @throws InvalidInputException if the text is not such an object; the exception names the field
     */
    public static MemoryInput fromJson(String json) {
        JsonFields fields = JsonFields.read("input", InvalidInputException.given("input", json));
        fields.only(NAMES);
        JsonFields message = fields.object("message");
        Integer maxMessages = fields.number("max_messages");
        Integer maxTokens = fields.number("max_tokens");
        String backend = fields.text("backend");
        String strategy = fields.text("strategy");
        return new MemoryInput(
                named(Action.values(), "action", fields.text("action")),
                fields.neededText("session_id"),
                message == null ? null : MessageJson.read(message),
                maxMessages == null ? DEFAULT_MAX_MESSAGES : maxMessages,
                maxTokens == null ? DEFAULT_MAX_TOKENS : maxTokens,
                backend == null ? DEFAULT_BACKEND : backend,
                strategy == null ? Strategy.SLIDING_WINDOW : named(Strategy.values(), "strategy", strategy),
                Boolean.TRUE.equals(fields.flag("erase")));
    }

    /**
     * Writes the input as JSON.
     *
     * @return a JSON object that {@link #fromJson} reads
     */
    public String toJson() {
        return PlainJson.write(new JsonObject()
                .with("action", name(action))
                .with("session_id", sessionId)
                .withPresent("message", message == null ? null : MessageJson.write(message))
                .with("max_messages", maxMessages)
                .with("max_tokens", maxTokens)
                .with("backend", backend)
                .with("strategy", name(strategy))
                .with("erase", erase));
    }

    /** Leaves out all texts, so that the result may be logged. */
    @Override
    public String toString() {
        return "MemoryInput[action=" + name(action) + ", sessionId=" + sessionId + ", backend=" + backend + "]";
    }

    private static <E extends Enum<E>> E named(E[] values, String field, @Nullable String name) {
        return Stream.of(values)
                .filter(value -> name(value).equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidInputException(
                        field,
                        "must be one of "
                                + Stream.of(values).map(MemoryInput::name).collect(Collectors.joining(", "))));
    }

    static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns what to do.
     *
     * @return what to do
     */
    public Action action() {
        return action;
    }

    /**
     * Returns the session's id, 1 to 512 bytes of UTF-8.
     *
     * @return the session's id
     */
    public String sessionId() {
        return sessionId;
    }

    /**
     * Returns the message to add, or null.
     *
     * @return the message, or null
     */
    public @Nullable ChatMessage message() {
        return message;
    }

    /**
     * Returns the maximum number of messages in the output, 1 or more.
     *
     * @return the maximum number of messages in the output
     */
    public int maxMessages() {
        return maxMessages;
    }

    /**
     * Returns the maximum number of tokens of the messages in the output, 1 or more.
     *
     * @return the maximum number of tokens of the messages in the output
     */
    public int maxTokens() {
        return maxTokens;
    }

    /**
     * Returns the name of the store.
     *
     * @return the name of the store
     */
    public String backend() {
        return backend;
    }

    /**
     * Returns the selection of the messages of the output.
     *
     * @return the selection of the messages of the output
     */
    public Strategy strategy() {
        return strategy;
    }

    /**
     * Returns whether {@code clear} deletes the session's memory.
     *
     * @return whether {@code clear} deletes the session's memory
     */
    public boolean erase() {
        return erase;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MemoryInput same && parts().equals(same.parts());
    }

    @Override
    public int hashCode() {
        return parts().hashCode();
    }

    private List<@Nullable Object> parts() {
        return Arrays.asList(action, sessionId, message, maxMessages, maxTokens, backend, strategy, erase);
    }
}
