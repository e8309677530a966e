package io.github.keepsake4j.message;

/**
 * The memory of one conversation.
 *
 * @param tenant the tenant's id
 * @param conversationId the conversation's id within the tenant
 */
public record ConversationKey(String tenant, String conversationId) implements MemoryKey {

    /** Checks the parts. */
    public ConversationKey {
        Ids.check("tenant", tenant);
        Ids.check("conversationId", conversationId);
    }

    /**
     * Makes the key of a conversation.
     *
     * @param tenant the tenant's id
     * @param conversationId the conversation's id within the tenant
     * @return the key
     * @throws InvalidInputException if an id is null, empty, too long, or holds NUL or half a surrogate pair
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
