package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.workflow.files.FileUploadConfig;
import java.util.List;
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

    private final MemoryKey key;
    private final MessageLog log;
    private final WorkflowSettings settings;

    TokenBufferMemory(MemoryKey key, MessageLog log, WorkflowSettings settings) {
        this.key = key;
        this.log = log;
        this.settings = settings;
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
     * @param lastMessageId the thread's last message, or null for the conversation's current one
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
        return settings.history(key)
                .messages(
                        thread(lastMessageId, maxTokenLimit, messageLimit),
                        key.tenant(),
                        fileUploadConfig,
                        maxTokenLimit);
    }

    /**
     * Returns the history as text: a line such as {@code Human: …} for each message of the user and the assistant, and
     * a marker such as {@code [image]} for each file. The limit applies to the tokens of the whole text.
     *
     * @param roles the names of the roles, or null for Human and Assistant
     * @param maxTokenLimit the maximum number of tokens; nothing is returned for 0 or less
     * @param messageLimit the maximum number of rows of the thread, each a question with its answer, as in Dify; null, 0
     *     or less, and more than 500 mean 500
     * @return the text, empty if nothing fits
     */
    public String getHistoryPromptText(
            MemoryConfig.@Nullable RolePrefix roles, int maxTokenLimit, @Nullable Integer messageLimit) {
        return settings.history(key)
                .text(
                        thread(null, maxTokenLimit, messageLimit),
                        roles == null ? MemoryConfig.RolePrefix.STANDARD : roles,
                        maxTokenLimit);
    }

    /** Returns whether a message is in the conversation's log. */
    boolean holds(String messageId) {
        return !log.find(key, List.of(messageId)).isEmpty();
    }

    /** Returns the current epoch, to which a run that begins now belongs. */
    long epoch() {
        return log.read(key, ReadQuery.newest(0)).epoch();
    }

    MemoryKey key() {
        return key;
    }

    MessageLog log() {
        return log;
    }

    private List<LoggedMessage> thread(@Nullable String last, int maxTokenLimit, @Nullable Integer messageLimit) {
        if (maxTokenLimit <= 0) {
            return List.of();
        }
        HistoryBounds bounds = HistoryBounds.of(messageLimit, maxTokenLimit, settings.counts());
        Tail tail = bounds.read(log, key, last);
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
            LOG.warn("Memory {}: the thread's oldest message names a parent that is not there", key);
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
