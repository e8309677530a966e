package io.github.keepsake4j.testing;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;

/** Keepsakes with nothing but a log, or a log and a strategy. */
public final class Keepsakes {

    private Keepsakes() {}

    public static Keepsake on(MessageLog log) {
        return Keepsake.builder().messageLog(log).build();
    }

    public static Keepsake on(MessageLog log, ContextStrategy strategy) {
        return Keepsake.builder().messageLog(log).strategy(strategy).build();
    }
}
