package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.codec.RequestCodec;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.workflow.TokenBufferMemory.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A language model node. A run reads the node's memory, calls the model and stores the turn. Immutable, and thread-safe
 * if the model is.
 */
public final class LlmNode {

    private static final Logger LOG = LoggerFactory.getLogger(LlmNode.class);

    private final WorkflowMemories memories;
    private final ChatModel model;
    private final @Nullable MemoryConfig config;
    private final HistoryBudget budget;
    private final boolean writesConversation;

    private LlmNode(
            WorkflowMemories memories,
            ChatModel model,
            @Nullable MemoryConfig config,
            HistoryBudget budget,
            boolean writesConversation) {
        this.memories = InvalidInputException.given("memories", memories);
        this.model = InvalidInputException.given("model", model);
        this.config = config;
        this.budget = budget;
        this.writesConversation = writesConversation;
    }

    /**
     * Creates a node.
     *
     * @param memories the factory of its memory; it counts tokens as the model does unless an estimator was configured
     * @param model the model that the node calls
     * @param config the configuration of the node's memory, or null for none
     * @return the node, with a history of at most 2,000 tokens
     */
    public static LlmNode of(WorkflowMemories memories, ChatModel model, @Nullable MemoryConfig config) {
        WorkflowMemories counted =
                memories.countingFor(model.defaultRequestParameters().modelName());
        return new LlmNode(counted, model, config, new HistoryBudget(null, 0), false);
    }

    /**
     * Limits the history to the tokens of the model's context that remain after the system prompt, the query and the
     * tokens reserved for the answer. Default: 2,000 tokens.
     *
     * @param contextTokens the model's context size in tokens, 1 or more
     * @param answerTokens the number of these tokens that are reserved for the answer, 0 or more
     * @return a copy
     * @throws io.github.keepsake4j.message.InvalidInputException if a number is out of range
     */
    public LlmNode budget(int contextTokens, int answerTokens) {
        return new LlmNode(memories, model, config, new HistoryBudget(contextTokens, answerTokens), writesConversation);
    }

    /**
     * Makes the node store its turns in the mode {@link MemoryMode#CONVERSATION} too, for an engine that does not write
     * the conversation's messages itself. If it has stored the question, the first run for the message answers that
     * question. Further runs are stored as iterations, as in a node's own memory. Default: in that mode, the node stores
     * nothing.
     *
     * @return a copy
     */
    public LlmNode writingConversation() {
        return new LlmNode(memories, model, config, budget, true);
    }

    /**
     * Runs the node. The stored answer records which messages the model saw and how many tokens it reported;
     * {@code Keepsake.conversation(key)} returns both. The system prompt and the rendered template are not stored messages:
     * {@link WorkflowMemories.Builder#keepRequests} stores them with the whole request. If the model fails, its exception is thrown and nothing is
     * stored. If the turn cannot be stored, the answer is returned nevertheless, together with the failure. Each run
     * that is stored is an iteration of its message, unless a run with the same {@linkplain NodeTurn#inRun run key} is
     * stored already. A query that is blank after rendering is sent as
     * {@code [no text]} if there are no files, because providers refuse blank texts.
     *
     * @param run the input of the run
     * @return the answer
     */
    public Reply run(NodeRun run) {
        WorkflowMemories.Selection memory =
                memories.select(config, run.tenantId(), run.appId(), run.conversationId(), run.nodeId());
        WorkflowSettings settings = memories.settings;
        String query = config == null ? run.query() : config.renderQuery(run.query(), run.variables());
        UserMessage asked = FileReference.attach(UserMessage.from(query), run.files());
        List<ChatMessage> prompt = new ArrayList<>();
        if (run.systemPrompt() != null) {
            prompt.add(run.systemPrompt());
        }
        UserMessage shown = withFiles(run, asked);
        List<ChatMessage> beside = new ArrayList<>(prompt);
        beside.add(shown);
        int maxTokens = budget.forHistory(beside, settings.counts());
        if (maxTokens == 0) {
            tellOverflow(memory);
        }
        Placement place = place(memory.conversation(), run, maxTokens);
        NodeTokenBufferMemory turns = turns(memory, place);
        PromptHistory.Prompt history = history(memory.conversation(), turns, run, place, maxTokens);
        prompt.addAll(history.messages());
        prompt.add(shown);
        ChatResponse response = model.chat(prompt);
        RuntimeException failure = null;
        try {
            LoggedMessage question = place == null ? null : place.question();
            UserMessage stored = question != null && question.message() instanceof UserMessage user
                    ? user
                    : UserMessage.from(run.query());
            boolean altered = run.systemPrompt() != null || !shown.equals(stored);
            Made made = made(response, prompt, history.seen(), question, altered);
            keep(memory.conversation(), turns, run, response.aiMessage(), made, place);
        } catch (RuntimeException e) {
            LOG.warn(
                    "Node {} of app {}: its turn was not stored ({})",
                    MemoryKey.encode(run.nodeId()),
                    MemoryKey.encode(run.appId()),
                    e.getClass().getName());
            failure = e;
        }
        return new Reply(response, memory.node(), failure);
    }

