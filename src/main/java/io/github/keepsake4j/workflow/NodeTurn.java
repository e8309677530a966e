package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One run of a node: the conversation's message that it works for, and, in a loop, how often it ran for it before. Made by
 * {@link #of} and narrowed by the other methods.
 *
 * @param messageId the id of the conversation's message; not one that ends in {@code #user}, {@code #} and a number, or
 *     {@code #step} and a number: these are how the parts of a turn and its iterations are stored
 * @param parentMessageId the message before it, or null
 * @param parentKnown whether the parent was given: a parent that is given as null is the conversation's beginning
 * @param iteration which run of a loop it is, from 1; 0 to count runs by what they append
 */
public record NodeTurn(String messageId, @Nullable String parentMessageId, boolean parentKnown, int iteration) {

    /** What reads the other shape of the node's document, with turns by run id, names the user's message likewise. */
    private static final String USER = "#user";

    private static final String STEP = "#step";
    private static final Pattern PART = Pattern.compile(".*#(user|(step)?\\d+)", Pattern.DOTALL);

    /** Checks the parts. */
    public NodeTurn {
        Ids.check("message_id", messageId);
        if (PART.matcher(messageId).matches()) {
            throw new InvalidInputException(
                    "message_id", "must not end in #user, or # or #step and a number: that names a part of a turn");
        }
        if (messageId.equals(Ids.BEFORE_IN_TIME)) {
            throw new InvalidInputException("message_id", "the all-zero UUID is no id: as a parent it has a meaning");
        }
        if (parentMessageId != null) {
            Ids.check("parent_message_id", parentMessageId);
        }
        if (iteration < 0) {
            throw new InvalidInputException("iteration", "must be 0 or more, is " + iteration);
        }
    }

    /**
     * A run for a message whose parent is not known.
     *
     * @param messageId the message's id
     * @return the turn
     */
    public static NodeTurn of(String messageId) {
        return new NodeTurn(messageId, null, false, 0);
    }

    /**
     * Names the message before it.
     *
     * @param parent its id, or null if the conversation begins here
     * @return a copy
     */
    public NodeTurn under(@Nullable String parent) {
        return new NodeTurn(messageId, parent, true, iteration);
    }

    /**
     * Names the run of a loop, so that doing it again is recognised.
     *
     * @param number from 1; 0 to count
     * @return a copy
     */
    public NodeTurn inIteration(int number) {
        return new NodeTurn(messageId, parentMessageId, parentKnown, number);
    }

    /** The id of an iteration's last message. */
    static String answerId(String messageId, int iteration) {
        return iteration <= 1 ? messageId : messageId + "#" + iteration;
    }

    /** The id of an iteration's user message. */
    static String userId(String answerId) {
        return answerId + USER;
    }

    /** The id of what stands between the user message and the last one, from 1. */
    static String middleId(String answerId, int number) {
        return answerId + STEP + number;
    }

    /** Which iteration of this message an id names, or 0 if it names none. */
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
