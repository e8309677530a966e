package io.github.keepsake4j;

import io.github.keepsake4j.chat.ChatSettings;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.transfer.MemoryFork;
import java.util.List;

/** What conversations do with more than their own memory. */
record LogsOfConversation(MessageLog log, MessageLog nodeLog) implements ChatSettings.Outside {

    @Override
    public void fork(MemoryKey from, String messageId, MemoryKey into) {
        if (from instanceof NodeKey != into instanceof NodeKey) {
            throw new InvalidInputException("newMemoryId", "must be the same kind of id as " + from + ", is " + into);
        }
        MemoryFork.create(from instanceof NodeKey ? nodeLog : log, from, messageId, into);
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
