package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.MemoryKey;
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
 */
public record ChatMemorySettings(
        MessageLog log,
        ContextStrategy strategy,
        TokenCounter counter,
        Executor executor,
        TurnLeases turns,
        RecentContexts contexts,
        Summaries summaries) {

    /**
     * Collects the settings.
     *
     * @param log where messages are kept
     * @param strategy what a model sees
     * @param counter what counts messages when they are appended
     * @param executor what runs the asynchronous methods
     * @param turns the turns that keep others out
     * @param worker what makes summaries, or null if nothing does
     */
    public ChatMemorySettings(
            MessageLog log,
            ContextStrategy strategy,
            TokenCounter counter,
            Executor executor,
            TurnLeases turns,
            @Nullable SummaryWorker worker) {
        this(log, strategy, counter, executor, turns, new RecentContexts(), new Summaries(log, strategy, worker));
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
        AppendResult result = log.append(key, append);
        turns.renew(key);
        return result;
    }
}
