package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
     * @param message the message, always whole
     * @param excerpts by sequence the parts that a model is shown of messages of which the whole did not fit
     * @param messages the message and its neighbours on its branch, oldest first
     */
    public record Passage(
            MemoryKey key,
            double score,
            Features features,
            Instant sessionTime,
            LoggedMessage message,
            Map<Long, Excerpt> excerpts,
            List<LoggedMessage> messages) {

        /** Copies the messages and excerpts. */
        public Passage {
            excerpts = Map.copyOf(excerpts);
            messages = List.copyOf(messages);
        }

        /**
         * Returns the part of one of the messages that a model is shown.
         *
         * @param one one of the messages
         * @return the part, or null for the whole
         */
        public @Nullable Excerpt excerptOf(LoggedMessage one) {
            return excerpts.get(one.sequence());
        }
    }

    /**
     * A part of the text by which a message is found: of {@link LoggedMessage#textForModels()}, or if that is null, of
     * the message's text. It cuts no surrogate pair.
     *
     * @param start the index of the first UTF-16 code unit
     * @param end the index after the last UTF-16 code unit, more than {@code start}
     */
    public record Excerpt(int start, int end) {}

    /**
     * The reasons for which a message was recalled. Its score is the sum of these, each multiplied by a weight: 5, 5, 0, 1
     * and 4.5 without an embedding model, and 5, 5, 1, 2 and 3 with one of the memory's language.
     *
     * @param words how well the message and its neighbours match the question's words, about 0 to 2
     * @param answer the share of the question's words that are in the message's statements or in the question right before it,
     *     0 to 1
     * @param meaning how close the message and its neighbours are to the question in meaning, in standard deviations above the
     *     mean of the scope; 0 without an embedding model
     * @param speaker 1 if the question names exactly one speaker and the message is theirs, else 0
     * @param date how well the message's day fits the dates that the question names, 0 to 2
     */
    public record Features(double words, double answer, double meaning, double speaker, double date) {

        /** No reason at all. */
        static final Features NONE = new Features(0, 0, 0, 0, 0);

        /**
         * Returns the weights of the features. They are round numbers and were not fitted to data.
         *
         * @param meaning the weight of the meaning, 0 to 1
         */
        static Features weights(double meaning) {
            return new Features(5, 5, meaning, 1 + meaning, 4.5 - 1.5 * meaning);
        }

        /** Returns the sum of the features, each multiplied by its weight. */
        double score(Features weights) {
            return words * weights.words
                    + answer * weights.answer
                    + meaning * weights.meaning
                    + speaker * weights.speaker
                    + date * weights.date;
        }
    }
}
