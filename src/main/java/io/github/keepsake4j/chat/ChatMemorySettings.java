package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What all chat memories of one {@code Keepsake} share.
 *
 * @param log where messages are kept
 * @param strategy what a model sees
 * @param counter what counts messages when they are appended
 * @param executor what runs the asynchronous methods
 * @param turns the turns that keep others out
 * @param contexts what memories handed out last
 * @param summaries has summaries made
 * @param meter counts what happens
 */
public record ChatMemorySettings(
        MessageLog log,
        ContextStrategy strategy,
        TokenCounter counter,
        Executor executor,
        TurnLeases turns,
        RecentContexts contexts,
        Summaries summaries,
        Meter meter) {

    /**
     * Collects the settings.
     *
     * @param log where messages are kept
     * @param strategy what a model sees
     * @param counter what counts messages when they are appended
     * @param executor what runs the asynchronous methods
     * @param turns the turns that keep others out
     * @param worker what makes summaries, or null if nothing does
     * @param metrics what hears of what happens
     */
    public ChatMemorySettings(
            MessageLog log,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            TurnLeases turns,
            @Nullable SummaryWorker worker,
            Metrics metrics) {
        this(log, strategy, counter, executor, turns, worker, Meter.of(metrics, log));
    }

    private ChatMemorySettings(
            MessageLog log,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            TurnLeases turns,
            @Nullable SummaryWorker worker,
            Meter meter) {
        this(
                log,
                strategy,
                counter,
                executor,
                turns,
                new RecentContexts(),
                new Summaries(log, strategy, worker, meter),
                meter);
    }

    /**
     * Makes a message ready to be appended: with an id of our own, and counted.
     *
     * @param message the message
     * @return the message with its id and count
     */
    public NewMessage prepare(ChatMessage message) {
        TokenCounter.Count count = counter.count(message);
        return NewMessage.of(message, count.tokens(), count.counter());
    }

    /** Appends, which is a sign of life of the turn that is going on. */
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

    /** Reads as far back as the strategy looks, or somebody else does. */
    Tail load(MemoryKey key, Reach reach) {
        return meter.read(TailLoader.load(log, key, reach));
    }
}
