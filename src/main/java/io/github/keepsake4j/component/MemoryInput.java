package io.github.keepsake4j.component;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The input of {@link MemoryComponent#run(MemoryInput)}. Made by {@link #add}, {@link #get}, {@link #clear},
 * {@link #summarize} or {@link #fromJson}, and changed by the other methods. An input that has no effect on its action is
 * refused, so that nothing is dropped in silence.
 *
 * @param action what to do
 * @param sessionId the session's id, 1 to 512 bytes of UTF-8
 * @param message the message to add, or null
 * @param context the texts that were retrieved for the message
 * @param maxMessages the maximum number of messages in the output, 1 or more
 * @param maxTokens the maximum number of tokens of the messages in the output, 1 or more
 * @param backend the name of the backend
 * @param strategy how the messages of the output are selected
 * @param profile short texts by name to set in the session's profile; null deletes one
 * @param showProfile whether the messages of the output tell the profile, in the system message
 * @param erase whether {@code clear} deletes the session's memory
 */
public record MemoryInput(
        Action action,
        String sessionId,
        @Nullable ChatMessage message,
        List<RetrievedText> context,
        int maxMessages,
        int maxTokens,
        String backend,
        Strategy strategy,
        Map<String, @Nullable String> profile,
        boolean showProfile,
        boolean erase) {

    /** The maximum length of a name in a profile, in characters. */
    public static final int MAX_PROFILE_NAME = 100;

    /** The maximum length of a text in a profile, in characters. */
    public static final int MAX_PROFILE_TEXT = 2_000;

    /** The default of {@code max_messages}. */
    public static final int DEFAULT_MAX_MESSAGES = 50;

    /** The default of {@code max_tokens}. */
    public static final int DEFAULT_MAX_TOKENS = 4_000;

    /** The default of {@code backend}. */
    public static final String DEFAULT_BACKEND = "in_memory";

    private static final Set<String> NAMES = Set.of(
            "action",
            "session_id",
            "message",
            "max_messages",
            "max_tokens",
            "backend",
            "strategy",
            "profile",
            "show_profile",
            "erase");

    /** What to do. In JSON, the names are in lower case. */
    public enum Action {
        /** Adds a message, changes the profile, or both. */
        ADD,
        /** Only returns the output. */
        GET,
        /** Hides all messages and the summary. Keeps the profile, and keeps the messages in the history. */
        CLEAR,
        /** Has a summary made of all turns that are complete. */
        SUMMARIZE
    }

    /** How the messages of the output are selected. Both limits hold with each. In JSON, the names are in lower case. */
    public enum Strategy {
        /** Shows the newest messages. */
        SLIDING_WINDOW,
        /** Shows the newest messages that fit. Because both limits always hold, these are those of a sliding window. */
        TOKEN_LIMIT,
        /** Shows a summary in place of old turns. It is made in the background when a limit is reached. */
        SUMMARIZATION
    }

    /** Checks the components. The errors name them as in JSON. */
    public MemoryInput {
        given("action", action);
        Ids.check("session_id", sessionId);
        context = List.copyOf(given("message.context", context));
        InvalidInputException.checkAtLeast("max_messages", 1, maxMessages);
        InvalidInputException.checkAtLeast("max_tokens", 1, maxTokens);
        given("backend", backend);
        given("strategy", strategy);
        profile = Collections.unmodifiableMap(new LinkedHashMap<>(given("profile", profile)));
        profile.forEach(MemoryInput::checkProfile);
        if (message != null) {
            Messages.check(message);
            // Refuses texts that the message cannot have.
            RetrievedText.attach(message, context);
        } else if (!context.isEmpty()) {
            throw new InvalidInputException("message", "is required by its context");
        }
        boolean adds = message != null || !profile.isEmpty();
        if (action == Action.ADD && !adds) {
            throw new InvalidInputException(
                    "message", "is required by the action add, unless profile has at least one text to set or delete");
        }
        if (action != Action.ADD && adds) {
            throw new InvalidInputException(
                    message != null ? "message" : "profile", "is taken by the action add only, not by " + name(action));
        }
        if (action != Action.CLEAR && erase) {
            throw new InvalidInputException("erase", "is taken by the action clear only, not by " + name(action));
        }
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
        return of(Action.ADD, sessionId, given("message", message), Map.of());
    }

    /**
     * Creates an input that changes the profile.
     *
     * @param sessionId the session's id
     * @param profile short texts by name, at least one; null deletes one
     * @return the input
     * @throws InvalidInputException if the id or the profile breaks a rule
     */
    public static MemoryInput add(String sessionId, Map<String, @Nullable String> profile) {
        return of(Action.ADD, sessionId, null, profile);
    }

    /**
     * Creates an input that only reads.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput get(String sessionId) {
        return of(Action.GET, sessionId, null, Map.of());
    }

    /**
     * Creates an input that hides the messages.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput clear(String sessionId) {
        return of(Action.CLEAR, sessionId, null, Map.of());
    }

    /**
     * Creates an input that has a summary made.
     *
     * @param sessionId the session's id
     * @return the input
     * @throws InvalidInputException if the id breaks a rule
     */
    public static MemoryInput summarize(String sessionId) {
        return of(Action.SUMMARIZE, sessionId, null, Map.of());
    }

    private static MemoryInput of(
            Action action, String session, @Nullable ChatMessage message, Map<String, @Nullable String> profile) {
        return new MemoryInput(
                action,
                session,
                message,
                List.of(),
                DEFAULT_MAX_MESSAGES,
                DEFAULT_MAX_TOKENS,
                DEFAULT_BACKEND,
                Strategy.SLIDING_WINDOW,
                profile,
                false,
                false);
    }

    /**
     * Sets the texts that were retrieved for the message.
     *
     * @param texts the texts
     * @return a copy
     * @throws InvalidInputException if the message cannot have them
     */
    public MemoryInput withContext(List<RetrievedText> texts) {
        return new MemoryInput(
                action,
                sessionId,
                message,
                texts,
                maxMessages,
                maxTokens,
                backend,
                strategy,
                profile,
                showProfile,
                erase);
    }

    /**
     * Sets the maximum number of messages. Default: 50.
     *
     * @param limit the limit, 1 or more
     * @return a copy
     * @throws InvalidInputException if the limit is less than 1
     */
    public MemoryInput withMaxMessages(int limit) {
        return new MemoryInput(
                action, sessionId, message, context, limit, maxTokens, backend, strategy, profile, showProfile, erase);
    }

    /**
     * Sets the maximum number of tokens. Default: 4000.
     *
     * @param limit the limit, 1 or more
     * @return a copy
     * @throws InvalidInputException if the limit is less than 1
     */
    public MemoryInput withMaxTokens(int limit) {
        return new MemoryInput(
                action,
                sessionId,
                message,
                context,
                maxMessages,
                limit,
                backend,
                strategy,
                profile,
                showProfile,
                erase);
    }

    /**
     * Sets the backend. Default: {@code in_memory}.
     *
     * @param name a name that the component was built with
     * @return a copy
     */
    public MemoryInput onBackend(String name) {
        return new MemoryInput(
                action,
                sessionId,
                message,
                context,
                maxMessages,
                maxTokens,
                name,
                strategy,
                profile,
                showProfile,
                erase);
    }

    /**
     * Sets the strategy. Default: {@link Strategy#SLIDING_WINDOW}.
     *
     * @param other the strategy
     * @return a copy
     */
    public MemoryInput withStrategy(Strategy other) {
        return new MemoryInput(
                action,
                sessionId,
                message,
                context,
                maxMessages,
                maxTokens,
                backend,
                other,
                profile,
                showProfile,
                erase);
    }

    /**
     * Sets the changes of the profile. Default: none.
     *
     * @param changes short texts by name; null deletes one
     * @return a copy
     * @throws InvalidInputException if a name or a text breaks a rule
     */
    public MemoryInput withProfile(Map<String, @Nullable String> changes) {
        return new MemoryInput(
                action,
                sessionId,
                message,
                context,
                maxMessages,
                maxTokens,
                backend,
                strategy,
                changes,
                showProfile,
                erase);
    }

    /**
     * Makes the messages of the output tell the profile, in the system message. It counts towards the limits. Default: no.
     *
     * @return a copy
     */
    public MemoryInput showingProfile() {
        return new MemoryInput(
                action, sessionId, message, context, maxMessages, maxTokens, backend, strategy, profile, true, erase);
    }

    /**
     * Makes {@code clear} delete the session's messages, summaries and profile. This cannot be undone. Default: no.
     *
     * @return a copy
     * @throws InvalidInputException if the action is another one
     */
    public MemoryInput erasing() {
        return new MemoryInput(
                action,
                sessionId,
                message,
                context,
                maxMessages,
                maxTokens,
                backend,
                strategy,
                profile,
                showProfile,
                true);
    }

    /**
     * Reads an input from JSON.
     *
     * @param json a JSON object; a field of null counts as absent
     * @return the input
     * @throws InvalidInputException if the text is no such object; the exception names the field
     */
    public static MemoryInput fromJson(String json) {
        given("input", json);
        if (!(PlainJson.read("input", json) instanceof Map<?, ?> map)) {
            throw new InvalidInputException("input", "must be an object");
        }
        Fields fields = new Fields(map, "");
        fields.only(NAMES);
        Fields message = fields.has("message") ? fields.object("message") : null;
        String backend = fields.text("backend");
        String strategy = fields.text("strategy");
        return new MemoryInput(
                named(Action.values(), "action", fields.neededText("action")),
                fields.neededText("session_id"),
                message == null ? null : MessageJson.read(message),
                message == null ? List.of() : MessageJson.readContext(message),
                fields.number("max_messages", DEFAULT_MAX_MESSAGES),
                fields.number("max_tokens", DEFAULT_MAX_TOKENS),
                backend == null ? DEFAULT_BACKEND : backend,
                strategy == null ? Strategy.SLIDING_WINDOW : named(Strategy.values(), "strategy", strategy),
                profile(fields),
                fields.flag("show_profile"),
                fields.flag("erase"));
    }

    private static Map<String, @Nullable String> profile(Fields fields) {
        Map<String, @Nullable String> profile = new LinkedHashMap<>();
        if (fields.has("profile")) {
            Fields texts = fields.object("profile");
            for (Object name : texts.values().keySet()) {
                profile.put((String) name, texts.text((String) name));
            }
        }
        return profile;
    }

    /**
     * Writes the input as JSON.
     *
     * @return a JSON object that {@link #fromJson} reads
     */
    public String toJson() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("action", name(action));
        json.put("session_id", sessionId);
        if (message != null) {
            json.put("message", MessageJson.write(RetrievedText.attach(message, context)));
        }
        json.put("max_messages", maxMessages);
        json.put("max_tokens", maxTokens);
        json.put("backend", backend);
        json.put("strategy", name(strategy));
        if (!profile.isEmpty()) {
            json.put("profile", profile);
        }
        json.put("show_profile", showProfile);
        json.put("erase", erase);
        return PlainJson.write(json);
    }

    /** Leaves out all texts, so that the result may be logged. */
    @Override
    public String toString() {
        return "MemoryInput[action=" + name(action) + ", sessionId=" + sessionId + ", backend=" + backend + "]";
    }

    private static void checkProfile(String name, @Nullable String text) {
        if (name == null || name.isBlank() || name.length() > MAX_PROFILE_NAME) {
            throw new InvalidInputException(
                    "profile", "must have names of 1 to " + MAX_PROFILE_NAME + " characters that are not blank");
        }
        if (text != null && text.length() > MAX_PROFILE_TEXT) {
            throw new InvalidInputException(
                    "profile." + name, "has " + text.length() + " characters; at most " + MAX_PROFILE_TEXT);
        }
    }

    private static <T> T given(String field, @Nullable T value) {
        if (value == null) {
            throw new InvalidInputException(field, "must not be null");
        }
        return value;
    }

    private static <E extends Enum<E>> E named(E[] values, String field, String name) {
        StringBuilder names = new StringBuilder();
        for (E value : values) {
            if (name(value).equals(name)) {
                return value;
            }
            names.append(names.isEmpty() ? "" : ", ").append(name(value));
        }
        throw new InvalidInputException(field, "must be one of " + names);
    }

    static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
