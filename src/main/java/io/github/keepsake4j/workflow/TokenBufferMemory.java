package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The history of a conversation for a language model node: one thread along the parent pointers, in whole turns and
 * within a limit of tokens. It only reads; the engine writes the conversation's messages. A turn in progress is not
 * part of the history. The object has no state, so it is cheap and thread-safe.
 */
public final class TokenBufferMemory {

    /** The default for the maximum number of tokens of a history. */
    public static final int DEFAULT_MAX_TOKENS = 2000;

    private static final Logger LOG = LoggerFactory.getLogger(TokenBufferMemory.class);

    final MemoryKey key;
    final MessageLog log;
    private final WorkflowSettings settings;
    private final MemoryConfig config;

    TokenBufferMemory(MemoryKey key, MessageLog log, WorkflowSettings settings, MemoryConfig config) {
        this.key = key;
        this.log = log;
        this.settings = settings;
        this.config = config;
    }

    /**
     * Returns the history with the default limits.
     *
     * @return the messages, oldest first, of at most {@value #DEFAULT_MAX_TOKENS} tokens
     */
    public List<ChatMessage> getHistoryPromptMessages() {
        return getHistoryPromptMessages(DEFAULT_MAX_TOKENS, null);
    }

    /**
     * Returns the history within a limit of tokens.
     *
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @return the messages, oldest first
     */
    public List<ChatMessage> getHistoryPromptMessages(int maxTokenLimit) {
        return getHistoryPromptMessages(maxTokenLimit, null);
    }

    /**
     * Returns the history: the newest whole turns that fit both limits. It is empty if the last turn alone is too
     * large.
     *
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param messageLimit the maximum number of rows of the thread, each a question with its answer, as in Dify; null, 0
     *     or less, and more than 500 mean 500
     * @return the messages, oldest first, without system messages
     */
    public List<ChatMessage> getHistoryPromptMessages(int maxTokenLimit, @Nullable Integer messageLimit) {
        return getHistoryPromptMessages(null, maxTokenLimit, messageLimit, null);
    }

    /**
     * Returns the history of a thread.
     *
     * @param lastMessageId the thread's last message, or the engine's row that is a question without an answer yet; null
     *     for the conversation's current message
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param messageLimit the maximum number of rows of the thread, each a question with its answer, as in Dify; null, 0
     *     or less, and more than 500 mean 500
     * @param fileUploadConfig the settings for showing files, or null for {@link FileUploadConfig#STANDARD}
     * @return the messages, oldest first, without system messages
     * @throws InvalidInputException if the last message does not exist
     */
    public List<ChatMessage> getHistoryPromptMessages(
            @Nullable String lastMessageId,
            int maxTokenLimit,
            @Nullable Integer messageLimit,
            @Nullable FileUploadConfig fileUploadConfig) {
        return shown(thread(lastMessageId, maxTokenLimit, messageLimit), maxTokenLimit, fileUploadConfig)
                .messages();
    }

    /**
     * Returns the history as text: a line such as {@code Human: …} for each message of the user and the assistant, and
     * a marker such as {@code [image]} for each file. The limit applies to the tokens of the whole text.
     *
     * @param roles the names of the roles, or null for those of the node's configuration, else Human and Assistant
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param messageLimit the maximum number of rows of the thread, each a question with its answer, as in Dify; null, 0
     *     or less, and more than 500 mean 500
     * @return the text, empty if nothing fits
     */
    public String getHistoryPromptText(
            MemoryConfig.@Nullable RolePrefix roles, int maxTokenLimit, @Nullable Integer messageLimit) {
        return settings.history(key, log)
                .text(thread(null, maxTokenLimit, messageLimit), roles == null ? config.roles() : roles, maxTokenLimit);
    }

