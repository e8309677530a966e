package io.github.keepsake4j.message;

/**
 * The key of one conversation's memory.
 *
 * @param tenant the tenant's id
 * @param conversationId the conversation's id within the tenant
 */
public record ConversationKey(String tenant, String conversationId) implements MemoryKey {

    /** Checks both ids. */
    public ConversationKey {
        Ids.check("tenant", tenant);
        Ids.check("conversationId", conversationId);
    }

    /**
     * Creates the key of a conversation.
     *
     * @param tenant the tenant's id
     * @param conversationId the conversation's id within the tenant
     * @return the key
     * @throws InvalidInputException if an id is null, empty or too long, or contains NUL or an unpaired surrogate
     */
    public static ConversationKey of(String tenant, String conversationId) {
        return new ConversationKey(tenant, conversationId);
    }

    @Override
    public String canonical() {
        return "conversation/" + MemoryKey.encode(tenant) + "/" + MemoryKey.encode(conversationId);
    }

    @Override
    public String toString() {
        return canonical();
    }
}
