package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.view.ViewWriter;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one node within a conversation. Added turns are pending until {@link #flush()}; until then only this
 * object shows them. One object serves one run of a node or a loop of runs. Several objects, also in several processes,
 * may use the same memory at the same time, and no turn is lost.
 *
 * <p>A turn is a run for one message of the conversation. The turn's answer is stored under that message's id, so that
 * the conversation's parents lead from turn to turn. Further runs for the same message, as in a loop, are each stored
 * as a turn of their own after it, under {@code id#2} and so on. If the node did not run for a parent message, so that
 * its memory does not contain the parent, the gap is bridged: by the conversation's own log if it contains the parent,
 * and otherwise by the newest turn that is on no known sibling branch.
 *
 * <p>Thread-safe.
 */
public final class NodeTokenBufferMemory {

    /** The default for the maximum number of tokens of a history. */
    public static final int DEFAULT_MAX_TOKENS = 2000;

    private static final int MOST_ITERATIONS_MET = 1000;

    private final NodeKey key;
    private final MessageLog log;
    private final WorkflowSettings settings;
    private final @Nullable Integer messageLimit;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<PendingTurn> pending = new ArrayList<>();

    /**
     * The message for which this object read last. The next field tells whether a turn for it was added since; if so,
     * the node is in a loop.
     */
    private @Nullable String running;

    private boolean looping;
    private @Nullable Long epoch;

    /** The result of the last read, so that the turn that follows needs no read of its own. */
    private @Nullable TurnPlacement read;

    /** The turn that was added last, to recognise it when it is added again. */
    private @Nullable PendingTurn added;

    /**
     * The iteration under which the first pending turn was being written when the append failed, or 0. The turn may be
     * stored, even if other writers appended messages after it.
     */
    private int tried;

    NodeTokenBufferMemory(NodeKey key, MessageLog log, WorkflowSettings settings, @Nullable Integer messageLimit) {
        this.key = key;
        this.log = log;
        this.settings = settings;
        this.messageLimit = messageLimit;
    }

    /**
     * Adds a turn of texts. Nothing is written before {@link #flush()}.
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
        List<FileReference> owned = assistantFiles.stream()
                .map(file -> file.belongingTo(FileReference.Owner.ASSISTANT))
                .toList();
        addMessages(
                NodeTurn.of(messageId).under(parentMessageId),
                userContent,
                userFiles,
                List.of(FileReference.attach(AiMessage.from(assistantContent), owned)));
    }

    /**
     * Adds a turn. Nothing is written before {@link #flush()}.
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
        addMessages(NodeTurn.of(messageId).under(parentMessageId), userText, userFiles, List.of(assistantMessages));
    }

    /**
     * Adds a turn. Adding the same turn again changes nothing. Another turn for the same message becomes the next
     * iteration, unless the turn names its iteration: then a different turn under the same iteration makes
     * {@link #flush()} fail.
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
        if (assistantMessages.isEmpty()) {
            throw new InvalidInputException("assistantMessages", "must not be empty");
        }
        // The ids that are derived from the message's id are longer, so the longest one is checked.
        Ids.check("message_id", NodeTurn.userId(NodeTurn.middleId(turn.messageId(), 99_999)));
        UserMessage user = FileReference.attach(UserMessage.from(userText), userFiles);
        lock.lock();
        try {
            PendingTurn next = new PendingTurn(turn, user, List.copyOf(assistantMessages), epoch);
            if (added != null && added.turn().equals(turn) && added.says(next)) {
                return;
            }
            pending.add(next);
            added = next;
            looping = turn.messageId().equals(running);
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
     * Returns the history that leads to a message, without the message itself: the newest whole turns that fit. If the
     * message is stored, its parents define the history. Otherwise the conversation's log defines it, if it contains
     * the message. Otherwise the history is the current branch. Once this object has read for a message and a turn for
     * that message was added, the next read for it is the next iteration of a loop, whose history includes the earlier
     * iterations.
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
        NodeTurn turn = NodeTurn.of(currentMessageId).under(parentMessageId);
        return getHistoryPromptMessages(turn, tenantId, maxTokenLimit, fileUploadConfig);
    }

    /**
     * Returns the history that leads to a run of the node. For a turn that names its iteration, the history includes
     * all earlier iterations.
     *
     * @param turn the run of the node
     * @param tenantId the tenant whose files may be shown
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param fileUploadConfig the settings for showing files, or null for {@link FileUploadConfig#STANDARD}
     * @return the messages, oldest first; empty if the last turn alone is too large
     */
    public List<ChatMessage> getHistoryPromptMessages(
            NodeTurn turn, String tenantId, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return history(turn, false, tenantId, maxTokenLimit, fileUploadConfig);
    }

    /**
     * Returns the history for a run whose turn will be added. Turns that are already stored for its message are earlier
     * iterations.
     */
    List<ChatMessage> historyForNext(
            NodeTurn turn, String tenantId, int maxTokenLimit, FileUploadConfig fileUploadConfig) {
        return history(turn, turn.iteration() == 0, tenantId, maxTokenLimit, fileUploadConfig);
    }

    private List<ChatMessage> history(
            NodeTurn turn,
            boolean next,
            String tenantId,
            int maxTokenLimit,
            @Nullable FileUploadConfig fileUploadConfig) {
        Ids.check("tenant_id", tenantId);
        List<LoggedMessage> thread;
        lock.lock();
        try {
            looping = next || (looping && turn.messageId().equals(running));
            running = turn.messageId();
            thread = thread(turn, maxTokenLimit);
        } finally {
            lock.unlock();
        }
        return settings.history(key).messages(thread, tenantId, fileUploadConfig, maxTokenLimit);
    }

    /**
     * Writes the pending turns, in order. Does nothing if there are none. If a turn cannot be written, it stays
     * pending, and a retry writes it exactly once. Turns are dropped only if they were begun before the memory was
     * erased. If the log holds turns back, it writes those of this memory now, even if they do not end in an answer.
     */
    public void flush() {
        lock.lock();
        try {
            while (!pending.isEmpty()) {
                try {
                    if (!append(pending.get(0))) {
                        // An earlier attempt that failed may have left the turn in the log's buffer.
                        log.flush(key);
                    }
                } catch (ErasedException e) {
                    pending.remove(0);
                    tried = 0;
                    // If the node runs again, it may add the same turn, which must then be written.
                    added = null;
                    throw e;
                }
                pending.remove(0);
                tried = 0;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Clears this memory at once, including turns that were added and not flushed. The log keeps the cleared messages.
     * If this method fails, nothing changes.
     */
    public void clear() {
        lock.lock();
        try {
            ViewWriter.clear(log, key);
            pending.clear();
            tried = 0;
            added = null;
            looping = false;
            read = null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the key of this memory.
     *
     * @return the key
     */
    public NodeKey key() {
        return key;
    }

    private TurnPlacement placement(ReadQuery query) {
        return new TurnPlacement(log, key, settings.conversations(), query);
    }

    /** Returns the stored messages, followed by the pending ones. */
    private List<LoggedMessage> thread(NodeTurn turn, int maxTokenLimit) {
        ReadQuery query = WorkflowSettings.query(messageLimit, maxTokenLimit);
        TurnPlacement placement = placement(query);
        read = placement;
        if (epoch != null && epoch != placement.epoch()) {
            added = null;
        }
        epoch = placement.epoch();
        // A run without a history also belongs to the epoch in which it began.
        if (maxTokenLimit <= 0) {
            return List.of();
        }
        Deque<LoggedMessage> waiting = new ArrayDeque<>();
        String end = end(placement, turn, waiting);
        List<LoggedMessage> thread = new ArrayList<>(end == null ? List.of() : placement.thread(end, query));
        thread.addAll(waiting);
        int surplus = thread.size() - query.maxMessages();
        return surplus > 0 ? thread.subList(surplus, thread.size()) : thread;
    }

    /** Walks back through pending turns and returns the stored message that they follow. */
    private @Nullable String end(TurnPlacement placement, NodeTurn turn, Deque<LoggedMessage> waiting) {
        NodeTurn current = turn;
        boolean own = looping || turn.iteration() > 1;
        int before = pending.size();
        while (true) {
            if (own) {
                int at = newestPending(before, current.messageId(), true);
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
            int at = parent == null ? -1 : newestPending(before, parent, true);
            if (at < 0 && before > 0 && placement.isUnplaced(current)) {
                at = newestPending(before, current.messageId(), false);
            }
            if (at < 0) {
                return placement.end(current);
            }
            current = pending.get(at).turn();
            own = true;
        }
    }

    private void prepend(Deque<LoggedMessage> waiting, PendingTurn turn) {
        List<LoggedMessage> logged = turn.logged(settings.counts());
        for (int i = logged.size() - 1; i >= 0; i--) {
            waiting.addFirst(logged.get(i));
        }
    }

    /** Returns the index of the newest turn before an index that is, or is not, for a message; -1 if there is none. */
    private int newestPending(int before, String messageId, boolean isFor) {
        int i = before - 1;
        while (i >= 0 && pending.get(i).turn().messageId().equals(messageId) != isFor) {
            i--;
        }
        return i;
    }

    /** Appends a turn. Returns false if it is stored already. */
    private boolean append(PendingTurn next) {
        if (tried > 0 && next.isStoredAs(stored(next, tried), tried)) {
            return false;
        }
        NodeTurn turn = next.turn();
        TurnPlacement shown = turn.messageId().equals(running) ? read : null;
        // The write makes this read outdated.
        read = null;
        TurnPlacement placement = shown != null && shown.isBehindHead(turn) ? shown : placement(ReadQuery.newest(1));
        String last = placement.lastIteration(turn);
        int iteration = turn.iteration();
        if (iteration == 0 && last != null) {
            iteration = NodeTurn.iterationOf(turn.messageId(), last);
            if (isStored(placement, next, iteration)) {
                return false;
            }
        }
        iteration += turn.iteration() == 0 ? 1 : 0;
        for (int met = 0; met < MOST_ITERATIONS_MET; met++) {
            try {
                tried = iteration;
                append(placement, next, iteration, last);
                return true;
            } catch (MessageIdConflictException e) {
                // Another writer ran for the same message, or this is a retry of an append that succeeded, or the
                // message was cleared.
                tried = 0;
                List<LoggedMessage> there = stored(next, iteration);
                boolean isSame = next.isStoredAs(there, iteration);
                if (turn.iteration() > 0) {
                    if (isSame) {
                        return false;
                    }
                    throw e;
                }
                placement = placement(ReadQuery.newest(1));
                String answerId = NodeTurn.answerId(turn.messageId(), iteration);
                if (placement.shows(answerId, there)) {
                    if (isSame) {
                        return false;
                    }
                    last = answerId;
                }
                iteration++;
            }
        }
        throw new MessageIdConflictException(key, turn.messageId(), "has too many iterations");
    }

    private void append(TurnPlacement placement, PendingTurn next, int iteration, @Nullable String last) {
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

    /** Returns whether the turn is stored. The last read is used if it shows enough messages. */
    private boolean isStored(TurnPlacement placement, PendingTurn next, int iteration) {
        List<String> ids = next.ids(iteration);
        List<LoggedMessage> shown = placement.shown(ids.get(ids.size() - 1), ids.size());
        return next.isStoredAs(shown == null ? stored(next, iteration) : shown, iteration);
    }

    private List<LoggedMessage> stored(PendingTurn next, int iteration) {
        return log.find(key, next.ids(iteration));
    }
}
