package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.List;

/**
 * The result of a recall.
 *
 * @param passages the parts of conversations, best first; no message is in two of them
 * @param lagging whether the newest messages may be missing because they are not indexed yet
 */
public record Recalled(List<Passage> passages, boolean lagging) {

    /** Copies the passages. */
    public Recalled {
        passages = List.copyOf(passages);
    }

    /**
     * A message that answers the question, with its neighbours.
     *
     * @param key the memory that it is from
     * @param score how well it fits; only scores of one question can be compared
     * @param features why it was recalled
     * @param sessionTime the time of the first message of its session, among the messages that were read
     * @param message the message
     * @param messages the message and its neighbours on its branch, oldest first
     */
    public record Passage(
            MemoryKey key,
            double score,
            Features features,
            Instant sessionTime,
            LoggedMessage message,
            List<LoggedMessage> messages) {

        /** Copies the messages. */
        public Passage {
            messages = List.copyOf(messages);
        }
    }
}
