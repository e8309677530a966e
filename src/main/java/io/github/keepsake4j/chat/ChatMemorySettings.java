package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import java.util.concurrent.Executor;

/**
 * What all chat memories of one {@code Keepsake} share.
 *
 * @param log where messages are kept
 * @param strategy what a model sees
 * @param counter what counts messages when they are appended
 * @param executor what runs the asynchronous methods
 * @param handedOut what memories handed out last
 */
public record ChatMemorySettings(
        MessageLog log, ContextStrategy strategy, TokenCounter counter, Executor executor, HandedOut handedOut) {

    /**
     * Collects the settings.
     *
     * @param log where messages are kept
     * @param strategy what a model sees
     * @param counter what counts messages when they are appended
     * @param executor what runs the asynchronous methods
     */
    public ChatMemorySettings(MessageLog log, ContextStrategy strategy, TokenCounter counter, Executor executor) {
        this(log, strategy, counter, executor, new HandedOut());
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
}
