package io.github.keepsake4j.message;

/** Thrown when a closed log, index or store is used, for example while the application shuts down. Not retryable. */
public class StorageClosedException extends KeepsakeException {

    /**
     * Creates the exception.
     *
     * @param what the action that failed, and the memory
     */
    public StorageClosedException(String what) {
        super(what + ": its store is closed. Open it again, and close it only after the last use");
    }
}