    /**
     * The messages of the conversation that a run sees, and the place of its turn.
     *
     * @param thread the messages that lead to the run
     * @param parent the message under which the turn is stored
     * @param question the question if the engine has stored it already, so that only the answer is missing, else null
     * @param epoch the epoch of the read, or null if there was none
     * @param again whether a run that stores its turn is the next iteration of a stored one; then the other components
     *     do not apply
     */
    record Placement(
            List<LoggedMessage> thread,
            Parent parent,
            @Nullable LoggedMessage question,
            @Nullable Long epoch,
            boolean again) {

        static final Placement AGAIN = new Placement(List.of(), Parent.head(), null, null, true);

        Placement(List<LoggedMessage> thread, Parent parent, @Nullable LoggedMessage question, @Nullable Long epoch) {
            this(thread, parent, question, epoch, false);
        }
    }

    /**
     * Finds the place of a run: behind the parent that it names, else before its own row if a message of the row is
     * stored, else behind the head. A named parent that is not stored leaves the thread of the head.
     *
     * @param writes whether the run stores its turn
     */
    Placement place(NodeTurn turn, int maxTokenLimit, @Nullable Integer messageLimit, boolean writes) {
        HistoryBounds bounds = HistoryBounds.of(messageLimit, maxTokenLimit, settings.counts());
        return turn.parentKnown() ? behindParent(turn, bounds, writes) : unnamed(turn.messageId(), bounds, writes);
    }

    private Placement behindParent(NodeTurn turn, HistoryBounds bounds, boolean writes) {
        String id = turn.messageId();
        String parent = turn.parentMessageId();
        if (parent == null && !writes) {
            return new Placement(List.of(), Parent.root(), null, null);
        }
        Tail head = parent == null ? HistoryBounds.HEAD.read(log, key, null) : null;
        List<LoggedMessage> found = head != null && head.head() == null ? List.of() : rows(id, parent);
        StoredRow own = StoredRow.of(id, found);
        String end = parent == null ? null : last(parent, found);
        Tail tail = head == null ? bounds.read(log, key, end) : head;
        if (writes && isStored(own, id, tail)) {
            return Placement.AGAIN;
        }
        List<LoggedMessage> thread = parent == null ? List.of() : settled(bounds, tail);
        if (own.isAsked()) {
            return new Placement(thread, own.under(), own.question(), tail.epoch());
        }
        return new Placement(thread, Parent.behind(end == null ? parent : end), null, tail.epoch());
    }

    /** Looks up the messages of two rows, and whether the second one has more than one iteration. */
    private List<LoggedMessage> rows(String id, @Nullable String parent) {
        Stream<String> ids = parent == null
                ? Ids.ofRow(id).stream()
                : Stream.of(Ids.ofRow(id), Ids.ofRow(parent), List.of(NodeTurn.answerId(parent, 2)))
                        .flatMap(List::stream);
        return Reads.messages(log, key, ids.distinct().toList());
    }

    /** Returns the last message of a row, which is its last iteration's; null if no message of the row is stored. */
    private @Nullable String last(String row, List<LoggedMessage> found) {
        String second = NodeTurn.answerId(row, 2);
        String last = found.stream().anyMatch(logged -> logged.id().equals(second))
                ? new NodeTurnParent(log, key, null, HistoryBounds.HEAD).lastIteration(row)
                : null;
        return last == null ? StoredRow.of(row, found).last() : last;
    }

    private static boolean isStored(StoredRow own, String id, Tail tail) {
        return own.answer() != null || (tail.head() != null && NodeTurn.iterationOf(id, tail.head()) > 0);
    }

