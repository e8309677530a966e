package io.github.keepsake4j.log.file;

import io.github.keepsake4j.message.KeepsakeException;

/**
 * A line that cannot be read, or that contradicts the lines before it. Its text names the reason and quotes nothing.
 */
final class BadLineException extends KeepsakeException {

    BadLineException(String problem) {
        super(problem);
    }

    String problem() {
        return String.valueOf(getMessage());
    }
}
