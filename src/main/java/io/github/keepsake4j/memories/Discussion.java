package io.github.keepsake4j.memories;

import static io.github.keepsake4j.memories.LongTermMemoriesOfDiscussion.join;

import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.memories.Discussion.Run.End;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The long-term memories of one discussion, with the methods that create and read them. Without a discussion id nothing
 * is persisted, and retrievers use the given messages.
 *
 * <p>Creators call a model and may take long; call them outside of turns. Retrievers only read. The messages are always
 * the whole conversation, or the branch in use, from its beginning; system messages among them are left out.
 *
 * <p>Thread-safe.
 */
public final class Discussion {

    private final Discussions all;
    private final LongTermMemoryStore store;
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
     * Creates chunks or facts of new messages, if there are enough. WilmerAI calls this node {@code QualityMemory}.
     *
     * @param messages the conversation from its beginning, oldest first
     * @return the created memories, and the messages that were skipped because {@value Progress.Step#MAX_FAILURES} tries failed
     * @throws LongTermMemoryFailedException if a model or a workflow failed; earlier results are stored, and the next call
     * tries the same messages again
     * @throws StorageUnavailableException if the store cannot be reached
     */
    public Run qualityMemory(List<SourceMessage> messages) {
        return create(messages, false);
    }

    /**
     * Tries once more to create chunks or facts of skipped messages, and then of new messages. The late results are
     * placed behind the earlier ones, and summaries without them are created again.
     *
     * @param messages the conversation from its beginning, oldest first
     * @return the created memories, and the messages that are still skipped
     * @throws LongTermMemoryFailedException if a model or a workflow failed at new messages
     * @throws StorageUnavailableException if the store cannot be reached
     */
    public Run retry(List<SourceMessage> messages) {
        return create(messages, true);
    }

    private Run create(List<SourceMessage> messages, boolean isAgain) {
        if (key == null) {
            return stateless();
        }
        return all.creator.create(key, sources(messages), isAgain, onPassedBy);
    }

    private List<SourceMessage> sources(List<SourceMessage> messages) {
        return conversation(messages).stream()
                .filter(source -> !all.userTextOnly || source.trust() == Trust.USER)
                .toList();
    }

    /**
     * Folds new chunks into the summary, if there are enough of them. WilmerAI calls this node {@code chatSummarySummarizer}.
     *
     * @return the versions that were made
     * @throws LongTermMemoryFailedException if a model or a workflow failed; the earlier versions are stored
     * @throws StorageUnavailableException if the store cannot be reached
     */
    public Run updateSummary() {
        return key == null ? stateless() : all.creator.summarize(key);
    }

    private static Run stateless() {
        return new Run(End.STATELESS, List.of(), List.of());
    }

    /**
     * Makes an older version of the summary the current one. It becomes a new version, and the next update continues
     * behind its last chunk.
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
            Progress progress = store.progress(key, MadeMemory.Kind.CHUNK);
            List<MadeMemory> versions = store.summaries(key);
            InvalidInputException.checkRange("version", 1, versions.size(), version);
            MadeMemory older = versions.get(version - 1);
            if (progress.holding(List.of(older)) == null) {
                throw new InvalidInputException(
                        "version",
                        version + " covers messages that are no longer part of discussion " + key + "; "
                                + "name another version");
            }
            MadeMemory again = MadeMemory.ofText(MadeMemory.Kind.SUMMARY, older.text(), older.source(), older.trust())
                    .madeBy(older.model(), older.promptVersion(), older.madeAt())
                    .withPinned(older.pinned());
            if (store.addSummary(key, versions.size(), progress.revision(), again)) {
                return again;
            }
        }
    }

    /**
     * Runs a node of a workflow, whether it creates or retrieves. The field {@code type} of its configuration is
     * {@code QualityMemory}, {@code chatSummarySummarizer} or the name of a retriever. {@link #qualityMemory} and
     * {@link #updateSummary} return the report of a creator instead.
     *
     * @param node the node's configuration
     * @param messages the conversation from its beginning, oldest first
     * @return the texts of the memories that a creator made, empty if it made none; or the retriever's text
     * @throws InvalidInputException if there is no such node
     * @throws LongTermMemoryFailedException if a model or a workflow failed
     * @throws StorageUnavailableException if the store cannot be reached
     */
    public String run(NodeConfig node, List<SourceMessage> messages) {
        String type = node.text("type", "");
        return switch (type) {
            case "QualityMemory" -> join(qualityMemory(messages).made());
            case "chatSummarySummarizer" -> join(updateSummary().made());
            default -> retriever("type", type).retrieve(memories(messages), node);
        };
    }

    /**
     * Reads memories by a retriever: {@code RecentMemory}, {@code RecentMemorySummarizerTool}, {@code VectorMemorySearch},
     * {@code FullChatSummary} or one of your own. It sees what {@link #memories} returns for the messages.
     *
     * @param name the retriever's name
     * @param config the configuration: {@code maxSummaryChunksFromFile} (0 for 3, -1 for all), {@code maxTurnsToPull}
     *     (the same without a discussion), {@code input} (keywords separated by semicolons) and {@code limit}
     * @param messages the conversation from its beginning, oldest first; without a discussion, the messages that the
     *     retriever uses; may be empty
     * @return the text
     * @throws InvalidInputException if there is no such retriever
     */
    public String retrieve(String name, NodeConfig config, List<SourceMessage> messages) {
        return retriever("name", name).retrieve(memories(messages), config);
    }

    private LongTermMemoryRetriever retriever(String field, String name) {
        LongTermMemoryRetriever retriever = all.retrievers.get(name);
        if (retriever == null) {
            throw new InvalidInputException(
                    field,
                    "there is no retriever " + name + "; use one of " + new TreeSet<>(all.retrievers.keySet())
                            + ", or run the creators QualityMemory and chatSummarySummarizer");
        }
        return retriever;
    }

    /**
     * Returns the memories to be read. Memories that were made from a message that was edited or deleted, or from later
     * messages, are left out even before a creator has seen the change. All are returned if the list is empty, or if it
     * is a window: it does not begin with the first message of the memories, and no memory ends in it.
     *
     * @param messages the conversation from its beginning, oldest first; may be empty
     * @return a view that cannot write
     */
    public LongTermMemoriesOfDiscussion memories(List<SourceMessage> messages) {
        return new LongTermMemoriesOfDiscussion(store, key, conversation(messages), sources(messages), all.leastTrust);
    }

    /**
     * Removes all memories of the discussion. The results of a creator that is at work are refused.
     *
     * @throws StorageUnavailableException if the store cannot be reached; then call it again
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

    /**
     * The report of a creator.
     *
     * @param end why it ended
     * @param made the stored memories, oldest first
     * @param problems the reasons why parts of an answer or messages were skipped; never text of messages
     */
    public record Run(End end, List<MadeMemory> made, List<String> problems) {

        /** Why a creator ended. */
        public enum End {
            /** All due memories were created. Possibly none were due. */
            UP_TO_DATE,

            /** The conversation has fewer than three messages. */
            TOO_SHORT,

            /** Another creator is at work on this discussion. */
            BUSY,

            /** The workflow returned nothing. The next run tries the same messages again. */
            BLANK,

            /** There is no discussion, so nothing is persisted. */
            STATELESS
        }

        /** Copies the lists. */
        public Run {
            made = List.copyOf(made);
            problems = List.copyOf(problems);
        }
    }
}
