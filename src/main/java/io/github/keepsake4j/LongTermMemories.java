package io.github.keepsake4j;

import dev.langchain4j.rag.content.retriever.ContentRetriever;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.LongTermMemoriesOfConversation;
import io.github.keepsake4j.memories.LongTermMemoryFailedException;
import io.github.keepsake4j.memories.LongTermMemoryTools;
import io.github.keepsake4j.memories.background.BackgroundCreators;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Scope;
import java.util.function.Function;

/** The long-term memories of conversations: chunks, facts and summaries that a model wrote. Thread-safe. */
public final class LongTermMemories {

    private final BackgroundCreators creators;
    private final MessageLog log;
    private final Function<Object, MemoryKey> ids;

    LongTermMemories(BackgroundCreators creators, MessageLog log, Function<Object, MemoryKey> ids) {
        this.creators = creators;
        this.log = log;
        this.ids = ids;
    }

    /**
     * Returns the long-term memories of a conversation, to be read, added by hand, corrected, pinned and forgotten. Does
     * no I/O.
     *
     * <p>The id of a user is an id too: what {@code of("alice").remember(…)} stores about Alice is shown in each of her
     * conversations by {@linkplain #tools(LongTermMemoryTools.Options, Function) tools} whose scopes name
     * {@code "alice"} besides the conversation.
     *
     * @param memoryId the conversation, or what else the memories are about: a {@link ConversationKey}, String, number or
     *     UUID
     * @return the memories
     * @throws InvalidInputException if the id is of another type, breaks a rule or names a node's memory
     */
    public LongTermMemoriesOfConversation of(Object memoryId) {
        return new LongTermMemoriesOfConversation(
                creators.store(), key -> log, conversation(memoryId), creators::stale);
    }

    /**
     * Creates the long-term memories of a conversation that are due, on the caller's thread and at once. Messages that
     * were skipped after several failed tries are tried once more. This method calls a model and may take long.
     *
     * @param memoryId the conversation: a {@link ConversationKey}, String, number or UUID
     * @return the created memories, and the messages that are still skipped
     * @throws LongTermMemoryFailedException if a model or a workflow failed; earlier results are stored, and the next call
     *     tries again
     * @throws InvalidInputException if the id is of another type, breaks a rule or names a node's memory
     */
    public Discussion.Run make(Object memoryId) {
        return creators.make(conversation(memoryId));
    }

    private ConversationKey conversation(Object memoryId) {
        return NodeMemories.conversation(ids.apply(memoryId));
    }

    /**
     * Returns a retriever that adds matching memories of the conversation to each question.
     *
     * @param options which memories
     * @return the retriever, for {@code AiServices.contentRetriever} or a {@code RetrievalAugmentor}; the service needs
     *     a memory id
     */
    public ContentRetriever retriever(LongTermMemoryTools.Options options) {
        return tools(options);
    }

    /**
     * Returns the tools {@code searchMemory} and {@code recentMemories}, with which a model looks up the memories of
     * its conversation. The model cannot choose the conversation.
     *
     * @param options which memories
     * @return the tools, for {@code AiServices.tools}; the service needs a memory id
     */
    public LongTermMemoryTools tools(LongTermMemoryTools.Options options) {
        return tools(options, Scope::memory);
    }

    /**
     * Returns the tools {@code searchMemory} and {@code recentMemories}, with which a model looks up the memories of
     * several conversations. They are a retriever too. The model cannot choose the conversations.
     *
     * @param options which memories
     * @param scopes returns, for a conversation, the conversations to look in, such as all of the same user
     * @return the tools, for {@code AiServices.tools} or {@code AiServices.contentRetriever}; the service needs a memory
     *     id
     */
    public LongTermMemoryTools tools(LongTermMemoryTools.Options options, Function<MemoryKey, Scope> scopes) {
        return new LongTermMemoryTools(creators.store(), key -> log, ids, scopes, options, creators::stale);
    }
}
