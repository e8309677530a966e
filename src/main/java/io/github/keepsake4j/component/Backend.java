package io.github.keepsake4j.component;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.RecentlyUsed;
import java.util.function.Function;

/**
 * An open log, and the memories on it by their strategies. They are kept because summaries that are being made, and those
 * that failed, are known to them. Thread-safe.
 */
final class Backend {

    /** The maximum number of strategies. Each input may come with limits of its own. */
    private static final int MOST = 100;

    private final MessageLog log;
    private final Function<ContextStrategy, Keepsake> maker;
    private final Keepsake summaries;
    private final RecentlyUsed<Settings, Keepsake> bySettings = new RecentlyUsed<>(MOST);

    /**
     * Creates a backend.
     *
     * @param log the log
     * @param maker makes memories on the log
     */
    Backend(MessageLog log, Function<ContextStrategy, Keepsake> maker) {
        this.log = log;
        this.maker = maker;
        this.summaries = maker.apply(Whole.ONLY_SUMMARY);
    }

    MessageLog log() {
        return log;
    }

    /** Memories that are read only for the summary in force. */
    Keepsake summaries() {
        return summaries;
    }

    Keepsake with(ContextStrategy strategy) {
        return maker.apply(strategy);
    }

    synchronized Keepsake with(Settings settings, Function<Settings, ContextStrategy> strategy) {
        Keepsake known = bySettings.get(settings);
        if (known == null) {
            known = maker.apply(strategy.apply(settings));
            bySettings.put(settings, known);
        }
        return known;
    }
}
