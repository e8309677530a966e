package io.github.keepsake4j;

import dev.langchain4j.rag.content.retriever.ContentRetriever;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageRecall;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.RecallTool;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.Scope;
import java.util.function.Function;

/**
 * Recalls messages that answer a question, for a model. Considers the messages of users and models on the current
 * branch. On the thread of a turn that regenerates, edits or goes on elsewhere, these are the messages before its place.
 * Never returns failed, rejected or erased messages, or messages that the model is shown anyway. Messages that
 * {@code clear} hid are returned only if the options allow it. A message ranks by its own and its neighbours' words, by
 * the stored question that it answers, by the speaker and dates in the query, and by meaning if there is an
 * {@linkplain Keepsake.Builder#embeddingModel embedding model}. A question that names a day, a week or a month finds what
 * was said then, without a word of it. Thread-safe.
 */
public final class Recall {

    private final MessageRecall recall;
    private final Function<Object, MemoryKey> ids;

    Recall(MessageRecall recall, Function<Object, MemoryKey> ids) {
        this.recall = recall;
        this.ids = ids;
    }

    /**
     * Recalls from one memory, with {@linkplain RecallOptions#standard() standard options}.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param question the question; any text
     * @return passages, best first
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public Recalled find(Object memoryId, String question) {
        return find(memoryId, question, RecallOptions.standard());
    }

    /**
     * Recalls from one memory.
     *
     * @param memoryId a {@link MemoryKey}, String, number or UUID
     * @param question the question; any text
     * @param options how much to return, and of what
     * @return passages, best first
     * @throws InvalidInputException if the id is of another type or breaks a rule
     */
    public Recalled find(Object memoryId, String question, RecallOptions options) {
        return find(Scope.memory(ids.apply(memoryId)), question, options);
    }

    /**
     * Recalls from several memories, with {@linkplain RecallOptions#standard() standard options}.
     *
     * @param scope memories that the application names. The scope of a whole tenant is refused, because it would show
     * messages of one user to another
     * @param question the question; any text
     * @return passages, best first
     * @throws InvalidInputException if the scope is a tenant
     */
    public Recalled find(Scope scope, String question) {
        return find(scope, question, RecallOptions.standard());
    }

    /**
     * Recalls from several memories.
     *
     * @param scope memories that the application names. The scope of a whole tenant is refused, because it would show
     * messages of one user to another
     * @param question the question; any text
     * @param options how much to return, and of what
     * @return passages, best first
     * @throws InvalidInputException if the scope is a tenant
     */
    public Recalled find(Scope scope, String question, RecallOptions options) {
        return recall.recall(scope, question, options);
    }

    /**
     * Returns a retriever that adds earlier messages of the same memory to each question.
     *
     * @param options how much to add
     * @return the retriever, for {@code AiServices.contentRetriever} or a {@code RetrievalAugmentor}; the service needs a memory
     *     id
     */
    public ContentRetriever retriever(RecallOptions options) {
        return tool(options);
    }

    /**
     * Returns a retriever that adds earlier messages of some memories to each question.
     *
     * @param options how much to add
     * @param scopes maps a memory to its scope, such as all conversations of the same user
     * @return the retriever, for {@code AiServices.contentRetriever} or a {@code RetrievalAugmentor}; the service needs a memory
     *     id
     */
    public ContentRetriever retriever(RecallOptions options, Function<MemoryKey, Scope> scopes) {
        return tool(options, scopes);
    }

    /**
     * Returns a tool with which a model looks up earlier messages of its memory. The model cannot choose the memory.
     *
     * @param options how much to return
     * @return the tool, for {@code AiServices.tools}; the service needs a memory id
     */
    public RecallTool tool(RecallOptions options) {
        return tool(options, Scope::memory);
    }

    /**
     * Returns a tool with which a model looks up earlier messages of some memories. The model cannot choose them.
     *
     * @param options how much to return
     * @param scopes maps a memory to its scope, such as all conversations of the same user
     * @return the tool, for {@code AiServices.tools}; the service needs a memory id
     */
    public RecallTool tool(RecallOptions options, Function<MemoryKey, Scope> scopes) {
        return new RecallTool(recall, ids, scopes, options);
    }
}
