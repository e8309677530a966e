package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.message.MemoryKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memories whose summaries currently fail. A broken summarizer is logged once for each memory and kind of failure,
 * not in every turn. The number of remembered memories is bounded; if one is forgotten, its failure may be logged once
 * more. Thread-safe.
 */
final class FailingMemories {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);
    private static final int REMEMBERED = 1000;

    private final RecentlyUsed<MemoryKey, String> failing = new RecentlyUsed<>(REMEMBERED);

    boolean isFailing(MemoryKey key) {
        return failing.get(key) != null;
    }

    void healed(MemoryKey key) {
        failing.remove(key);
    }

    /**
     * Records a failure. Only the class of the cause is logged, because its message may contain text of a model or a
     * user.
     */
    void failed(MemoryKey key, SummaryFailedException.Kind kind, @Nullable Throwable cause) {
        String how = kind.tag() + (cause == null ? "" : ", " + cause.getClass().getName());
        if (!failing.put(key, how)) {
            return;
        }
        LOG.warn(
                "No summary of memory {} was made ({}). Nothing is lost: the model sees what the limits allow, and the summary is"
                        + " tried again later",
                key,
                how);
    }
}
