package io.github.keepsake4j.summary;

import io.github.keepsake4j.message.MemoryKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which memories' summaries fail at the moment. A broken summarizer costs one line for each memory and way of failing, not
 * one for each turn. Only so many memories are remembered; another line is the worst that comes of it. Thread-safe.
 */
final class FailureSeries {

    private static final Logger LOG = LoggerFactory.getLogger(SummaryWorker.class);
    private static final int REMEMBERED = 1000;

    private final Map<MemoryKey, String> failing = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, String> eldest) {
            return size() > REMEMBERED;
        }
    };

    synchronized boolean isFailing(MemoryKey key) {
        return failing.containsKey(key);
    }

    synchronized void healed(MemoryKey key) {
        failing.remove(key);
    }

    /** The cause's class only: its text may hold what a model or a user said. */
    void failed(MemoryKey key, SummaryFailedException.Kind kind, @Nullable Throwable cause) {
        String how = kind.tag() + (cause == null ? "" : ", " + cause.getClass().getName());
        synchronized (this) {
            if (how.equals(failing.put(key, how))) {
                return;
            }
        }
        LOG.warn(
                "No summary was made of memory {} ({}); nothing is lost, the model sees what the limits allow, and it is"
                        + " tried again",
                key,
                how);
    }
}
