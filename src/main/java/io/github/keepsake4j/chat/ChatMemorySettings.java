package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.turn.TurnLeases;
import io.github.keepsake4j.view.HandedOut;
import io.github.keepsake4j.view.ViewWriter;
import java.lang.ref.SoftReference;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The parts that all chat memories of one {@code Keepsake} share. Thread-safe. */
final class ChatMemorySettings {

    /** The maximum number of contexts that are kept: about as many conversations are in a turn at a time. */
    private static final int MEMORIES = 1_000;

    private final MessageLog log;
    private final ContextStrategy strategy;
    private final TokenCounter counter;
    private final Executor executor;
    private final TurnLeases turns;
    private final Meter meter;
    private final Summaries summaries;
    private final HandedOut handedOut = new HandedOut();
    private final ViewWriter views;

    /** The context that each memory returned last. A context that is missing here is counted again. */
    private final RecentlyUsed<MemoryKey, SoftReference<Context>> contexts = new RecentlyUsed<>(MEMORIES);

    /**
     * Collects the parts.
     *
     * @param log where messages are kept
     * @param strategy selects the messages that a model sees
     * @param counter counts messages when they are appended
     * @param executor runs the asynchronous methods
     * @param turns the turns that exclude other turns
     * @param worker makes summaries, or null for none
     * @param metrics the metrics sink
     */
    ChatMemorySettings(
            MessageLog log,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            TurnLeases turns,
            @Nullable SummaryWorker worker,
            Metrics metrics) {
        this.log = log;
        this.strategy = strategy;
        this.counter = counter;
        this.executor = executor;
        this.turns = turns;
        this.meter = Meter.of(metrics, log);
        this.summaries = new Summaries(log, strategy, worker, meter);
        this.views = new ViewWriter(log, this::append, meter::read, this::prepare, handedOut);
    }

    MessageLog log() {
        return log;
    }

    ContextStrategy strategy() {
        return strategy;
    }

    TokenCounter counter() {
        return counter;
    }

    Executor executor() {
        return executor;
    }

    Meter meter() {
        return meter;
    }

    Summaries summaries() {
        return summaries;
    }

    HandedOut handedOut() {
        return handedOut;
    }

    ViewWriter views() {
        return views;
    }

    /**
     * Prepares a message for an append: counts it and gives it a new id.
     *
     * @param message the message
     * @return the message with its id and count
     */
    NewMessage prepare(ChatMessage message) {
        TokenCounter.Count count = counter.count(message);
        return NewMessage.of(message, count.tokens(), count.counter());
    }

    /** Appends, and renews the lease of the current turn if that is due. */
    AppendResult append(MemoryKey key, Append append) {
        AppendResult result;
        try {
            result = log.append(key, append);
        } catch (HeadConflictException e) {
            meter.conflict();
            throw e;
        }
        meter.appended(append, result);
        turns.renew(key);
        return result;
    }

    /** Reads as far back as the given reach. */
    Tail load(MemoryKey key, Reach reach) {
        return meter.read(TailLoader.load(log, key, reach));
    }

    /** Records the context that a memory returned. */
    void shown(MemoryKey key, Context context, boolean cut) {
        meter.shown(shown(key), context, cut);
        contexts.put(key, new SoftReference<>(context));
    }

    /** Returns the context that a memory returned last, or null if it is not known. */
    @Nullable
    Context shown(MemoryKey key) {
        SoftReference<Context> context = contexts.get(key);
        return context == null ? null : context.get();
    }
}
