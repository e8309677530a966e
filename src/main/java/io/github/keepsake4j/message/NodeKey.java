package io.github.keepsake4j.message;

/**
 * The key of the memory of one workflow node within one conversation.
 *
 * @param tenant the tenant's id
 * @param appId the application's id within the tenant
 * @param conversationId the conversation's id within the application
 * @param nodeId the node's id within the application's workflow
 */
public record NodeKey(String tenant, String appId, String conversationId, String nodeId) implements MemoryKey {

    /** Checks all ids. */
    public NodeKey {
        Ids.check("tenant", tenant);
        Ids.check("appId", appId);
        Ids.check("conversationId", conversationId);
        Ids.check("nodeId", nodeId);
    }

    /**
     * Creates the key of a node's memory.
     *
     * @param tenant the tenant's id
     * @param appId the application's id within the tenant
     * @param conversationId the conversation's id within the application
     * @param nodeId the node's id within the application's workflow
     * @return the key
     * @throws InvalidInputException if an id is null, empty or too long, or contains NUL or an unpaired surrogate
     */
    public static NodeKey of(String tenant, String appId, String conversationId, String nodeId) {
        return new NodeKey(tenant, appId, conversationId, nodeId);
    }

    @Override
    public String canonical() {
        return "node/" + MemoryKey.encode(tenant) + "/" + MemoryKey.encode(appId) + "/"
                + MemoryKey.encode(conversationId) + "/" + MemoryKey.encode(nodeId);
    }

    @Override
    public String toString() {
        return canonical();
    }
}
