package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.KeepsakeException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Prints the missing part and the action, in place of a stack trace. Other errors of this library contain both in one
 * sentence.
 */
final class KeepsakeFailureAnalyzer extends AbstractFailureAnalyzer<KeepsakeException> {

    @Override
    protected FailureAnalysis analyze(Throwable root, KeepsakeException cause) {
        return cause instanceof ConfigurationException known
                ? new FailureAnalysis(known.problem(), known.action(), root)
                : new FailureAnalysis(cause.getMessage() + ".", "", root);
    }
}
