package io.github.keepsake4j.log;

import io.github.keepsake4j.message.KeepsakeException;

/** The log was closed: the application shuts down, or uses a log that it has closed. Not retryable. */
public class LogClosedException extends KeepsakeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes the error.
     *
     * @param what what could not be done, and for which memory
     */
    public LogClosedException(String what) {
        super(what + ": the log is closed", null);
    }
}