    private Placement unnamed(String id, HistoryBounds bounds, boolean writes) {
        Tail tail = bounds.read(log, key, null);
        LoggedMessage user = tail.user();
        String head = tail.head();
        if (user != null
                && head != null
                && isGoingOn(tail)
                && Ids.rowOf(user.id()).equals(id)) {
            return new Placement(settled(bounds, tail), Parent.of(head), user, tail.epoch());
        }
        StoredRow own = StoredRow.find(log, key, id);
        if (writes && isStored(own, id, tail)) {
            return Placement.AGAIN;
        }
        if (own.last() == null) {
            return new Placement(settled(bounds, tail), Parent.head(), null, tail.epoch());
        }
        String before = own.before();
        List<LoggedMessage> thread = before == null ? List.of() : settled(bounds, bounds.read(log, key, before));
        return new Placement(thread, own.under(), own.isAsked() ? own.question() : null, tail.epoch());
    }

    /** Returns the messages of a thread as a model sees them. */
    PromptHistory.Prompt shown(
            List<LoggedMessage> thread, int maxTokenLimit, @Nullable FileUploadConfig fileUploadConfig) {
        return settings.history(key, log).messages(thread, key.tenant(), fileUploadConfig, maxTokenLimit);
    }

    /** Returns the memory of the turns that nodes store here, for a message that has one already. */
    NodeTokenBufferMemory iterations() {
        return new NodeTokenBufferMemory(key, log, settings, config);
    }

    /** Stores the first turn of a message. If another run was first, the turn is its next iteration. */
    void store(PendingTurn turn, Parent parent) {
        List<NewMessage> batch = turn.batch(Math.max(1, turn.turn().iteration()), false, settings.counts());
        try {
            log.append(key, Append.under(parent, batch).inEpoch(Objects.requireNonNull(turn.epoch())));
        } catch (MessageIdConflictException e) {
            NodeTokenBufferMemory iterations = iterations();
            iterations.add(turn);
            iterations.flush();
        }
    }

    private List<LoggedMessage> thread(@Nullable String last, int maxTokenLimit, @Nullable Integer messageLimit) {
        if (maxTokenLimit <= 0) {
            return List.of();
        }
        HistoryBounds bounds = HistoryBounds.of(messageLimit, maxTokenLimit, settings.counts());
        return settled(bounds, read(bounds, last));
    }

    /** Reads the branch that ends in a row. A row that has no answer yet ends in its question. */
    private Tail read(HistoryBounds bounds, @Nullable String last) {
        try {
            return bounds.read(log, key, last);
        } catch (UnknownMessageException e) {
            String question =
                    last == null ? null : StoredRow.find(log, key, last).last();
            if (question == null) {
                throw e;
            }
            return bounds.read(log, key, question);
        }
    }

    /** Returns the newest rows of a branch, without a turn that is in progress at its end. */
    private List<LoggedMessage> settled(HistoryBounds bounds, Tail branch) {
        Tail tail = branch;
        LoggedMessage user = tail.user();
        if (isGoingOn(tail)) {
            if (user == null) {
                return List.of();
            }
            View view = tail.view();
            if (view != null && user.sequence() <= view.anchorSequence()) {
                // The turn is in a list that was set. The message that precedes it in the log may have been dropped by
                // that list.
                List<String> ids =
                        tail.messages().stream().map(LoggedMessage::id).toList();
                return bounds.newest(tail.messages().subList(0, Math.max(0, ids.indexOf(user.id()))));
            }
            if (user.parentId() == null) {
                return List.of();
            }
            tail = bounds.read(log, key, user.parentId());
        }
        if (tail.missingParent() != null) {
            LOG.warn("Memory {}: the thread's oldest message names a missing parent", key);
        }
        return bounds.newest(tail.messages());
    }

    /** Returns whether a turn is in progress. A turn ends with an answer that calls no tools. */
    private static boolean isGoingOn(Tail tail) {
        List<LoggedMessage> messages = tail.messages();
        for (int i = messages.size() - 1; i >= 0; i--) {
            ChatMessage message = messages.get(i).message();
            if (!(message instanceof SystemMessage) && !(message instanceof UnknownMessage)) {
                return !(message instanceof AiMessage ai) || ai.hasToolExecutionRequests();
            }
        }
        return false;
    }
}
