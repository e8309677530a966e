package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The messages of the last call that failed after they were sent, so that it is unknown whether they are stored. When
 * the caller sends the same instances again, they keep their ids, so they are never stored twice. A successful call
 * empties the outbox. Thread-safe.
 */
public final class Outbox {

    private volatile List<NewMessage> unanswered = List.of();

    /**
     * Records the messages of a call that failed.
     *
     * @param messages the messages as they were sent
     */
    public void sent(List<NewMessage> messages) {
        unanswered = List.copyOf(messages);
    }

    /** Records that a call succeeded. */
    public void answered() {
        unanswered = List.of();
    }

    /**
     * Returns whether the last call succeeded.
     *
     * @return whether there are no messages of a failed call
     */
    public boolean isEmpty() {
        return unanswered.isEmpty();
    }

    /**
     * Returns the number of messages of the failed call.
     *
     * @return the number, 0 if the last call succeeded
     */
    public int size() {
        return unanswered.size();
    }

    /**
     * Takes over the messages of another outbox.
     *
     * @param other the other outbox
     */
    public void takeOver(Outbox other) {
        unanswered = other.unanswered;
    }

    /**
     * Returns whether a call repeats the failed one.
     *
     * @param list the messages of the call
     * @return whether they are exactly the instances that were sent
     */
    public boolean isRetry(List<ChatMessage> list) {
        List<NewMessage> sent = unanswered;
        return !sent.isEmpty()
                && sent.size() == list.size()
                && IntStream.range(0, list.size()).allMatch(i -> sent.get(i).message() == list.get(i));
    }

    /**
     * Finds an instance among the messages of the failed call.
     *
     * @param message the instance
     * @param taken the messages that were already found
     * @return the message as it was sent, or null
     */
    @Nullable
    NewMessage find(ChatMessage message, List<NewMessage> taken) {
        return unanswered.stream()
                .filter(sent -> sent.message() == message && !taken.contains(sent))
                .findFirst()
                .orElse(null);
    }
}
