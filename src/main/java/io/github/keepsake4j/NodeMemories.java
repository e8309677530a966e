package io.github.keepsake4j;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.chat.ChatMemorySettings;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.MemoryIds;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;

/**
 * Memories of an application's nodes: each has one within each conversation. Made by {@link Keepsake#nodes}. Thread-safe.
 */
public final class NodeMemories {

    private final String appId;
    private final MemoryIds ids;
    private final ChatMemorySettings settings;

    NodeMemories(String appId, MemoryIds ids, ChatMemorySettings settings) {
        this.appId = appId;
        this.ids = ids;
        this.settings = settings;
    }

    /**
     * Returns what an AI service or agent takes that is a node. The memory id that it is called with is the conversation's.
     *
     * @param nodeId the node's id within the application
     * @return a provider of {@link KeepsakeChatMemory}
     * @throws InvalidInputException if the id breaks a rule
     */
    public ChatMemoryProvider chatMemoryProvider(String nodeId) {
        Ids.check("node id", nodeId);
        return memoryId -> new KeepsakeChatMemory(memoryId, key(nodeId, memoryId), settings);
    }

    /**
     * Returns a node's memory as an application or its user interface sees it.
     *
     * @param nodeId the node's id within the application
     * @param conversationId the conversation's memory id: a {@link ConversationKey}, String, number or UUID
     * @return a handle; no I/O
     * @throws InvalidInputException if an id is of another type or breaks a rule
     */
    public Conversation conversation(String nodeId, Object conversationId) {
        return new Conversation(conversationId, key(nodeId, conversationId), settings);
    }

    private NodeKey key(String nodeId, Object conversationId) {
        MemoryKey conversation = ids.key(conversationId);
        if (conversation instanceof ConversationKey of) {
            return NodeKey.of(of.tenant(), appId, of.conversationId(), nodeId);
        }
        throw new InvalidInputException(
                "memory id", "must name a conversation; it names a node's memory: " + conversation);
    }
}
