package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.view.ViewWriter;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one node within a conversation. Added turns are pending until {@link #flush()}; until then only this
 * object shows them. A loop can use one object or a new one for each iteration. Several objects, also in several
 * processes, may use the same memory at the same time, and no turn is lost.
 *
 * <p>A turn is a run for one message of the conversation. The turn's answer is stored under that message's id, so that
 * the conversation's parents lead from turn to turn. Each further run for the same message, as in a loop, is stored as
 * a turn after the previous one, under {@code id#2} and so on. If the node did not run for the parent message, but the
 * conversation's log contains the parent, the turn follows the node's newest turn for an ancestor of the parent.
 * Otherwise it follows the newest turn that is on no known sibling branch.
 *
 * <p>Thread-safe.
 */
public final class NodeTokenBufferMemory {

    /** The default for the maximum number of tokens of a history. */
    public static final int DEFAULT_MAX_TOKENS = 2000;

    private static final int MOST_ITERATIONS_MET = 1000;

    private final MemoryKey key;
    private final MessageLog log;
    private final WorkflowSettings settings;
    private final @Nullable Integer messageLimit;
    private final MemoryConfig.RolePrefix roles;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<PendingTurn> pending = new ArrayList<>();

    /** The turns that were added since the last successful flush, to recognise them when they are added again. */
    private final List<PendingTurn> added = new ArrayList<>();

    private @Nullable Long epoch;

    /** The message for which this object read last. */
    private @Nullable String readFor;

    /** The result of the last read, so that the turn that follows needs no read of its own. */
    private @Nullable NodeTurnParent read;

    /** Whether an append of the first pending turn has failed. The turn may be stored nevertheless. */
    private boolean tried;

    /** Creates the memory of a node, or of the turns that a node stores in its conversation. */
    NodeTokenBufferMemory(MemoryKey key, MessageLog log, WorkflowSettings settings, MemoryConfig config) {
        this.key = key;
        this.log = log;
        this.settings = settings;
        this.messageLimit = config.messageLimit();
        this.roles = config.roles();
    }

    /**
     * Adds a turn that consists of texts. Nothing is written before {@link #flush()}. Each turn is a new iteration of
     * its message, even if it equals another one. One exception: a turn that equals one that was added to this object
     * since the last successful flush changes nothing. An engine that repeats runs after a crash should add turns with
     * a {@linkplain NodeTurn#inRun run key}.
     *
     * @param messageId the conversation's message that the node ran for
     * @param parentMessageId the previous message, or null if the conversation begins with this message
     * @param userContent the user's text
     * @param userFiles the user's files
     * @param assistantContent the assistant's text
     * @param assistantFiles the assistant's files
     * @throws InvalidInputException if an id breaks a rule
     */
    public void addMessages(
            String messageId,
            @Nullable String parentMessageId,
            String userContent,
            List<FileReference> userFiles,
            String assistantContent,
            List<FileReference> assistantFiles) {
        InvalidInputException.given("assistantContent", assistantContent);
        List<FileReference> owned = InvalidInputException.given("assistantFiles", assistantFiles).stream()
                .map(file -> file.belongingTo(FileReference.Owner.ASSISTANT))
                .toList();
        addMessages(
                NodeTurn.of(messageId).under(parentMessageId),
                userContent,
                userFiles,
                List.of(FileReference.attach(AiMessage.from(assistantContent), owned)));
    }

    /**
     * Adds a turn. Nothing is written before {@link #flush()}. Each turn is a new iteration of its message, as for
     * turns of texts.
     *
     * @param messageId the conversation's message that the node ran for
     * @param parentMessageId the previous message, or null if the conversation begins with this message
     * @param userText the user's text
     * @param userFiles the user's files
     * @param assistantMessages the messages that followed, in order: messages with tool calls, their results, the
     *     answer; 1 or more
     * @throws InvalidInputException if an id breaks a rule, or there are no messages
     */
    public void addMessages(
            String messageId,
            @Nullable String parentMessageId,
            String userText,
            List<FileReference> userFiles,
            ChatMessage... assistantMessages) {
        addMessages(
                NodeTurn.of(messageId).under(parentMessageId),
                userText,
                userFiles,
                Arrays.asList(InvalidInputException.given("assistantMessages", assistantMessages)));
    }

    /**
     * Adds a turn. It becomes the next iteration of its message, even if it equals another one, with three exceptions.
     * A turn that equals one that was added to this object since the last successful flush changes nothing. A turn with
     * the {@linkplain NodeTurn#inRun run key} of a stored turn for the same message changes nothing, whatever it
     * contains. A turn that {@linkplain NodeTurn#inIteration names its iteration} changes nothing if an equal turn is
     * stored under that iteration; a different turn there makes {@link #flush()} fail.
     *
     * @param turn the run of the node
     * @param userText the user's text
     * @param userFiles the user's files
     * @param assistantMessages the messages that followed, in order: messages with tool calls, their results, the
     *     answer; 1 or more
     * @throws InvalidInputException if an id breaks a rule, or there are no messages
     */
    public void addMessages(
            NodeTurn turn,
            String userText,
            List<FileReference> userFiles,
            List<? extends ChatMessage> assistantMessages) {
        addMessages(turn, userText, userFiles, assistantMessages, Made.NOTHING);
    }

    /** Adds a turn with the notes of how its answer was made. */
    void addMessages(
            NodeTurn turn,
            String userText,
            List<FileReference> userFiles,
            List<? extends ChatMessage> assistantMessages,
            Made made) {
        InvalidInputException.given("turn", turn);
        InvalidInputException.given("userText", userText);
        InvalidInputException.given("userFiles", userFiles);
        InvalidInputException.given("assistantMessages", assistantMessages);
        if (assistantMessages.isEmpty()) {
            throw new InvalidInputException("assistantMessages", "must not be empty");
        }
        // The ids that are derived from the message's id are longer, so the longest one is checked.
        Ids.check("message_id", NodeTurn.userId(NodeTurn.middleId(turn.messageId(), 99_999)));
        UserMessage user = FileReference.attach(UserMessage.from(userText), userFiles);
        locked(() -> add(PendingTurn.of(turn, user, assistantMessages, made, epoch)));
    }

    /** Adds a turn as it is, unless it was added before. Returns whether it is new. */
    boolean add(PendingTurn next) {
        return locked(() -> added.stream().noneMatch(next::repeats) && pending.add(next) && added.add(next));
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the history for a message, with the default limit.
     *
     * @param currentMessageId the message that the node runs for
     * @param tenantId the tenant whose files may be shown
     * @return the messages, oldest first, of at most {@value #DEFAULT_MAX_TOKENS} tokens
     */
    public List<ChatMessage> getHistoryPromptMessages(String currentMessageId, String tenantId) {
        return getHistoryPromptMessages(currentMessageId, tenantId, DEFAULT_MAX_TOKENS, null);
    }

    /**
     * Returns the history that leads to a message: the newest whole turns that fit. If the message is stored, its
     * parents define the history. If only the conversation's log contains the message, that log defines the history.
     * Otherwise the history is the current branch.
     *
     * <p>Turns for the same message count as earlier iterations of a loop and are included, until a turn for another
     * message follows them in this memory. After that, they are included only for a {@link NodeTurn} that
     * {@linkplain NodeTurn#inIteration names its iteration} or has a {@linkplain NodeTurn#inRun run key}.
     *
     * @param currentMessageId the message that the node runs for
     * @param tenantId the tenant whose files may be shown
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param fileUploadConfig the settings for showing files, or null for {@link FileUploadConfig#STANDARD}
     * @return the messages, oldest first; empty if the last turn alone is too large
     */
    public List<ChatMessage> getHistoryPromptMessages(
            String currentMessageId, String tenantId, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return getHistoryPromptMessages(NodeTurn.of(currentMessageId), tenantId, maxTokenLimit, fileUploadConfig);
    }

    /**
     * Returns the history that leads to a message whose parent is known.
     *
     * @param currentMessageId the message that the node runs for
     * @param parentMessageId the previous message, or null if the conversation begins with this message
     * @param tenantId the tenant whose files may be shown
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param fileUploadConfig the settings for showing files, or null for {@link FileUploadConfig#STANDARD}
     * @return the messages, oldest first; empty if the last turn alone is too large
     */
    public List<ChatMessage> getHistoryPromptMessages(
            String currentMessageId,
            @Nullable String parentMessageId,
            String tenantId,
            int maxTokenLimit,
            @Nullable FileUploadConfig fileUploadConfig) {
        return getHistoryPromptMessages(
                NodeTurn.of(currentMessageId).under(parentMessageId), tenantId, maxTokenLimit, fileUploadConfig);
    }

    /**
     * Returns the history that leads to a run of the node. For a turn that names its iteration, the history includes
     * all earlier iterations. For a turn with a run key, it includes the iterations before that run, or all if the run
     * is not stored.
     *
     * @param turn the run of the node
     * @param tenantId the tenant whose files may be shown
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param fileUploadConfig the settings for showing files, or null for {@link FileUploadConfig#STANDARD}
     * @return the messages, oldest first; empty if the last turn alone is too large
     */
    public List<ChatMessage> getHistoryPromptMessages(
            NodeTurn turn, String tenantId, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return history(turn, false, tenantId, maxTokenLimit, fileUploadConfig).messages();
    }

    /**
     * Returns the history for a run whose turn will be added. Turns that are already stored for its message are earlier
     * iterations, even if turns for other messages follow them.
     */
    PromptHistory.Prompt historyForNext(
            NodeTurn turn, String tenantId, int maxTokenLimit, FileUploadConfig fileUploadConfig) {
        return history(turn, turn.iteration() == 0, tenantId, maxTokenLimit, fileUploadConfig);
    }

    private PromptHistory.Prompt history(
            NodeTurn turn,
            boolean next,
            String tenantId,
            int maxTokenLimit,
            @Nullable FileUploadConfig fileUploadConfig) {
        Ids.check("tenant_id", tenantId);
        List<LoggedMessage> thread = locked(turn, next, maxTokenLimit);
        return settings.history(key, log).messages(thread, tenantId, fileUploadConfig, maxTokenLimit);
    }

    /**
     * Returns the history that leads to a run of the node as text: a line such as {@code Human: …} for each message of
     * the user and the assistant, and a marker such as {@code [image]} for each file. The limit applies to the tokens
     * of the whole text.
     *
     * @param turn the run of the node, as for
     *     {@link #getHistoryPromptMessages(NodeTurn, String, int, FileUploadConfig)}
     * @param names the names of the roles; null for those of the node's configuration, by default Human and Assistant
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @return the text, oldest message first; empty if nothing fits
     */
    public String getHistoryPromptText(NodeTurn turn, MemoryConfig.@Nullable RolePrefix names, int maxTokenLimit) {
        List<LoggedMessage> thread = locked(turn, false, maxTokenLimit);
        return settings.history(key, log).text(thread, names == null ? roles : names, maxTokenLimit);
    }

    private List<LoggedMessage> locked(NodeTurn turn, boolean next, int maxTokenLimit) {
        InvalidInputException.given("turn", turn);
        return locked(() -> thread(turn, next, maxTokenLimit));
    }

    /**
     * Writes the pending turns, in order. Does nothing if there are none. If a turn cannot be written, it stays
     * pending, and a retry writes it exactly once. Turns are dropped only if they were begun before the memory was
     * erased. If the log itself holds turns back, this method makes it write those of this memory, even if they do not
     * end in an answer.
     *
     * @throws ErasedException if turns were dropped; the other turns are written nevertheless
     */
    public void flush() {
        locked(() -> {
            ErasedException erased = null;
            while (!pending.isEmpty()) {
                try {
                    if (!append(pending.get(0))) {
                        // An earlier attempt that failed may have left the turn in the log's buffer.
                        log.flush(key);
                    }
                } catch (ErasedException e) {
                    erased = e;
                }
                pending.remove(0);
                tried = false;
            }
            added.clear();
            if (erased != null) {
                throw erased;
            }
            return true;
        });
    }

    /**
     * Clears this memory at once, including pending turns. The log keeps the cleared messages. If this method fails,
     * nothing changes.
     */
    public void clear() {
        locked(() -> {
            ViewWriter.clear(log, key);
            pending.clear();
            added.clear();
            tried = false;
            read = null;
            return true;
        });
    }

    /**
     * Returns the key of this memory.
     *
     * @return the key
     */
    public NodeKey key() {
        return (NodeKey) key;
    }

    private NodeTurnParent placement(HistoryBounds bounds) {
        return new NodeTurnParent(log, key, settings.conversations(), bounds);
    }

    /** Returns the stored messages, followed by the pending ones. */
    private List<LoggedMessage> thread(NodeTurn turn, boolean next, int maxTokenLimit) {
        HistoryBounds bounds = HistoryBounds.of(messageLimit, maxTokenLimit, settings.counts());
        NodeTurnParent placement = placement(bounds);
        read = placement;
        readFor = turn.messageId();
        epoch = placement.epoch();
        // A run without a history also belongs to the epoch in which it began.
        if (maxTokenLimit <= 0) {
            return List.of();
        }
        Deque<LoggedMessage> waiting = new ArrayDeque<>();
        String end = end(placement, placement.asStored(turn), next, waiting);
        List<LoggedMessage> thread = new ArrayList<>(end == null ? List.of() : placement.thread(end, bounds));
        thread.addAll(waiting);
        return bounds.newest(thread);
    }

    /** Walks back through pending turns and returns the stored message that they follow. */
    private @Nullable String end(NodeTurnParent placement, NodeTurn turn, boolean next, Deque<LoggedMessage> waiting) {
        NodeTurn current = turn;
        boolean own = includesOwn(placement, turn, next);
        int before = pending.size();
        while (true) {
            if (own) {
                int at = newestPending(before, current);
                if (at < 0) {
                    String last = placement.lastIteration(current);
                    if (last != null) {
                        return turn.iteration() > 1 ? placement.endBefore(turn, last) : last;
                    }
                } else {
                    prepend(waiting, pending.get(at));
                    current = pending.get(at).turn();
                    before = at;
                    continue;
                }
            }
            String parent = current.parentMessageId();
            int at = parent == null ? -1 : newestPending(before, NodeTurn.of(parent));
            if (at < 0 && before > 0 && placement.isUnplaced(current)) {
                at = newestPendingElsewhere(before, current);
            }
            if (at < 0) {
                return placement.end(current);
            }
            current = pending.get(at).turn();
            own = true;
        }
    }

    /** Returns whether the history of a turn includes earlier turns for the same message. */
    private boolean includesOwn(NodeTurnParent placement, NodeTurn turn, boolean next) {
        if (turn.iteration() > 0) {
            return turn.iteration() > 1;
        }
        return next || turn.runKey() != null || newestPending(pending.size(), turn) >= 0 || !placement.isFollowed(turn);
    }

    private void prepend(Deque<LoggedMessage> waiting, PendingTurn turn) {
        List<LoggedMessage> logged = turn.logged(settings.counts());
        for (int i = logged.size() - 1; i >= 0; i--) {
            waiting.addFirst(logged.get(i));
        }
    }

    /**
     * Returns the index, below {@code before}, of the newest pending turn that is an earlier iteration of a run, or -1.
     */
    private int newestPending(int before, NodeTurn turn) {
        int i = before - 1;
        while (i >= 0 && !pending.get(i).isBefore(turn)) {
            i--;
        }
        return i;
    }

    /** Returns the index, below {@code before}, of the newest pending turn for another message, or -1. */
    private int newestPendingElsewhere(int before, NodeTurn turn) {
        int i = before - 1;
        while (i >= 0 && pending.get(i).turn().messageId().equals(turn.messageId())) {
            i--;
        }
        return i;
    }

    /** Appends a turn. Returns false if it is stored already. */
    private boolean append(PendingTurn next) {
        NodeTurn turn = next.turn();
        NodeTurnParent shown = turn.messageId().equals(readFor) ? read : null;
        // The write makes this read outdated.
        read = null;
        NodeTurnParent placement = shown != null && shown.isBehindHead(turn) ? shown : placement(HistoryBounds.HEAD);
        String runKey = tried ? next.runKey() : turn.runKey();
        if (runKey != null && turn.iteration() == 0 && placement.storedIteration(turn, runKey) > 0) {
            return false;
        }
        tried = true;
        String last = placement.lastIteration(turn);
        int iteration = turn.iteration();
        if (iteration == 0) {
            iteration = last == null ? 1 : NodeTurn.iterationOf(turn.messageId(), last) + 1;
        }
        for (int met = 0; met < MOST_ITERATIONS_MET; met++) {
            try {
                append(placement, next, iteration, last);
                return true;
            } catch (MessageIdConflictException e) {
                // Another writer ran for the same message, or this turn is stored already, or the message was cleared.
                List<LoggedMessage> there = Reads.messages(log, key, next.ids(iteration));
                if (next.isStoredAs(there, iteration)) {
                    return false;
                }
                if (turn.iteration() > 0) {
                    throw e;
                }
                placement = placement(HistoryBounds.HEAD);
                last = placement.lastIteration(turn.messageId());
                iteration++;
            }
        }
        throw new MessageIdConflictException(key, turn.messageId(), "has too many iterations");
    }

    private void append(NodeTurnParent placement, PendingTurn next, int iteration, @Nullable String last) {
        NodeTurn turn = next.turn();
        String before = iteration == 1 && turn.messageId().equals(last) ? null : last;
        Parent parent = before == null ? placement.parent(turn) : Parent.of(before);
        boolean isBridged = before == null && placement.isBridged(turn);
        Append append = Append.under(parent, next.batch(iteration, isBridged, settings.counts()));
        log.append(key, next.epoch() == null ? append : append.inEpoch(next.epoch()));
        // Some logs hold back turns that do not end in an answer. Without this flush, such a log would detect too late
        // that another writer has used the same ids.
        log.flush(key);
    }
}
