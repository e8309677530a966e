package io.github.keepsake4j.transfer;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Reads the conversations of another store, without changing them. Implementations are thread-safe. */
@FunctionalInterface
public interface ImportSource {

    /**
     * Reads a conversation.
     *
     * @param conversation the conversation
     * @return its messages as far as the other store still has them, oldest first, each behind its parent; empty if the other
     *     store does not know it
     */
    List<ImportedMessage> messages(ConversationKey conversation);

    /**
     * Limits this source to one tenant. Other stores have no tenants, and another tenant's conversation of the same id
     * is another conversation.
     *
     * @param tenant the tenant whose conversations this source has
     * @return a source that has no conversations of other tenants
     */
    default ImportSource ofTenant(String tenant) {
        Ids.check("tenant", tenant);
        return conversation -> conversation.tenant().equals(tenant) ? messages(conversation) : List.of();
    }

    /**
     * Reads the lists of a store of LangChain4j. The conversation's id is the memory id, as a string.
     *
     * @param store the store; only {@link ChatMemoryStore#getMessages} is called
     * @return the source
     */
    static ImportSource of(ChatMemoryStore store) {
        return of(store, ConversationKey::conversationId);
    }

    /**
     * Reads the lists of a store of LangChain4j whose memory ids are not the conversations' ids, such as numbers.
     *
     * @param store the store; only {@link ChatMemoryStore#getMessages} is called
     * @param memoryId returns the memory id under which the store keeps a conversation
     * @return the source
     */
    static ImportSource of(ChatMemoryStore store, Function<ConversationKey, ?> memoryId) {
        Objects.requireNonNull(store, "store");
        Objects.requireNonNull(memoryId, "memoryId");
        return conversation -> store.getMessages(memoryId.apply(conversation)).stream()
                .map(ImportedMessage::of)
                .toList();
    }
}
