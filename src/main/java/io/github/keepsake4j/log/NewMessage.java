package io.github.keepsake4j.log;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message to append.
 *
 * @param id its id, unique within its memory; the log recognises a repeated append by it
 * @param message the message
 * @param tokens its size in tokens, 0 or more
 * @param tokenCounter the name of the counter that counted them
 * @param createdAt when it was created, for imports, truncated to microseconds as {@link InputRules#time} does; null for
 *     the time of the store's clock
 * @param outcome how it ended if it did not end well, or null
 * @param made how it was made, {@link Made#NOTHING} if that is not known. Its usage is added to the memory's sum of the UTC
 *     day of its time. Its texts contain neither NUL nor unpaired surrogates; JSON of {@code RequestCodec} contains
 * neither
 * @param question the id of the question of the turn that it belongs to, its own id if it is that question; null for none
 * @param asked what the user wrote, if it is a question with more or other text; null if that is not known. The size is
 *     then that of the form that later requests show
 */
public record NewMessage(
        String id,
        ChatMessage message,
        int tokens,
        String tokenCounter,
        @Nullable Instant createdAt,
        @Nullable Outcome outcome,
        Made made,
        @Nullable String question,
        LoggedMessage.@Nullable Asked asked) {

    /** Checks the components and truncates the time. */
    public NewMessage {
        Ids.check("message id", id);
        if (id.equals(Ids.BEFORE_IN_TIME)) {
            throw new InvalidInputException(
                    "message id", "must not be the all-zero UUID: as a parent, it means the message before in time");
        }
        InvalidInputException.given("message", message);
        InvalidInputException.given("tokenCounter", tokenCounter);
        InvalidInputException.checkAtLeast("tokens", 0, tokens);
        if (question != null) {
            Ids.check("question", question);
        }
        createdAt = createdAt == null ? null : InputRules.time("createdAt", createdAt);
        InvalidInputException.checkText("model name", made.modelName());
        InvalidInputException.checkText("finish reason", made.finishReason());
        InvalidInputException.checkText("request", made.request());
    }

    /**
     * Creates a message without notes.
     *
     * @param id its id
     * @param message the message
     * @param tokens its size in tokens, 0 or more
     * @param tokenCounter the name of the counter that counted them
     * @param createdAt when it was created, or null for the time of the store's clock
     */
    public NewMessage(String id, ChatMessage message, int tokens, String tokenCounter, @Nullable Instant createdAt) {
        this(id, message, tokens, tokenCounter, createdAt, null, Made.NOTHING, null, null);
    }

    /**
     * Creates a message with a generated id.
     *
     * @param message the message
     * @param tokens its size in tokens, 0 or more
     * @param tokenCounter the name of the counter that counted them
     * @return the message to append
     * @throws InvalidInputException if the number of tokens is negative
     */
    public static NewMessage of(ChatMessage message, int tokens, String tokenCounter) {
        return new NewMessage(Ids.next(), message, tokens, tokenCounter, null);
    }

    /**
     * Sets the outcome.
     *
     * @param other how the message ended, or null
     * @return a copy
     */
    public NewMessage withOutcome(@Nullable Outcome other) {
        return new NewMessage(id, message, tokens, tokenCounter, createdAt, other, made, question, asked);
    }

    /**
     * Makes the message one of a turn.
     *
     * @param other the id of the turn's question, or null for none
     * @return a copy
     */
    public NewMessage ofTurn(@Nullable String other) {
        return new NewMessage(id, message, tokens, tokenCounter, createdAt, outcome, made, other, asked);
    }

    /**
     * Sets how the message was made.
     *
     * @param other all that is known of it
     * @return a copy
     */
    public NewMessage withMade(Made other) {
        return new NewMessage(id, message, tokens, tokenCounter, createdAt, outcome, other, question, asked);
    }

    /**
     * Sets what the user wrote.
     *
     * @param other the forms of the question, or null
     * @return a copy
     */
    public NewMessage withAsked(LoggedMessage.@Nullable Asked other) {
        return new NewMessage(id, message, tokens, tokenCounter, createdAt, outcome, made, question, other);
    }

    /**
     * Sets how the message was made.
     *
     * @param other what it was made from, or null
     * @return a copy
     */
    public NewMessage withSeen(@Nullable Seen other) {
        return withMade(made.withSeen(other));
    }

    /**
     * Sets the tokens that were used.
     *
     * @param other the tokens, or null
     * @return a copy
     */
    public NewMessage withUsage(@Nullable Usage other) {
        return withMade(made.withUsage(other));
    }

    /**
     * Sets the request that the message answers.
     *
     * @param other the whole request as text, or null
     * @return a copy
     */
    public NewMessage withRequest(@Nullable String other) {
        return withMade(made.withRequest(other));
    }

    /**
     * Returns the message as a log returns it once it is appended.
     *
     * @param loggedId the id under which it is returned
     * @param parentId the id of the message before it, or null
     * @param sequence its sequence number
     * @param time the time of the append
     * @return the message
     */
    public LoggedMessage logged(String loggedId, @Nullable String parentId, long sequence, Instant time) {
        return new LoggedMessage(
                loggedId, parentId, sequence, message, tokens, tokenCounter, time, outcome, question, asked);
    }

    /** Returns the id, the type and the size. The message's text is left out, so that the result may be logged. */
    @Override
    public String toString() {
        return "NewMessage[id=" + id + ", type=" + message.type() + ", tokens=" + tokens + "]";
    }
}
