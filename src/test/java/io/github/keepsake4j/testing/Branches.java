package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Creates branches as a log would return them, without a log. */
public final class Branches {

    private Branches() {}

    /** Creates a branch without forks: message n has the id "mn" and the sequence n, from 1. */
    public static List<LoggedMessage> linear(JtokkitTokenCountEstimator estimator, ChatMessage... messages) {
        List<LoggedMessage> log = new ArrayList<>();
        for (ChatMessage message : messages) {
            long sequence = log.size() + 1L;
            log.add(new LoggedMessage(
                    "m" + sequence,
                    sequence == 1 ? null : "m" + (sequence - 1),
                    sequence,
                    message,
                    estimator.estimateTokenCountInMessage(message),
                    estimator.name(),
                    Instant.EPOCH));
        }
        return log;
    }
}
