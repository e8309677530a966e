package io.github.keepsake4j.chat;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Applies the strategy to the whole request: what the memory shows, the message that the user just sent, and the tools.
 * Thread-safe.
 */
final class RequestBudget implements BiFunction<ChatRequest, Object, ChatRequest> {

    /** Tools rarely change, so their counts are kept; a program that makes new ones all the time starts over. */
    private static final int TOOLS = 1000;

    private final MemoryIds ids;
    private final ChatMemorySettings settings;
    private final Map<Object, Integer> tokensOfTools = new ConcurrentHashMap<>();

    /**
     * Makes the transformer; no I/O. Users get one from {@code Keepsake.requestBudget()}.
     *
     * @param ids from memory ids to keys
     * @param settings what all memories share
     */
    RequestBudget(MemoryIds ids, ChatMemorySettings settings) {
        this.ids = ids;
        this.settings = settings;
    }

    /**
     * Leaves out of a request what is over the limits, oldest turns first.
     *
     * @param request the request, with the messages of the memory and the user's new one
     * @param memoryId the memory's id
     * @return the request itself if it is within the limits, else one with fewer messages
     * @throws ContextOverflowException if the new message and the tools alone are over the limits
     */
    @Override
    public ChatRequest apply(ChatRequest request, Object memoryId) {
        MemoryKey key = ids.key(memoryId);
        Context handedOut = settings.shown(key);
        List<LoggedMessage> messages = logged(request.messages(), byInstance(handedOut));
        LoggedMessage summary = messages.stream()
                .filter(message -> Summarization.isSummary(message.message()))
                .findFirst()
                .orElse(null);
        messages.removeIf(message -> Summarization.isSummary(message.message()));
        // The oldest messages tell what is pinned; those that are not in the request have no part in it.
        Context whole = Context.of(memoryId, system(messages), null, List.of(), messages, null)
                .beginningWith(handedOut == null ? List.of() : handedOut.oldest())
                .summarizedBy(summary);
        Context fitting = settings.strategy().select(whole.reserving(tools(request)));
        if (fitting.overflow()) {
            throw new ContextOverflowException(key);
        }
        // What was repaired here and cut by no limit is the caller's own doing.
        boolean cut = fitting.shown().size() < whole.shown().size();
        return cut ? request.toBuilder().messages(fitting.messages()).build() : request;
    }

    private List<LoggedMessage> logged(List<ChatMessage> messages, IdentityHashMap<ChatMessage, LoggedMessage> known) {
        List<LoggedMessage> logged = new ArrayList<>();
        long sequence = 0;
        for (ChatMessage message : messages) {
            LoggedMessage same = known.get(message);
            LoggedMessage next = same != null ? same : count(message, "new-" + logged.size(), sequence + 1);
            sequence = Math.max(sequence, next.sequence());
            logged.add(next);
        }
        return logged;
    }

    private LoggedMessage count(ChatMessage message, String id, long sequence) {
        TokenCounter.Count count = settings.counter().count(message);
        return new LoggedMessage(id, null, sequence, message, count.tokens(), count.counter(), Instant.EPOCH);
    }

    /** The messages of a context by the instance that was given out. */
    private static IdentityHashMap<ChatMessage, LoggedMessage> byInstance(@Nullable Context context) {
        IdentityHashMap<ChatMessage, LoggedMessage> messages = new IdentityHashMap<>();
        if (context != null) {
            context.shown().forEach(message -> messages.put(message.message(), message));
        }
        return messages;
    }

    private static @Nullable LoggedMessage system(List<LoggedMessage> messages) {
        LoggedMessage system = null;
        for (LoggedMessage message : messages) {
            system = message.message() instanceof SystemMessage ? message : system;
        }
        return system;
    }

    /** Counted as the text that describes them, which is somewhat longer than the JSON that is sent. */
    private long tools(ChatRequest request) {
        long tokens = 0;
        if (request.toolSpecifications() != null) {
            for (ToolSpecification tool : request.toolSpecifications()) {
                tokens += tokens(tool);
            }
        }
        return request.responseFormat() == null || request.responseFormat().jsonSchema() == null
                ? tokens
                : tokens + tokens(request.responseFormat().jsonSchema());
    }

    private int tokens(Object description) {
        if (tokensOfTools.size() > TOOLS) {
            tokensOfTools.clear();
        }
        return tokensOfTools.computeIfAbsent(description, text -> settings.counter()
                .count(UserMessage.from(text.toString()))
                .tokens());
    }
}
