package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
    private final List<SourceMessage> sources;
    private final Trust leastTrust;

    /** Creates it. The sources are those of the messages from which memories are made. */
    LongTermMemoriesOfDiscussion(
            LongTermMemoryReader reader,
            @Nullable MemoryKey key,
            List<SourceMessage> messages,
            List<SourceMessage> sources,
            Trust leastTrust) {
        this.reader = Objects.requireNonNull(reader, "reader");
        this.key = key;
        this.messages = List.copyOf(messages);
        this.sources = List.copyOf(sources);
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
        return newest(MadeMemory.Kind.CHUNK, last);
    }

    /**
     * Returns the newest facts.
     *
     * @param last the largest number, 0 or more
     * @return the facts of enough trust, oldest first
     */
    public List<MadeMemory> facts(int last) {
        return newest(MadeMemory.Kind.FACT, last);
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
        FactQuery trusted = new FactQuery(query.keywords(), query.limit(), least);
        boolean isWhole = covered(MadeMemory.Kind.FACT) == null;
        return isWhole ? reader.search(key, trusted) : reader.rank(trusted, facts(Integer.MAX_VALUE));
    }

    /**
     * Returns the summary.
     *
     * @return the current version, or null if there is none of enough trust
     */
    public @Nullable MadeMemory summary() {
        Progress covered = covered(MadeMemory.Kind.CHUNK);
        MadeMemory current = key == null ? null : reader.summary(key);
        MadeMemory summary = covered == null || key == null ? current : covered.holding(reader.summaries(key));
        return summary != null && summary.trust().isAtLeast(leastTrust) ? summary : null;
    }

    private List<MadeMemory> newest(MadeMemory.Kind kind, int last) {
        if (key == null) {
            return List.of();
        }
        Progress covered = covered(kind);
        if (covered == null && leastTrust == Trust.RETRIEVED) {
            return reader.shown(key, kind, last);
        }
        List<MadeMemory> shown = reader.shown(key, kind, Integer.MAX_VALUE);
        List<MadeMemory> all = new ArrayList<>(MadeMemory.trusted(shown, leastTrust));
        if (covered != null) {
            Set<Passage> passages = new HashSet<>(Set.of(Passage.NONE));
            covered.path().forEach(step -> passages.add(step.passage()));
            all.removeIf(memory -> !passages.contains(memory.source()));
        }
        return Overview.newest(all, last);
    }

    /** Returns the progress up to the last passage of the sources, or null if nothing behind it is shown. */
    private @Nullable Progress covered(MadeMemory.Kind kind) {
        if (key == null || sources.isEmpty()) {
            return null;
        }
        Progress progress = reader.progress(key, kind);
        Alignment at = Alignment.of(progress, sources, MessageHashes.chain(sources));
        boolean isWindow = at.head() == 0 && !Alignment.isBeginning(progress, sources.get(0));
        boolean isAll = isWindow || at.head() == progress.head();
        return isAll ? null : new Progress(progress.revision(), at.head(), progress.steps());
    }
}
