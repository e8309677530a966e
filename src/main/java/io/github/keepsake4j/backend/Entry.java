package io.github.keepsake4j.backend;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One stored message.
 *
 * @param id the message's id
 * @param parentId the parent's id, or null for a root; it may name a missing message
 * @param sequence its place in the log, from 1
 * @param body where its content is
 * @param type the message's type
 * @param tokens its size in tokens
 * @param tokenCounter the counter's name
 * @param createdAt when it was appended
 * @param outcome how it ended if it did not end well, or null
 * @param question the id of the question of its turn, or null
 */
public record Entry(
        String id,
        @Nullable String parentId,
        long sequence,
        Body body,
        ChatMessageType type,
        int tokens,
        String tokenCounter,
        Instant createdAt,
        @Nullable Outcome outcome,
        @Nullable String question) {

    /**
     * The place of the content of a message: a {@link Text} in the heap, or a place that a store's own {@code MemoryTree.Bodies}
     * read.
     */
    public interface Body {}

    /**
     * The content of a message in the heap.
     *
     * @param payload the message as text
     * @param made how it was made
     */
    public record Text(String payload, Made made) implements Body {

        /** Leaves out the payload and the request, so that the result may be logged. */
        @Override
        public String toString() {
            return "Text[payload=" + payload.length() + " characters]";
        }
    }

    /**
     * Returns the message as text in the heap.
     *
     * @return the text
     */
    public String payload() {
        return ((Text) body).payload();
    }

    /**
     * Returns how the message was made, as text in the heap.
     *
     * @return how it was made
     */
    public Made made() {
        return ((Text) body).made();
    }

    /**
     * Returns this message with another outcome.
     *
     * @param other the outcome, or null for none
     * @return a copy
     */
    public Entry withOutcome(@Nullable Outcome other) {
        return new Entry(id, parentId, sequence, body, type, tokens, tokenCounter, createdAt, other, question);
    }

    /**
     * Returns this message at another place in the log.
     *
     * @param other its place, from 1
     * @return a copy
     */
    public Entry at(long other) {
        return new Entry(id, parentId, other, body, type, tokens, tokenCounter, createdAt, outcome, question);
    }

    /**
     * Returns this message with an equal content in the heap.
     *
     * @param payload the message as text
     * @return a copy
     */
    public Entry withPayload(String payload) {
        Text text = new Text(payload, made());
        return new Entry(id, parentId, sequence, text, type, tokens, tokenCounter, createdAt, outcome, question);
    }

    /** Returns this message with the values that it shares with its parent, so that the heap holds them once. */
    Entry sharing(Entry parent) {
        String asked = Objects.equals(question, parent.question) ? parent.question : question;
        return new Entry(
                id,
                parent.id.equals(parentId) ? parent.id : parentId,
                sequence,
                body,
                type,
                tokens,
                tokenCounter.equals(parent.tokenCounter) ? parent.tokenCounter : tokenCounter,
                createdAt.equals(parent.createdAt) ? parent.createdAt : createdAt,
                outcome,
                parent.id.equals(asked) ? parent.id : asked);
    }

    /** Leaves out the payload and the request, so that the result may be logged. */
    @Override
    public String toString() {
        return "Entry[id=" + id + ", parentId=" + parentId + ", sequence=" + sequence + ", type=" + type + "]";
    }
}
