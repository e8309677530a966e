package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads the conversations of another store, without changing them. Implementations are thread-safe. */
@FunctionalInterface
public interface ImportSource {

    /**
     * Reads a conversation.
     *
     * @param conversation the conversation
     * @return the messages that the other store still has, oldest first, each after its parent; empty if that store
     *     does not know the conversation
     */
    List<ImportedMessage> messages(ConversationKey conversation);

    /**
     * Limits this source to one tenant. Other stores have no tenants, so an unlimited source returns the same messages
     * for the same id of any tenant.
     *
     * @param tenant the tenant whose conversations this source has
     * @return a source that has no conversations of other tenants
     */
    default ImportSource ofTenant(String tenant) {
        Ids.check("tenant", tenant);
        return conversation -> conversation.tenant().equals(tenant) ? messages(conversation) : List.of();
    }

    /**
     * Returns a log that imports the conversations of this source when they are used. The source is only read.
     *
     * <p>The first use of a conversation in a process reads it from this source and appends what the log does not have
     * yet. Its messages have ids that derive from the conversation and their number, or those of the other store, so
     * that several processes may do so at once, and each message is stored once. Each later read checks whether the
     * other store's conversation has grown, because an old instance of the application may still run, and appends the
     * rest behind the head.
     *
     * <p>The source is read for the conversations of every tenant that uses the log. {@link #ofTenant} limits it to one,
     * as {@code Keepsake.builder().importFrom(…)} does.
     *
     * <p>A conversation that was erased here is never imported again, so the log keeps all tombstones. A conversation
     * that had messages here before its list was found is not changed. Memories of nodes are not imported, and lists of
     * conversations show only used conversations. If the other store fails, the first use in a process fails too; later
     * reads continue without it.
     *
     * @param log keeps the messages
     * @param counter counts imported messages
     * @return a thread-safe log; closing it closes the log behind it
     */
    default MessageLog importingInto(MessageLog log, TokenCounter counter) {
        return new ImportingLog(log, this, counter);
    }

    /**
     * Reads from a store of LangChain4j. The memory id is the conversation's id, as a string.
     *
     * @param store the store; only {@link ChatMemoryStore#getMessages} is called
     * @return the source
     */
    static ImportSource of(ChatMemoryStore store) {
        return of(store, ConversationKey::conversationId);
    }

    /**
     * Reads from a store of LangChain4j whose memory ids differ from the conversations' ids: they are numbers, for
     * instance.
     *
     * @param store the store; only {@link ChatMemoryStore#getMessages} is called
     * @param memoryId returns the memory id under which the store keeps a conversation
     * @return the source
     */
    static ImportSource of(ChatMemoryStore store, Function<ConversationKey, ?> memoryId) {
        InvalidInputException.given("store", store);
        InvalidInputException.given("memoryId", memoryId);
        return conversation -> store.getMessages(memoryId.apply(conversation)).stream()
                .map(ImportedMessage::of)
                .toList();
    }

    /**
     * A message of another store.
     *
     * @param message the message
     * @param createdAt when it was created, or null if the store does not have the time; the message then gets the time
     *     of the import
     * @param id its id in the other store, under which it is imported; null if it has none. Either all messages of a
     *     conversation have an id, or none
     * @param parentId the id of the message before it, or null for none; ignored for a message without an id
     */
    record ImportedMessage(
            ChatMessage message, @Nullable Instant createdAt, @Nullable String id, @Nullable String parentId) {

        /** Checks the components. */
        public ImportedMessage {
            InvalidInputException.given("message", message);
            if (id != null) {
                Ids.check("id", id);
            }
        }

        /**
         * Creates a message of a store that keeps only lists.
         *
         * @param message the message
         * @return the message, without a time and an id
         */
        public static ImportedMessage of(ChatMessage message) {
            return of(message, null);
        }

        /**
         * Creates a message of a store that keeps only lists and times.
         *
         * @param message the message
         * @param createdAt when it was created, or null if the store does not have the time
         * @return the message, without an id
         */
        public static ImportedMessage of(ChatMessage message, @Nullable Instant createdAt) {
            return new ImportedMessage(message, createdAt, null, null);
        }

        /** Leaves out the text, which may be confidential. */
        @Override
        public String toString() {
            return "ImportedMessage[type=" + message.type() + ", id=" + id + "]";
        }
    }
}