    /** Returns the message that the model sees, with the run's files first, as later histories show it. */
    private UserMessage withFiles(NodeRun run, UserMessage asked) {
        if (run.files().isEmpty()) {
            return PromptHistory.withContents(asked, List.of());
        }
        String given = run.conversationId();
        String conversationId = given == null || given.isEmpty() ? "none" : given;
        MemoryKey key = NodeKey.of(run.tenantId(), run.appId(), conversationId, run.nodeId());
        Function<@Nullable FileReference, Content> contents =
                memories.settings.files().rebuild(key, run.tenantId(), run.fileUploadConfig(), run.files());
        return PromptHistory.withContents(
                asked, run.files().stream().map(contents).toList());
    }

    private void tellOverflow(WorkflowMemories.Selection memory) {
        WorkflowSettings settings = memories.settings;
        MessageLog log = memory.node() != null
                ? settings.nodes()
                : memory.conversation() != null ? settings.conversations() : null;
        if (log != null) {
            settings.tell(sink -> sink.historyOverflow(log.backend()));
        }
    }

    /** Returns the run's place in the conversation, or null if there is none or it is not needed. */
    private @Nullable Placement place(@Nullable TokenBufferMemory conversation, NodeRun run, int maxTokens) {
        boolean isNeeded = maxTokens > 0 || writesConversation;
        return conversation == null || config == null || !isNeeded
                ? null
                : conversation.place(run.turn(), maxTokens, config.messageLimit(), writesConversation);
    }

    /** Returns the memory that numbers the iterations of a message: the node's own, or the conversation's in a loop. */
    private static @Nullable NodeTokenBufferMemory turns(WorkflowMemories.Selection memory, @Nullable Placement place) {
        return memory.conversation() != null && place != null && place.again()
                ? memory.conversation().iterations()
                : memory.node();
    }

    /**
     * Returns the history for a run. If its message already has a turn in the node's memory, the run counts as the next
     * iteration, because it will be stored as such.
     */
    private static PromptHistory.Prompt history(
            @Nullable TokenBufferMemory conversation,
            @Nullable NodeTokenBufferMemory turns,
            NodeRun run,
            @Nullable Placement place,
            int maxTokens) {
        if (turns != null) {
            return turns.historyForNext(run.turn(), run.tenantId(), maxTokens, run.fileUploadConfig());
        }
        return conversation == null || place == null || maxTokens <= 0
                ? PromptHistory.Prompt.NOTHING
                : conversation.shown(place.thread(), maxTokens, run.fileUploadConfig());
    }

    /**
     * Returns how an answer was made. A question that is stored together with its answer has no sequence number yet, so
     * it is not among the messages that the model saw.
     *
     * @param prompt the messages of the request
     * @param question the question if it is stored already, else null
     * @param altered whether the request contained more than stored messages
     */
    private Made made(
            ChatResponse response,
            List<ChatMessage> prompt,
            Seen history,
            @Nullable LoggedMessage question,
            boolean altered) {
        List<Long> sequences = new ArrayList<>(history.sequences());
        if (question != null) {
            sequences.add(question.sequence());
        }
        Seen seen = new Seen(
                Seen.ranges(sequences), List.of(), 0, altered || history.altered(), List.of(), history.later());
        Made made = Made.of(response).withSeen(seen);
        if (!seen.altered() || !memories.settings.keepsRequests()) {
            return made;
        }
        ChatRequest request = ChatRequest.builder()
                .messages(prompt)
                .parameters(model.defaultRequestParameters())
                .build();
        return made.withRequest(RequestCodec.encode(request));
    }

    private void keep(
            @Nullable TokenBufferMemory conversation,
            @Nullable NodeTokenBufferMemory turns,
            NodeRun run,
            AiMessage answer,
            Made made,
            @Nullable Placement place) {
        if (turns != null) {
            turns.addMessages(run.turn(), run.query(), run.files(), List.of(answer), made);
            turns.flush();
        } else if (writesConversation && conversation != null && place != null) {
            UserMessage user = FileReference.attach(UserMessage.from(run.query()), run.files());
            PendingTurn turn = PendingTurn.of(run.turn(), user, List.of(answer), made, place.epoch());
            conversation.store(turn.asked(place.question() != null), place.parent());
        }
    }

    /**
     * The result of a node's run.
     *
     * @param response the model's response
     * @param memory the node's memory, or null if it has none; after a failed flush, it still has the turn unless
     *     the memory was erased, and {@link NodeTokenBufferMemory#flush()} tries again
     * @param failure why the turn could not be stored, or null if it was stored or there was nothing to store
     */
    public record Reply(
            ChatResponse response, @Nullable NodeTokenBufferMemory memory, @Nullable RuntimeException failure) {

        /**
         * Returns the assistant's text.
         *
         * @return the text, or null if there is none
         */
        public @Nullable String text() {
            return response.aiMessage().text();
        }
    }
}
