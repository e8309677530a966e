package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessageType;
import java.util.Map;

/**
 * The data of a message in an index.
 *
 * @param sequence the message's sequence in its memory, from 1
 * @param type the type of message
 * @param length the number of its terms, with repetitions
 * @param terms how often each term occurs; not empty strings, without NUL
 */
public record IndexedMessage(long sequence, ChatMessageType type, int length, Map<String, Integer> terms) {

    /** Copies the terms. */
    public IndexedMessage {
        terms = Map.copyOf(terms);
    }

    /** Returns the sequence and the sizes. The terms are left out, so that the result may be logged. */
    @Override
    public String toString() {
        return "IndexedMessage[sequence=" + sequence + ", length=" + length + ", terms=" + terms.size() + "]";
    }
}
