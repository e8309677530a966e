package io.github.keepsake4j.message;

import org.jspecify.annotations.Nullable;

/**
 * The root of this library's exceptions. The subclass determines what the caller should do: retry
 * ({@link #isRetryable()}), correct the input, or repair stored data. An exception's text names the memory and never
 * contains the text of a message. It is one line that can be printed: control and format characters, such as those of
 * an id, are written as a backslash and their hexadecimal number.
 */
public class KeepsakeException extends RuntimeException {

    /**
     * Creates an exception without a cause.
     *
     * @param message what went wrong, where, and what to do about it; never the text of a message
     */
    public KeepsakeException(String message) {
        this(message, null);
    }

    /**
     * Creates an exception.
     *
     * @param message what went wrong, where, and what to do about it; never the text of a message
     * @param cause the cause, or null
     */
    public KeepsakeException(String message, @Nullable Throwable cause) {
        super(printable(message), cause);
    }

    /**
     * Escapes characters that would end a line of a log, control a terminal or change the direction of text. Ids may
     * contain any Unicode.
     */
    private static String printable(String message) {
        StringBuilder line = new StringBuilder(message.length());
        message.codePoints().forEach(c -> {
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR,
                        Character.SURROGATE -> line.append(String.format("\\u%04x", c));
                default -> line.appendCodePoint(c);
            }
        });
        return line.toString();
    }

    /**
     * Returns whether the same call may succeed later without any change.
     *
     * @return true if a retry makes sense. Default: false; subclasses override it.
     */
    public boolean isRetryable() {
        return false;
    }
}
