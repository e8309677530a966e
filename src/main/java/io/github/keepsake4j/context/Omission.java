package io.github.keepsake4j.context;

import io.github.keepsake4j.message.LoggedMessage;

/**
 * A message that is not shown, and the reason.
 *
 * @param message the message
 * @param reason the reason
 */
public record Omission(LoggedMessage message, Reason reason) {

    /** Returns the omission of a message whose question was not read. */
    static Omission ofUnread(LoggedMessage message) {
        return new Omission(message, message.question() == null ? Reason.NO_USER_MESSAGE : Reason.NO_QUESTION);
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
        /** The message belongs to a failed turn, and not to one of its complete tool rounds. */
        FAILED,
        /**
         * The message is a question, or belongs to one, whose turn was still without an answer when the next question
         * came. It returns with its answer.
         */
        UNANSWERED_QUESTION,
        /** The message is an answer that was rejected, or belongs to one. */
        REJECTED,
        /** The message is an answer to a question that has an earlier one. */
        ANSWERED_BEFORE,
        /**
         * The message belongs to a question that is not shown: a list that was set leaves it out, a summary covers its
         * place, or it was not read. The next summary takes both.
         */
        NO_QUESTION,
        /**
         * A repair found the message unreadable, or a message that may be the question or the answer of its turn.
         */
        UNREADABLE,
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
