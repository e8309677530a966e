package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.memories.MemoryRun.End;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The memories of one discussion: what makes them and what reads them. Without a discussion id nothing is persisted, and retrievers
 * use the messages at hand.
 *
 * <p>Creators call a model and may take long; call them apart from turns. Retrievers only read. The messages are always the whole
 * conversation, or the branch in use, from its beginning; system messages among them are left out.
 *
 * <p>Thread-safe.
 */
public final class Discussion {

    private final Discussions all;
    private final MemoryStore store;
    private final @Nullable MemoryKey key;
    private final Runnable onPassedBy;

    Discussion(Discussions all, @Nullable MemoryKey key, Runnable onPassedBy) {
        this.all = all;
        this.store = all.store();
        this.key = key;
        this.onPassedBy = onPassedBy;
    }

    /**
     * Returns the discussion's key.
     *
     * @return the key, or empty if nothing is persisted
     */
    public Optional<MemoryKey> key() {
        return Optional.ofNullable(key);
    }

    /**
     * Makes chunks or facts of what is new, if enough is. WilmerAI calls this node {@code QualityMemory}.
     *
     * @param messages the conversation from its beginning, oldest first
     * @return what was made, and which messages are passed by because {@value Step#MAX_FAILURES} tries failed
     * @throws MemoryFailedException if a model or a workflow failed; what was made before is stored, and the next call tries the
     *     same messages again
     * @throws StorageUnavailableException if the storage cannot be reached
     */
    public MemoryRun qualityMemory(List<SourceMessage> messages) {
        return create(messages, false);
    }

    /**
     * Tries once more to make chunks or facts of the messages that were passed by, and then of what is new. What is made late is
     * behind what was made before, and summaries that do not know of it are made again.
     *
     * @param messages the conversation from its beginning, oldest first
     * @return what was made, and which messages are passed by still
     * @throws MemoryFailedException if a model or a workflow failed at what is new
     * @throws StorageUnavailableException if the storage cannot be reached
     */
    public MemoryRun retry(List<SourceMessage> messages) {
        return create(messages, true);
    }

    private MemoryRun create(List<SourceMessage> messages, boolean isAgain) {
        if (key == null) {
            return stateless();
        }
        List<SourceMessage> sources = conversation(messages).stream()
                .filter(source -> !all.userTextOnly || source.trust() == Trust.USER)
                .toList();
        return all.creator.create(key, sources, isAgain, onPassedBy);
    }

    /**
     * Folds new chunks into the summary, if there are enough of them. WilmerAI calls this node {@code chatSummarySummarizer}.
     *
     * @return the versions that were made
     * @throws MemoryFailedException if a model or a workflow failed; the versions that were made before are stored
     * @throws StorageUnavailableException if the storage cannot be reached
     */
    public MemoryRun updateSummary() {
        return key == null ? stateless() : all.creator.summarize(key);
    }

    private static MemoryRun stateless() {
        return new MemoryRun(End.STATELESS, List.of(), List.of());
    }

    /**
     * Makes an older version of the summary the current one. It becomes a new version, and the next update goes on behind the last
     * chunk in it.
     *
     * @param version the number of the version, from 1
     * @return the new version
     * @throws InvalidInputException if there is no such version, or its last chunk is no longer part of the conversation
     */
    public MadeMemory rollBackSummary(int version) {
        if (key == null) {
            throw new InvalidInputException("discussionId", "is required for a summary");
        }
        while (true) {
            Progress progress = store.progress(key, MemoryKind.CHUNK);
            List<MadeMemory> versions = store.summaries(key);
            InvalidInputException.checkRange("version", 1, versions.size(), version);
            MadeMemory older = versions.get(version - 1);
            if (progress.holding(List.of(older)) == null) {
                throw new InvalidInputException(
                        "version", version + " is of messages that are no longer part of discussion " + key);
            }
            MadeMemory again = MadeMemory.ofText(MemoryKind.SUMMARY, older.text(), older.source(), older.trust())
                    .madeBy(older.model(), older.promptVersion(), older.madeAt())
                    .withPinned(older.pinned());
            if (store.addSummary(key, versions.size(), progress.revision(), again)) {
                return again;
            }
        }
    }

    /**
     * Reads memories by a retriever: {@code RecentMemory}, {@code RecentMemorySummarizerTool}, {@code VectorMemorySearch},
     * {@code FullChatSummary} or one of your own.
     *
     * @param name the retriever's name
     * @param config what it is configured with: {@code maxSummaryChunksFromFile} (0 for 3, -1 for all), {@code maxTurnsToPull} (the
     *     same without a discussion), {@code input} (keywords separated by semicolons) and {@code limit}
     * @param messages the messages at hand, which retrievers use if there is no discussion; may be empty
     * @return the text
     * @throws InvalidInputException if there is no such retriever
     */
    public String retrieve(String name, NodeConfig config, List<SourceMessage> messages) {
        MemoryRetriever retriever = all.retrievers.get(name);
        if (retriever == null) {
            throw new InvalidInputException(
                    "name", "there is no retriever " + name + "; known are " + new TreeSet<>(all.retrievers.keySet()));
        }
        return retriever.retrieve(memories(messages), config);
    }

    /**
     * Returns the memories to be read.
     *
     * @param messages the messages at hand; may be empty
     * @return a view that cannot write
     */
    public DiscussionMemories memories(List<SourceMessage> messages) {
        return new DiscussionMemories(store, key, conversation(messages), all.leastTrust);
    }

    /**
     * Removes all memories of the discussion. What a creator makes that is at work is refused.
     *
     * @throws StorageUnavailableException if the storage cannot be reached; then call it again
     */
    public void erase() {
        if (key != null) {
            store.erase(key);
        }
    }

    private static List<SourceMessage> conversation(List<SourceMessage> messages) {
        return messages.stream()
                .filter(source -> !(source.message() instanceof SystemMessage))
                .toList();
    }
}
