package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the long-term memories of one discussion. Without a discussion there are no memories, and retrievers use the given
 * messages.
 *
 * <p>Thread-safe.
 */
public final class LongTermMemoriesOfDiscussion {

    /** Separates the chunks of a text. */
    public static final String CHUNK_BREAK = "--ChunkBreak--";

    /** The text if there are no memories. */
    public static final String NO_MEMORIES = "No memories have been generated yet";

    /** The text where a search finds nothing. */
    public static final String NO_MATCH = "No memories were found";

    private final LongTermMemoryReader reader;
    private final @Nullable MemoryKey key;
    private final List<SourceMessage> messages;
    private final Trust leastTrust;

    LongTermMemoriesOfDiscussion(
            LongTermMemoryReader reader, @Nullable MemoryKey key, List<SourceMessage> messages, Trust leastTrust) {
        this.reader = Objects.requireNonNull(reader, "reader");
        this.key = key;
        this.messages = List.copyOf(messages);
        this.leastTrust = Objects.requireNonNull(leastTrust, "leastTrust");
    }

    /**
     * Joins the texts of memories, separated by {@value #CHUNK_BREAK}. If a text contains the separator, a space is put
     * into it.
     *
     * @param memories the memories
     * @return the text; empty if there is none
     */
    public static String join(List<MadeMemory> memories) {
        return joinTexts(memories.stream().map(MadeMemory::text).toList(), CHUNK_BREAK);
    }

    /** Joins texts by a delimiter, and changes texts that contain it. */
    static String joinTexts(List<String> texts, String delimiter) {
        String harmless = delimiter.length() < 2 ? delimiter : delimiter.charAt(0) + " " + delimiter.substring(1);
        return texts.stream().map(text -> text.replace(delimiter, harmless)).collect(Collectors.joining(delimiter));
    }

    /**
     * Returns whether there is no discussion.
     *
     * @return whether nothing is persisted
     */
    public boolean isStateless() {
        return key == null;
    }

    /**
     * Returns the messages at hand.
     *
     * @return the messages without system messages, oldest first; may be empty if there is a discussion
     */
    public List<SourceMessage> messages() {
        return messages;
    }

    /**
     * Returns all chunks.
     *
     * @return the chunks of enough trust, oldest first
     */
    public List<MadeMemory> chunks() {
        return chunks(Integer.MAX_VALUE);
    }

    /**
     * Returns the newest chunks.
     *
     * @param last the largest number, 0 or more
     * @return the chunks of enough trust, oldest first
     */
    public List<MadeMemory> chunks(int last) {
        return key == null ? List.of() : newest(last, most -> reader.chunks(key, most));
    }

    /**
     * Returns the newest facts.
     *
     * @param last the largest number, 0 or more
     * @return the facts of enough trust, oldest first
     */
    public List<MadeMemory> facts(int last) {
        return key == null ? List.of() : newest(last, most -> reader.facts(key, most));
    }

    /**
     * Finds facts by their words.
     *
     * @param query the query; the higher of its least trust and this view's applies
     * @return the facts, the best first
     */
    public List<FoundLongTermMemory> search(FactQuery query) {
        if (key == null) {
            return List.of();
        }
        Trust least = query.leastTrust().isAtLeast(leastTrust) ? query.leastTrust() : leastTrust;
        return reader.search(key, new FactQuery(query.keywords(), query.limit(), least));
    }

    /**
     * Returns the summary.
     *
     * @return the current version, or null if there is none of enough trust
     */
    public @Nullable MadeMemory summary() {
        MadeMemory summary = key == null ? null : reader.summary(key);
        return summary != null && summary.trust().isAtLeast(leastTrust) ? summary : null;
    }

    private List<MadeMemory> newest(int last, IntFunction<List<MadeMemory>> read) {
        return leastTrust == Trust.RETRIEVED
                ? read.apply(last)
                : Overview.newest(MadeMemory.trusted(read.apply(Integer.MAX_VALUE), leastTrust), last);
    }
}
