package io.github.keepsake4j;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;

/**
 * The memories of an application's nodes. Each node has one memory within each conversation. Obtained from
 * {@link Keepsake#nodes}. Thread-safe.
 */
public final class NodeMemories {

    private final String appId;
    private final ChatMemories memories;

    NodeMemories(String appId, ChatMemories memories) {
        this.appId = appId;
        this.memories = memories;
    }

    /**
     * Returns the provider for an AI service or agent that is a node. The memory id of a call names the conversation.
     *
     * @param nodeId the node's id within the application
     * @return a provider of {@link KeepsakeChatMemory}
     * @throws InvalidInputException if the id breaks a rule
     */
    public ChatMemoryProvider chatMemoryProvider(String nodeId) {
        Ids.check("node id", nodeId);
        return memoryId -> memories.memory(memoryId, key(nodeId, memoryId));
    }

    /**
     * Returns a handle for a node's memory, for an application or its user interface. Does no I/O.
     *
     * @param nodeId the node's id within the application
     * @param conversationId the conversation's memory id: a {@link ConversationKey}, String, number or UUID
     * @return the handle
     * @throws InvalidInputException if an id is of another type or breaks a rule
     */
    public Conversation conversation(String nodeId, Object conversationId) {
        return memories.conversation(conversationId, key(nodeId, conversationId));
    }

    @Override
    public String toString() {
        return "NodeMemories[" + MemoryKey.encode(appId) + "]";
    }

    private NodeKey key(String nodeId, Object conversationId) {
        ConversationKey conversation = conversation(memories.key(conversationId));
        return NodeKey.of(conversation.tenant(), appId, conversation.conversationId(), nodeId);
    }

    /** Returns the key of a conversation. */
    static ConversationKey conversation(MemoryKey key) {
        if (key instanceof ConversationKey conversation) {
            return conversation;
        }
        throw new InvalidInputException("memory id", "must name a conversation, but names a node's memory: " + key);
    }
}
