package io.github.keepsake4j.log.file;

/** A line that cannot be read, or that contradicts the lines before it. Its text says why, and quotes nothing. */
final class BadLineException extends Exception {

    private static final long serialVersionUID = 1L;

    BadLineException(String problem) {
        super(problem);
    }

    String problem() {
        return String.valueOf(getMessage());
    }
}
