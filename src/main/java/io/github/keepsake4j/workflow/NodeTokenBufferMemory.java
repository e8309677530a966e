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
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The memory that one node has within a conversation. What is added waits for {@link #flush()}; until then only this
 * object shows it. One object serves one run of a node, or a loop of runs; several of them, in several processes, may use
 * one memory at once, and nothing is lost.
 *
 * <p>A turn is a run for one message of the conversation. The turn's answer is stored under that message's id, so that
 * the conversation's parents lead from turn to turn; further runs for the same message, as in a loop, each keep a turn of
 * their own behind it, under {@code id#2} and so on. A parent that this node never saw, because it did not run in that
 * turn, is bridged: by the conversation's own log where it is known, else by the newest turn that is on no known sibling
 * branch.
 *
 * <p>Thread-safe.
 */
public final class NodeTokenBufferMemory {

    /** How many tokens a history has at most unless said otherwise. */
    public static final int DEFAULT_MAX_TOKENS = 2000;

    private static final int MOST_ITERATIONS_MET = 1000;

    private final NodeKey key;
    private final MessageLog log;
    private final WorkflowSettings settings;
    private final @Nullable Integer messageLimit;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<PendingTurn> pending = new ArrayList<>();

    /** The message that this object read for last, and whether a turn for it was added since: then it is in a loop. */
    private @Nullable String running;

    private boolean looping;
    private @Nullable Long epoch;

    /** What the last read showed, so that the turn that follows need not look again. */
    private @Nullable NodeBranch read;

    /** The turn that was added last, to know it again. */
    private @Nullable PendingTurn added;

    /**
     * The iteration as which the turn that waits first was being written when there was no answer, or 0: it may be there,
     * whatever others have put behind it.
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
     * @param parentMessageId the message before it, or null if the conversation begins here
     * @param userContent what the user said
     * @param userFiles the user's files
     * @param assistantContent what the assistant said
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
     * @param parentMessageId the message before it, or null if the conversation begins here
     * @param userText what the user said
     * @param userFiles the user's files
     * @param assistantMessages what followed, in order: messages with tool calls, their results, the answer; 1 or more
     * @throws InvalidInputException if an id breaks a rule, or nothing followed
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
     * Adds a turn. Adding the same turn again changes nothing; another one for the same message is the next iteration,
     * unless the turn names its iteration: then a different one under the same name makes {@link #flush()} fail.
     *
     * @param turn which run of the node it is
     * @param userText what the user said
     * @param userFiles the user's files
     * @param assistantMessages what followed, in order: messages with tool calls, their results, the answer; 1 or more
     * @throws InvalidInputException if an id breaks a rule, or nothing followed
     */
    public void addMessages(
            NodeTurn turn,
            String userText,
            List<FileReference> userFiles,
            List<? extends ChatMessage> assistantMessages) {
        if (assistantMessages.isEmpty()) {
            throw new InvalidInputException("assistantMessages", "must not be empty");
        }
        // The ids that are made of it are longer.
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
     * Returns the history for a message with the standard limit.
     *
     * @param currentMessageId the message that the node runs for
     * @param tenantId whose files may be shown
     * @return messages, oldest first, of at most {@value #DEFAULT_MAX_TOKENS} tokens
     */
    public List<ChatMessage> getHistoryPromptMessages(String currentMessageId, String tenantId) {
        return getHistoryPromptMessages(currentMessageId, tenantId, DEFAULT_MAX_TOKENS, null);
    }

    /**
     * Returns the history that leads to a message, without that message: the newest whole turns that fit. Where the
     * message is stored, its parents say what leads to it; else the conversation's log does, if it has the message; else
     * it is the current branch. Once this object has read for a message and added a turn for it, reading for it again
     * is the next iteration of a loop, which sees the ones before.
     *
     * @param currentMessageId the message that the node runs for
     * @param tenantId whose files may be shown
     * @param maxTokenLimit how many tokens at most; none fit 0 and less
     * @param fileUploadConfig how files are shown, or null for {@link FileUploadConfig#STANDARD}
     * @return messages, oldest first; none if the last turn alone is too big
     */
    public List<ChatMessage> getHistoryPromptMessages(
            String currentMessageId, String tenantId, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return getHistoryPromptMessages(NodeTurn.of(currentMessageId), tenantId, maxTokenLimit, fileUploadConfig);
    }

    /**
     * Returns the history that leads to a message whose parent is known.
     *
     * @param currentMessageId the message that the node runs for
     * @param parentMessageId the message before it, or null if the conversation begins here
     * @param tenantId whose files may be shown
     * @param maxTokenLimit how many tokens at most; none fit 0 and less
     * @param fileUploadConfig how files are shown, or null for {@link FileUploadConfig#STANDARD}
     * @return messages, oldest first; none if the last turn alone is too big
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
     * Returns the history that leads to a run of the node. A turn that names its iteration sees all iterations before it.
     *
     * @param turn which run of the node it is
     * @param tenantId whose files may be shown
     * @param maxTokenLimit how many tokens at most; none fit 0 and less
     * @param fileUploadConfig how files are shown, or null for {@link FileUploadConfig#STANDARD}
     * @return messages, oldest first; none if the last turn alone is too big
     */
    public List<ChatMessage> getHistoryPromptMessages(
            NodeTurn turn, String tenantId, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return history(turn, false, tenantId, maxTokenLimit, fileUploadConfig);
    }

    /** The history for a run whose turn will be added: what is stored for its message already is earlier iterations. */
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
        FileUploadConfig config = fileUploadConfig == null ? FileUploadConfig.STANDARD : fileUploadConfig;
        return settings.history(key).messages(thread, tenantId, config, maxTokenLimit);
    }

    /**
     * Writes what was added, in order; nothing if nothing was. What could not be written stays, so that a retry writes it,
     * and never twice. Only what was begun before the memory was erased is dropped. A log that holds turns back writes this
     * memory's, even if they do not end in an answer.
     */
    public void flush() {
        lock.lock();
        try {
            while (!pending.isEmpty()) {
                try {
                    write(pending.get(0));
                } catch (ErasedException e) {
                    pending.remove(0);
                    tried = 0;
                    // Who runs it again says the same, and means it.
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

    /** Empties this memory at once, what was added and not flushed included. What was there is kept in the log. If it fails, nothing changes. */
    public void clear() {
        lock.lock();
        try {
            Tail tail = log.read(key, ReadQuery.newest(0));
            if (tail.head() != null) {
                log.append(key, Append.viewOnly(View.of(tail.head(), List.of())));
            }
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

    private NodeBranch branch(ReadQuery query) {
        return NodeBranch.read(log, key, settings.conversations(), query);
    }

    /** What is stored, and behind it what waits to be. */
    private List<LoggedMessage> thread(NodeTurn turn, int maxTokenLimit) {
        ReadQuery query = ReadQuery.newest(WorkflowSettings.messageLimit(messageLimit))
                .upToTokens(WorkflowSettings.reach(maxTokenLimit));
        NodeBranch branch = branch(query);
        read = branch;
        if (epoch != null && epoch != branch.epoch()) {
            added = null;
        }
        epoch = branch.epoch();
        // Even what is run without a history belongs to the epoch that it began in.
        if (maxTokenLimit <= 0) {
            return List.of();
        }
        Deque<LoggedMessage> waiting = new ArrayDeque<>();
        String end = end(branch, turn, waiting);
        List<LoggedMessage> thread = new ArrayList<>(end == null ? List.of() : branch.thread(end, query));
        thread.addAll(waiting);
        int surplus = thread.size() - query.maxMessages();
        return surplus > 0 ? thread.subList(surplus, thread.size()) : thread;
    }

    /** Walks back through turns that wait, and returns the stored message that they end in. */
    private @Nullable String end(NodeBranch branch, NodeTurn turn, Deque<LoggedMessage> waiting) {
        NodeTurn current = turn;
        boolean own = looping || turn.iteration() > 1;
        int before = pending.size();
        while (true) {
            if (own) {
                int at = newestPending(current.messageId(), before);
                if (at < 0) {
                    String last = branch.lastIteration(current);
                    if (last != null) {
                        return turn.iteration() > 1 ? branch.endBefore(turn, last) : last;
                    }
                } else {
                    prepend(waiting, pending.get(at));
                    current = pending.get(at).turn();
                    before = at;
                    continue;
                }
            }
            String parent = current.parentMessageId();
            int at = parent == null ? -1 : newestPending(parent, before);
            if (at < 0 && before > 0 && branch.isUnplaced(current)) {
                at = newestPendingOfOthers(current.messageId(), before);
            }
            if (at < 0) {
                return branch.end(current);
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

    private int newestPending(String messageId, int before) {
        for (int i = before - 1; i >= 0; i--) {
            if (pending.get(i).turn().messageId().equals(messageId)) {
                return i;
            }
        }
        return -1;
    }

    private int newestPendingOfOthers(String messageId, int before) {
        for (int i = before - 1; i >= 0; i--) {
            if (!pending.get(i).turn().messageId().equals(messageId)) {
                return i;
            }
        }
        return -1;
    }

    private void write(PendingTurn turn) {
        if (tried > 0 && isThere(turn, tried)) {
            // An attempt that failed may have left it with the log.
            log.flush(key);
            return;
        }
        NodeTurn run = turn.turn();
        NodeBranch shown = run.messageId().equals(running) ? read : null;
        // What is about to be written makes it old.
        read = null;
        NodeBranch branch = shown != null && shown.isBehindHead(run) ? shown : branch(ReadQuery.newest(1));
        String last = branch.lastIteration(run);
        int iteration = run.iteration();
        if (iteration == 0) {
            iteration = last == null ? 1 : NodeTurn.iterationOf(run.messageId(), last);
            if (last != null && !isThere(branch, turn, iteration)) {
                iteration++;
            } else if (last != null) {
                log.flush(key);
                return;
            }
        }
        for (int met = 0; met < MOST_ITERATIONS_MET; met++) {
            String answerId = NodeTurn.answerId(run.messageId(), iteration);
            try {
                tried = iteration;
                append(branch, turn, iteration, last);
                return;
            } catch (MessageIdConflictException e) {
                tried = 0;
                if (run.iteration() > 0) {
                    if (isThere(turn, iteration)) {
                        log.flush(key);
                        return;
                    }
                    throw e;
                }
                // Somebody else ran for the same message, or this is a retry of what went through, or it was cleared.
                branch = branch(ReadQuery.newest(1));
                if (branch.shows(answerId)) {
                    if (isThere(turn, iteration)) {
                        log.flush(key);
                        return;
                    }
                    last = answerId;
                }
                iteration++;
            }
        }
        throw new MessageIdConflictException(key, run.messageId(), "has too many iterations");
    }

    private void append(NodeBranch branch, PendingTurn turn, int iteration, @Nullable String last) {
        NodeTurn run = turn.turn();
        Parent parent;
        boolean bridged = false;
        if (last == null || (iteration == 1 && last.equals(run.messageId()))) {
            parent = branch.parent(run);
            bridged = branch.isBridged(run);
        } else {
            parent = Parent.of(last);
        }
        Append append = Append.under(parent, turn.batch(iteration, bridged, settings.counts()));
        log.append(key, turn.epoch() == null ? append : append.inEpoch(turn.epoch()));
        // A log that holds back what no answer ends would find too late that somebody else has used the ids.
        log.flush(key);
    }

    /** Whether the turn is there, as a read shows it if it shows that much. */
    private boolean isThere(NodeBranch branch, PendingTurn turn, int iteration) {
        String answerId = NodeTurn.answerId(turn.turn().messageId(), iteration);
        List<LoggedMessage> shown = branch.shown(answerId, turn.answers().size() + 1);
        return shown == null ? isThere(turn, iteration) : turn.isStoredAs(shown, iteration, settings.counts());
    }

    private boolean isThere(PendingTurn turn, int iteration) {
        String answerId = NodeTurn.answerId(turn.turn().messageId(), iteration);
        int size = turn.answers().size() + 1;
        try {
            List<LoggedMessage> stored =
                    log.read(key, ReadQuery.newest(size).endingIn(answerId)).messages();
            return turn.isStoredAs(stored, iteration, settings.counts());
        } catch (InvalidInputException e) {
            return false;
        }
    }
}
