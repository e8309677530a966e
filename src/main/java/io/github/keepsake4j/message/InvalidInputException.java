package io.github.keepsake4j.message;

/**
 * Thrown when an input is invalid and must be corrected by the caller. Nothing was read or written. The exception's
 * text names the field. Not retryable.
 */
public class InvalidInputException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception that names the field.
     *
     * @param field the caller's name for the field
     * @param problem what is wrong with the field and what to do about it; never the text of a message
     */
    public InvalidInputException(String field, String problem) {
        super(field + ": " + problem, null);
    }
}
