package io.github.keepsake4j.context;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * A user message and what followed it.
 *
 * @param user the message that began it
 * @param rounds what followed, oldest first
 * @param cut rounds that stood before those and do not fit; a strategy that comes later must know of them
 */
public record Turn(LoggedMessage user, List<Round> rounds, List<Round> cut) {

    /**
     * A message, or an assistant message with tool calls and all their results: what can only be shown together.
     *
     * @param messages the messages, calls first
     * @param hidden messages that belong here and are not shown, such as calls that were never answered; limits count
     *     them, so that nothing older comes back when they are found to be dead
     */
    public record Round(List<LoggedMessage> messages, List<LoggedMessage> hidden) {

        /** Copies the lists. */
        public Round {
            messages = List.copyOf(messages);
            hidden = List.copyOf(hidden);
        }

        /**
         * Tells whether this round closes a turn: it is a message without tool calls.
         *
         * @return true for an answer, false for calls and their results
         */
        public boolean isAnswer() {
            return hidden.isEmpty() && messages.size() == 1;
        }

        /**
         * Returns all messages, shown or not.
         *
         * @return a new list
         */
        public List<LoggedMessage> all() {
            List<LoggedMessage> all = new ArrayList<>(messages);
            all.addAll(hidden);
            return all;
        }
    }

    /** Copies the lists. */
    public Turn {
        rounds = List.copyOf(rounds);
        cut = List.copyOf(cut);
    }

    /**
     * Tells whether the turn came to its end: its last message is an answer without tool calls.
     *
     * @return whether it did
     */
    public boolean closed() {
        return !rounds.isEmpty() && rounds.get(rounds.size() - 1).isAnswer();
    }

    /**
     * Returns what is shown, in order.
     *
     * @return the user message and the rounds' messages
     */
    public List<LoggedMessage> messages() {
        List<LoggedMessage> messages = new ArrayList<>();
        messages.add(user);
        rounds.forEach(round -> messages.addAll(round.messages()));
        return messages;
    }
}
