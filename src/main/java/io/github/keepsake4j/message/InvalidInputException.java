package io.github.keepsake4j.message;

/** The input must be fixed; nothing was read or written. The text names the field. Not retryable. */
public class InvalidInputException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes an error that names the field.
     *
     * @param field the field as its caller knows it
     * @param problem what is wrong with it and what to do; never message text
     */
    public InvalidInputException(String field, String problem) {
        super(field + ": " + problem, null);
    }
}
