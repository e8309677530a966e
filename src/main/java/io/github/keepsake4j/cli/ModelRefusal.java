package io.github.keepsake4j.cli;

import dev.langchain4j.exception.NonRetriableException;
import io.github.keepsake4j.summary.SummaryFailedException;
import org.jspecify.annotations.Nullable;

/**
 * Why a model made no summary, where the same command would fail again: a key, address or request that is refused. The text of
 * such an exception may quote what was sent, so only its class is told.
 */
final class ModelRefusal {

    private ModelRefusal() {}

    /** Returns the reason within an exception, or null if there is none or a retry may succeed. */
    static @Nullable Throwable in(Throwable e) {
        if (!(e instanceof SummaryFailedException)) {
            return null;
        }
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof NonRetriableException || cause instanceof IllegalArgumentException) {
                return cause;
            }
        }
        return null;
    }
}
