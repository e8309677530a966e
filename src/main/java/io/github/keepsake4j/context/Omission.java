package io.github.keepsake4j.context;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message that is not shown, and the reason.
 *
 * @param message the message
 * @param reason the reason
 */
public record Omission(LoggedMessage message, Reason reason) {

    /**
     * Finds the messages that are left out because they, or their turns, ended badly.
     *
     * @param messages the messages that were read, oldest first
     * @param user the newest user message, which may be older than the messages, or null
     * @return the messages that are left out, each with the reason
     */
    public static List<Omission> ofBadEnds(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        return EndedBadly.of(messages, user).hidden();
    }

    /** The reasons for not showing a message. */
    public enum Reason {
        /** The message exceeds the limit of messages or turns. */
        MESSAGE_LIMIT,
        /** The message exceeds the limit of tokens. */
        TOKEN_LIMIT,
        /**
         * The message is before, or belongs to, turns that exceed a limit alone and that have more than 1,000 messages
         * together. A view ends there.
         */
        TOO_FAR_BACK,
        /** A strategy excluded the message. */
        STRATEGY,
        /** The message is a tool result whose call is not shown or already has a result. */
        ORPHAN_RESULT,
        /** The message contains a tool call without a result: its turn was aborted or is still waiting. */
        UNANSWERED_CALL,
        /**
         * The message is an answer that was directly followed by another tool round, as happens when turns interleave.
         * Not every provider accepts that.
         */
        ANSWER_BEFORE_CALL,
        /**
         * The message is a user message that is followed by the same user message, because the turn failed and was
         * retried.
         */
        REPEATED_USER_MESSAGE,
        /**
         * The message was added by another turn while this turn waited for its tools. The next turn shows it.
         */
        MEANWHILE,
        /** The message belongs to a failed turn, and not to one of its complete tool rounds. */
        FAILED,
        /**
         * The message is a question, or belongs to one, whose turn was still without an answer when the next question
         * came. It returns with its answer.
         */
        UNANSWERED_QUESTION,
        /** The message is an answer that was rejected, or belongs to one. */
        REJECTED,
        /** The message has no text, which providers refuse. */
        EMPTY_TEXT,
        /** The message is before the first user message that was read. */
        NO_USER_MESSAGE,
        /** The message is a system message that a newer one has replaced. */
        OLD_SYSTEM_MESSAGE,
        /** The message has a type that this version does not know. */
        UNKNOWN_TYPE
    }
}
