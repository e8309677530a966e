package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.KeepsakeException;
import org.jspecify.annotations.Nullable;

/** Thrown at the start when something is missing or ambiguous. Its text ends with what to do. */
final class ConfigurationException extends KeepsakeException {

    private final String problem;
    private final String action;

    /**
     * Creates an exception.
     *
     * @param problem the problem, as a sentence
     * @param action what to add or set, as a sentence
     * @param cause the cause, or null
     */
    ConfigurationException(String problem, String action, @Nullable Throwable cause) {
        super(problem + " " + action, cause);
        this.problem = problem;
        this.action = action;
    }

    ConfigurationException(String problem, String action) {
        this(problem, action, null);
    }

    String problem() {
        return problem;
    }

    String action() {
        return action;
    }
}
