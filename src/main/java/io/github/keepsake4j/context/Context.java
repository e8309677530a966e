package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is shown of a memory, and what is not.
 *
 * @param system the system message in force, which stands first, or null
 * @param turns the turns behind it, oldest first
 * @param omitted what was read and is not shown, with the reason, in the order in which it was decided
 * @param overflow whether even the newest turn's user message and last round are over a limit, so that the context does
 *     not keep it
 */
public record Context(@Nullable LoggedMessage system, List<Turn> turns, List<Omission> omitted, boolean overflow) {

    /** Why a message is not shown. */
    public enum Reason {
        /** Over the limit of messages or turns. */
        MESSAGE_LIMIT,
        /** Over the limit of tokens. */
        TOKEN_LIMIT,
        /** A result whose call is not shown, or was answered already. */
        ORPHAN_RESULT,
        /** A call that was never answered: its turn died. */
        UNANSWERED_CALL,
        /** It stands before the first user message that was read. */
        NO_USER_MESSAGE,
        /** A newer system message is in force. */
        OLD_SYSTEM_MESSAGE,
        /** A type that this version does not know. */
        UNKNOWN_TYPE
    }

    /**
     * A message that is not shown.
     *
     * @param message the message
     * @param reason why
     */
    public record Omission(LoggedMessage message, Reason reason) {}

    /** Copies the lists. */
    public Context {
        turns = List.copyOf(turns);
        omitted = List.copyOf(omitted);
    }

    /**
     * Returns everything that is shown, in order.
     *
     * @return the system message, if there is one, and the turns' messages
     */
    public List<LoggedMessage> shown() {
        List<LoggedMessage> shown = new ArrayList<>();
        if (system != null) {
            shown.add(system);
        }
        turns.forEach(turn -> shown.addAll(turn.messages()));
        return shown;
    }

    /**
     * Returns everything that is shown, as LangChain4j's messages.
     *
     * @return a new list
     */
    public List<ChatMessage> messages() {
        List<ChatMessage> messages = new ArrayList<>();
        shown().forEach(logged -> messages.add(logged.message()));
        return messages;
    }
}
