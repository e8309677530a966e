package io.github.keepsake4j.message;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.text.OwnText;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message as the log stores it.
 *
 * @param id the message's id, unique within its memory
 * @param parentId the id of the message that it follows, or null if it starts a branch of its own
 * @param sequence its position in the memory's log, from 1, assigned by the store; it alone defines the order of
 *     messages
 * @param message the message; an {@link UnknownMessage} if a newer version wrote a type that this version does not know, or if a
 *     repair found the message unreadable
 * @param tokens its size in tokens, counted once when it was appended
 * @param tokenCounter the name of the counter that counted the tokens
 * @param createdAt the time when the store appended it, in UTC with microsecond precision; it does not define any order
 * @param outcome how it ended if it did not end well, or null
 * @param question the id of the question of the turn that it belongs to, its own id if it is that question; null if it was
 *     not appended by a bound turn
 * @param asked what the user wrote, if the message is a question with more or other text; null if that is not recorded
 */
public record LoggedMessage(
        String id,
        @Nullable String parentId,
        long sequence,
        ChatMessage message,
        int tokens,
        String tokenCounter,
        Instant createdAt,
        @Nullable Outcome outcome,
        @Nullable String question,
        @Nullable Asked asked) {

    /** The counter of a size that is not known. */
    private static final String UNKNOWN_COUNTER = "unknown";

    /**
     * The forms of a question that was sent to a model with more, or with other text, than its user wrote.
     *
     * @param text the text that the user wrote, before retrieval, input guardrails and format instructions
     * @param later the question as later requests show it: without the part that was retrieved for it. Null if they show
     *     it as it was sent
     * @param rewritten the text that input guardrails made of it, which models get instead of the user's own; null if
     *     they changed nothing
     * @param retrieved whether the sent question has contents that were retrieved for it
     * @param sentTokens the size in tokens of the question as it was sent, by the counter of the message, whose own size
     *     is that of the later form; -1 if it is not known
     */
    public record Asked(
            String text, @Nullable UserMessage later, @Nullable String rewritten, boolean retrieved, int sentTokens) {

        /**
         * Returns a copy with another later form.
         *
         * @param form the question as later requests show it, or null if they show it as it was sent
         * @param tokens the size in tokens of the question as it was sent, or -1 if it is not known
         * @return the copy
         */
        public Asked withLater(@Nullable UserMessage form, int tokens) {
            return new Asked(text, form, rewritten, retrieved, tokens);
        }

        /** Leaves out the texts, so that the result may be logged. */
        @Override
        public String toString() {
            return "Asked[later=" + (later != null) + ", rewritten=" + (rewritten != null) + ", retrieved=" + retrieved
                    + ", sentTokens=" + sentTokens + "]";
        }
    }

    /**
     * Creates a message without an outcome.
     *
     * @param id the message's id
     * @param parentId the id of the message that it follows, or null
     * @param sequence its position in the memory's log
     * @param message the message
     * @param tokens its size in tokens
     * @param tokenCounter the name of the counter that counted the tokens
     * @param createdAt the time when the store appended it
     */
    public LoggedMessage(
            String id,
            @Nullable String parentId,
            long sequence,
            ChatMessage message,
            int tokens,
            String tokenCounter,
            Instant createdAt) {
        this(id, parentId, sequence, message, tokens, tokenCounter, createdAt, null, null, null);
    }

    /**
     * Returns a copy that belongs to a turn.
     *
     * @param other the id of the turn's question, or null for none
     * @return the copy
     */
    public LoggedMessage ofTurn(@Nullable String other) {
        return new LoggedMessage(
                id, parentId, sequence, message, tokens, tokenCounter, createdAt, outcome, other, asked);
    }

    /**
     * Returns a copy that holds another message under the same id, position and size.
     *
     * @param other the other message
     * @return the copy, or this object if the message is the same
     */
    public LoggedMessage withMessage(ChatMessage other) {
        return other == message
                ? this
                : new LoggedMessage(
                        id, parentId, sequence, other, tokens, tokenCounter, createdAt, outcome, question, asked);
    }

    /**
     * Returns a copy that has another outcome.
     *
     * @param other the other outcome, or null for none
     * @return the copy
     */
    public LoggedMessage withOutcome(@Nullable Outcome other) {
        return new LoggedMessage(
                id, parentId, sequence, message, tokens, tokenCounter, createdAt, other, question, asked);
    }

    /**
     * Returns the text that the author wrote, for people: for history, titles and exports. If it is not recorded, texts
     * that this library or LangChain4j's default injector added are left out.
     *
     * @return the text; empty if the author wrote none
     */
    public String userText() {
        return asked == null ? OwnText.of(message).text() : asked.text();
    }

    /**
     * Returns the text that models may get: for search, summaries and long-term memories. It is the text that the user
     * wrote, or what input guardrails made of it, with blanks in place of recalled messages and long-term memories.
     *
     * @return the text; null if it is not recorded
     */
    public @Nullable String textForModels() {
        return asked == null
                ? null
                : OwnText.withoutFenced(Objects.requireNonNullElse(asked.rewritten(), asked.text()));
    }

    /**
     * Returns the message as later requests show it: without the part that was retrieved for it.
     *
     * @return a new instance, or the message itself if it has no other form
     */
    public ChatMessage later() {
        UserMessage later = asked == null ? null : asked.later();
        return later == null ? message : later.toBuilder().build();
    }

    /**
     * Returns whether later requests show the message in another form than the one in which it was sent. Its size is
     * that of the later form.
     *
     * @return whether {@link #later()} is another message
     */
    public boolean hasLaterForm() {
        return asked != null && asked.later() != null;
    }

    /**
     * Returns whether the message was sent with contents that were retrieved for it.
     *
     * @return whether it is recorded that it was
     */
    public boolean isRetrieved() {
        return asked != null && asked.retrieved();
    }

    /**
     * Returns a copy that is shown as it was sent, with the size of that form.
     *
     * @return the copy, or this object if there is no other form
     */
    public LoggedMessage asSent() {
        return asked == null || asked.later() == null
                ? this
                : asSent(message, asked.sentTokens(), asked.sentTokens() < 0 ? UNKNOWN_COUNTER : tokenCounter);
    }

    /**
     * Returns a copy that is shown as it is sent this time.
     *
     * @param sent the message as it is sent
     * @param size its size in tokens, 0 or more
     * @param counter the name of the counter that counted the tokens
     * @return the copy
     */
    public LoggedMessage asSent(ChatMessage sent, int size, String counter) {
        Asked only = asked == null ? null : asked.withLater(null, asked.sentTokens());
        return new LoggedMessage(
                id, parentId, sequence, sent, Math.max(0, size), counter, createdAt, outcome, question, only);
    }

    /** Returns a description without the message's text, so that it can be written to logs. */
    @Override
    public String toString() {
        return "LoggedMessage[id=" + id + ", parentId=" + parentId + ", sequence=" + sequence + ", type="
                + message.type() + ", tokens=" + tokens + (outcome == null ? "" : ", outcome=" + outcome) + "]";
    }
}
