package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Optional;

/**
 * One page of a search's hits.
 *
 * @param hits the messages, best first
 * @param lagging whether the newest messages may be missing because they are not indexed yet
 * @param next the options for the next page, or empty if nothing more is found
 */
public record SearchResult(List<Hit> hits, boolean lagging, Optional<SearchOptions> next) {

    /** Copies the hits. */
    public SearchResult {
        hits = List.copyOf(hits);
    }

    /**
     * A message that was found.
     *
     * @param score how well it fits; only scores of one search can be compared
     * @param key the memory that it is in
     * @param message the message, as the log has it now
     * @param text the text in which the words were found: what the user wrote, or the message's texts, joined by line
     *     feeds, with blanks in place of texts that were retrieved for it
     * @param before the messages that it follows, oldest first
     * @param after the messages that follow it; if several answer the same message, the newest of them
     * @param highlights the places of the words in the text, in order and without overlaps
     */
    public record Hit(
            double score,
            MemoryKey key,
            LoggedMessage message,
            String text,
            List<LoggedMessage> before,
            List<LoggedMessage> after,
            List<Highlight> highlights) {

        /** Copies the lists. */
        public Hit {
            before = List.copyOf(before);
            after = List.copyOf(after);
            highlights = List.copyOf(highlights);
        }

        /** Leaves out the texts, so that the result may be logged. */
        @Override
        public String toString() {
            return "Hit[score=" + score + ", key=" + key + ", message=" + message + ", highlights=" + highlights + "]";
        }
    }

    /**
     * A part of a hit's text.
     *
     * @param start the index of its first UTF-16 code unit
     * @param end the index behind its last one
     */
    public record Highlight(int start, int end) {}
}
