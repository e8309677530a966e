package io.github.keepsake4j.turn;

import dev.langchain4j.invocation.InvocationParameters;
import io.github.keepsake4j.message.Ids;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Begins a turn at another place than the newest message. Use it when a user wants to retry a question, regenerate an
 * answer, edit a question, or work on a named branch. Pass it to a method of an AI service that declares a parameter of
 * this type or of type {@link InvocationParameters}, which works on any thread, or to {@code Conversation.turn(turn, body)},
 * which applies to the thread that calls it.
 *
 * <pre>{@code
 * interface Assistant {
 *     @UserMessage("{{text}}")
 *     String chat(@MemoryId String id, @V("text") String text, Turn turn);
 * }
 * assistant.chat("42", question, Turn.regenerate(answerId));
 * }</pre>
 *
 * <p>It works in AI services with this library's listeners: by default all services, and always those of {@code
 * Keepsake.aiServices(...)} and {@code Keepsake.attach(...)}. Use an instance for one call. The inherited map may be
 * used as with any other {@link InvocationParameters}.
 */
public final class Turn extends InvocationParameters {

    /** How a turn begins. */
    public enum Kind {
        /** With a new question behind the newest message. */
        NEW,
        /** With a stored question that has no answer. */
        RETRY,
        /** With the question of a stored answer. */
        REGENERATE,
        /** With a new question in place of a stored one. */
        EDIT
    }

    private final Kind kind;
    private final @Nullable String messageId;
    private final @Nullable String branch;

    private Turn(Kind kind, @Nullable String messageId, @Nullable String branch) {
        this.kind = kind;
        this.messageId = messageId;
        this.branch = branch;
    }

    /**
     * Begins a turn behind the newest message, like a call without a {@link Turn}.
     *
     * @return the turn
     */
    public static Turn next() {
        return new Turn(Kind.NEW, null, null);
    }

    /**
     * Retries a question that got no answer. The user message that the AI service adds is not stored again. Tool rounds
     * that the failed turn completed are shown to the model, so that it need not call the tools again. The answer
     * follows the question, and the branch with this question becomes the current one. If the question has an answer,
     * the new one is a sibling of it.
     *
     * @param userMessageId the id of the stored user message
     * @return the turn
     */
    public static Turn retry(String userMessageId) {
        return new Turn(Kind.RETRY, Ids.check("user message id", userMessageId), null);
    }

    /**
     * Regenerates an answer. The user message that the AI service adds is not stored again. The new answer is a sibling
     * of the old one and becomes the current one.
     *
     * @param answerId the id of the stored answer
     * @return the turn
     */
    public static Turn regenerate(String answerId) {
        return new Turn(Kind.REGENERATE, Ids.check("answer id", answerId), null);
    }

    /**
     * Asks another question in place of a stored one. The new question is a sibling of the old one and becomes the
     * current one, even if its turn fails.
     *
     * @param userMessageId the id of the stored user message
     * @return the turn
     */
    public static Turn edit(String userMessageId) {
        return new Turn(Kind.EDIT, Ids.check("user message id", userMessageId), null);
    }

    /**
     * Begins a turn on a named branch, for example one for each tab of a browser. The branch begins at the memory's
     * newest message when its name is first used. From then on, only its own turns move it.
     *
     * @param name the name of the branch
     * @return the turn
     */
    public static Turn on(String name) {
        return new Turn(Kind.NEW, null, Ids.check("branch name", name));
    }

    /**
     * Returns this turn on a named branch, as {@link #on} does.
     *
     * @param name the name of the branch
     * @return a new turn without the entries of this one's map
     */
    public Turn onBranch(String name) {
        return new Turn(kind, messageId, Ids.check("branch name", name));
    }

    /**
     * Returns how the turn begins.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the message with which the turn begins.
     *
     * @return the id of a stored message, or null for a turn of kind {@link Kind#NEW}
     */
    public @Nullable String messageId() {
        return messageId;
    }

    /**
     * Returns the branch of the turn.
     *
     * @return its name, or null for the memory's current branch
     */
    public @Nullable String branch() {
        return branch;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Turn turn
                && kind == turn.kind
                && Objects.equals(messageId, turn.messageId)
                && Objects.equals(branch, turn.branch)
                && super.equals(other);
    }

    @Override
    public int hashCode() {
        return 31 * super.hashCode() + Objects.hash(kind, messageId, branch);
    }

    @Override
    public String toString() {
        return "Turn[kind=" + kind + ", messageId=" + messageId + ", branch=" + branch + "]";
    }
}
