package io.github.keepsake4j.message;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a message that did not end well. It is stored beside the message and not in it, so messages with
 * different outcomes can be equal.
 *
 * @param kind how it ended
 * @param reason a short word that says why, such as the name of a class, or null; at most {@link #MAX_REASON_LENGTH}
 *     characters, without NUL; never the text of a message
 */
public record Outcome(Kind kind, @Nullable String reason) {

    /** The longest reason, in UTF-16 units as {@link String#length()} counts them. */
    public static final int MAX_REASON_LENGTH = 200;

    /** The outcome of a message that a repair found unreadable. */
    public static final Outcome UNREADABLE = new Outcome(Kind.UNREADABLE, null);

    /** How a message ended. */
    public enum Kind {
        /** A user message whose turn got no answer. It leaves the view. Its complete tool rounds stay. */
        FAILED,

        /** An interrupted answer. The part that was received is shown. */
        INCOMPLETE,

        /** An answer that the user did not get, because a guardrail refused or replaced it. It is not shown. */
        REJECTED,

        /**
         * A message whose stored bytes cannot be read. A repair set this, and the message is an {@link UnknownMessage}. The bytes
         * are kept.
         */
        UNREADABLE;

        /**
         * Reads a kind that a log stores.
         *
         * @param name the name, in any case
         * @return the kind, or empty for a kind of a newer version
         */
        public static Optional<Kind> named(String name) {
            return Arrays.stream(values())
                    .filter(kind -> kind.name().equalsIgnoreCase(name))
                    .findFirst();
        }
    }

    /**
     * Checks the components.
     *
     * @throws InvalidInputException if the reason is too long or cannot be stored as it is
     */
    public Outcome {
        InvalidInputException.given("kind", kind);
        if (reason != null) {
            if (reason.length() > MAX_REASON_LENGTH) {
                throw new InvalidInputException(
                        "outcome reason",
                        "is " + reason.length() + " characters long; the limit is " + MAX_REASON_LENGTH);
            }
            InvalidInputException.checkText("outcome reason", reason);
        }
    }

    /**
     * Creates the outcome of a user message whose turn failed.
     *
     * @param reason the error's class name, cut to {@link #MAX_REASON_LENGTH}, or null if it is not known
     * @return the outcome
     */
    public static Outcome failed(@Nullable String reason) {
        return new Outcome(Kind.FAILED, cut(reason));
    }

    /**
     * Creates the outcome of an interrupted answer.
     *
     * @param reason {@code cancelled}, {@code cut} or {@code limit}; cut to {@link #MAX_REASON_LENGTH}
     * @return the outcome
     */
    public static Outcome incomplete(String reason) {
        return new Outcome(Kind.INCOMPLETE, cut(InvalidInputException.given("reason", reason)));
    }

    /**
     * Creates the outcome of an answer that was refused or replaced.
     *
     * @param by the guardrail's class name, cut to {@link #MAX_REASON_LENGTH}
     * @return the outcome
     */
    public static Outcome rejected(String by) {
        return new Outcome(Kind.REJECTED, cut(InvalidInputException.given("by", by)));
    }

    private static @Nullable String cut(@Nullable String reason) {
        if (reason == null || reason.length() <= MAX_REASON_LENGTH) {
            return reason;
        }
        int end = Character.isHighSurrogate(reason.charAt(MAX_REASON_LENGTH - 1))
                ? MAX_REASON_LENGTH - 1
                : MAX_REASON_LENGTH;
        return reason.substring(0, end);
    }

    /** Leaves out the reason, which may quote a model, so that the result may be logged. */
    @Override
    public String toString() {
        return "Outcome[kind=" + kind + "]";
    }
}
