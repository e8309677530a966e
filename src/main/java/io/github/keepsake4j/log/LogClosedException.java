package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;

/** Thrown when a closed log is used, for example while the application shuts down. Not retryable. */
public class LogClosedException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param what the action that failed, and the memory
     */
    public LogClosedException(String what) {
        super(what + ": the log is closed", null);
    }
}
