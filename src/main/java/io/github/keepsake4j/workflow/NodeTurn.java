package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of one run of a node: the conversation's message for which it runs and, in a loop, the number of the
 * iteration. It has no messages, unlike {@link io.github.keepsake4j.context.ContextTurn}. Created by {@link #of} and refined
 * by the other methods.
 *
 * @param messageId the id of the conversation's message; it must not end in {@code #user}, in {@code #} and a number,
 *     or in {@code #step} and a number, because the parts of a turn and its iterations are stored under such ids
 * @param parentMessageId the message before it, or null
 * @param parentKnown whether the parent was given; a parent that is given as null means the conversation's beginning
 * @param iteration the iteration of a loop, from 1; 0 to number iterations in the order in which they are appended
 * @param runKey the key by which a repetition of the run is recognised, or null if the run is not repeated
 */
public record NodeTurn(
        String messageId,
        @Nullable String parentMessageId,
        boolean parentKnown,
        int iteration,
        @Nullable String runKey) {

    private static final String STEP = "#step";
    private static final Pattern PART = Pattern.compile(".*#(user|(step)?\\d+)", Pattern.DOTALL);

    /** Checks the components. */
    public NodeTurn {
        Ids.check("message_id", messageId);
        if (!isMessageId(messageId)) {
            throw new InvalidInputException(
                    "message_id",
                    "must not end in #user, #<number> or #step<number>: such an id names a part of a turn");
        }
        if (messageId.equals(Ids.BEFORE_IN_TIME)) {
            throw new InvalidInputException(
                    "message_id", "must not be the all-zero UUID, which has a special meaning as a parent");
        }
        if (parentMessageId != null) {
            Ids.check("parent_message_id", parentMessageId);
        }
        InvalidInputException.checkAtLeast("iteration", 0, iteration);
        if (runKey != null) {
            Ids.check("run_key", runKey);
        }
    }

    /**
     * Creates a run for a message whose parent is not known.
     *
     * @param messageId the message's id
     * @return the turn
     */
    public static NodeTurn of(String messageId) {
        return new NodeTurn(messageId, null, false, 0, null);
    }

    /**
     * Sets the message before this one.
     *
     * @param parent the message's id, or null if the conversation begins here
     * @return a copy
     */
    public NodeTurn under(@Nullable String parent) {
        return new NodeTurn(messageId, parent, true, iteration, runKey);
    }

    /**
     * Sets the iteration of a loop, so that a repetition of the same iteration is recognised.
     *
     * @param number the iteration, from 1; 0 to number iterations in the order in which they are appended
     * @return a copy
     */
    public NodeTurn inIteration(int number) {
        return new NodeTurn(messageId, parentMessageId, parentKnown, number, runKey);
    }

    /**
     * Sets the key of the run, so that the run is stored once even if the engine repeats it after a crash. The first
     * stored turn with the key stays, even if the repeated run answers differently.
     *
     * @param key the engine's id of this run of the node, different for each iteration of a loop
     * @return a copy
     */
    public NodeTurn inRun(String key) {
        return new NodeTurn(messageId, parentMessageId, parentKnown, iteration, Ids.check("run_key", key));
    }

    /** Returns whether a turn may be for a message with this id, which then does not name a part of a turn. */
    static boolean isMessageId(String id) {
        return !PART.matcher(id).matches();
    }

    /** Returns the id of an iteration's last message. */
    static String answerId(String messageId, int iteration) {
        return iteration <= 1 ? messageId : messageId + "#" + iteration;
    }

    /**
     * Returns the id of an iteration's user message. Readers of the other form of the node's document, with turns by run
     * id, use the same id.
     */
    static String userId(String answerId) {
        return answerId + Ids.QUESTION;
    }

    /** Returns the id of a message between the user message and the last one, numbered from 1. */
    static String middleId(String answerId, int number) {
        return answerId + STEP + number;
    }

    /** Returns whether an id names a message of a turn before the turn's answer. */
    static boolean isPart(String answerId, @Nullable String id) {
        return id != null && (id.equals(userId(answerId)) || id.startsWith(answerId + STEP));
    }

    /** Returns the iteration of a message that an id denotes, or 0 if it denotes none. */
    static int iterationOf(String messageId, String id) {
        if (id.equals(messageId)) {
            return 1;
        }
        String prefix = messageId + "#";
        if (!id.startsWith(prefix) || id.length() > prefix.length() + 9) {
            return 0;
        }
        String number = id.substring(prefix.length());
        return number.matches("[1-9]\\d*") ? Integer.parseInt(number) : 0;
    }
}
