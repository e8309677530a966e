package io.github.keepsake4j.context;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;

/**
 * Thrown when the parts of a model's view that cannot be left out exceed a limit: the system message, or the newest
 * turn's user message and last round. The log keeps all messages. Not retryable. The text names the part, its size, the
 * limit, and what to do.
 */
public class ContextOverflowException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param key the memory
     * @param over what does not fit
     */
    public ContextOverflowException(MemoryKey key, Context.Overflow over) {
        super("Memory " + key + ": " + problem(over), null);
    }

    private static String problem(Context.Overflow over) {
        String unit = over.reason() == Omission.Reason.TOKEN_LIMIT ? " tokens" : " messages";
        String sizes = over.size() + unit + ", and the limit is " + over.limit() + unit + ". ";
        return switch (over.part()) {
            case SYSTEM_MESSAGE ->
                "the system message, with the summary and the tools if there are any, takes " + sizes
                        + "Shorten the system message, or raise the limit";
            case QUESTION ->
                "the new user message, with the system message if there is one, takes " + sizes
                        + "Shorten it, or raise the limit. The log keeps it, and the following turns do not show it";
            case LAST_ROUND ->
                "the user message and the last tool round of the turn in progress take " + sizes
                        + "Send a shorter question, let the tools be called one by one, or raise the limit. The log"
                        + " keeps the turn, and the following turns do not show it";
        };
    }
}
