package io.github.keepsake4j;

import io.github.keepsake4j.chat.ChatSettings;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.transfer.MemoryFork;
import java.util.List;

/**
 * What conversations do with more than their own memory.
 *
 * @param log has the conversations
 * @param nodeLog has the memories of nodes
 * @param kept has the conversations, and imports none
 */
record LogsOfConversation(MessageLog log, MessageLog nodeLog, MessageLog kept) implements ChatSettings.Outside {

    @Override
    public void fork(MemoryKey from, String messageId, MemoryKey into) {
        if (from instanceof NodeKey != into instanceof NodeKey) {
            throw new InvalidInputException("newMemoryId", "must be the same kind of id as " + from + ", is " + into);
        }
        MemoryFork.create(from instanceof NodeKey ? nodeLog : log, from, messageId, into);
    }

    @Override
    public long erase(MemoryKey key) {
        MessageLog own = key instanceof NodeKey ? nodeLog : kept;
        long messages = messages(own, key);
        own.erase(key);
        return messages;
    }

    private static long messages(MessageLog log, MemoryKey key) {
        try {
            MemoryInfo info = Reads.info(log, key);
            return info == null ? 0 : info.messages();
        } catch (UnreadableDataException e) {
            // A damaged memory is erased too.
            return 0;
        }
    }

    @Override
    public int eraseWithNodes(MemoryKey key) {
        ConversationKey conversation = NodeMemories.conversation(key);
        log.erase(conversation);
        int erased = 0;
        KeepsakeException failure = null;
        for (MessageLog each : nodeLog == log ? List.of(log) : List.of(log, nodeLog)) {
            for (NodeKey node : each.nodes(conversation)) {
                try {
                    each.erase(node);
                    erased++;
                } catch (KeepsakeException e) {
                    if (e.isRetryable()) {
                        throw e;
                    }
                    failure = failure == null ? e : failure;
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        return erased;
    }
}
