package io.github.keepsake4j.chat;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextOverflowException;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.message.Ids;
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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Applies the strategy to the whole request: the messages that the memory shows, the new user message, and the tools.
 * Thread-safe.
 */
final class RequestBudget implements BiFunction<ChatRequest, Object, ChatRequest> {

    /**
     * The maximum number of tools whose counts are kept. Tools rarely change. When an application creates more, all
     * counts are discarded.
     */
    private static final int TOOLS = 1000;

    private final SharedParts memories;
    private final Map<Object, Integer> tokensOfTools = new ConcurrentHashMap<>();

    /**
     * Creates the transformer. Does no I/O. Applications obtain it from {@code Keepsake.requestBudget()}.
     *
     * @param memories the parts that all memories share
     */
    RequestBudget(SharedParts memories) {
        this.memories = memories;
    }

    /**
     * Leaves out the messages of a request that exceed the limits, oldest turns first.
     *
     * @param request the request, with the messages of the memory and the new user message
     * @param memoryId the memory's id
     * @return the request itself if it is within the limits, otherwise one with fewer messages
     * @throws ContextOverflowException if the new message and the tools alone exceed the limits
     */
    @Override
    public ChatRequest apply(ChatRequest request, Object memoryId) {
        MemoryKey key = memories.key(memoryId);
        Context handedOut = memories.shown(key);
        List<LoggedMessage> messages = logged(request.messages(), byInstance(handedOut));
        LoggedMessage summary = taken(messages, Summarization::isSummary);
        LoggedMessage made = taken(messages, Remembered::isShown);
        // The oldest messages determine which ones are pinned. Oldest messages that are not in the request are ignored.
        Context whole = Context.of(memoryId, system(messages), null, List.of(), messages, null)
                .beginningWith(handedOut == null ? List.of() : handedOut.oldest())
                .summarizedBy(summary)
                .remembering(made == null ? null : new Remembered(made, List.of()))
                .sizedBy(memories.sizes(key));
        Context fitting = SharedParts.select(memories.strategy(), whole.reserving(tools(request)));
        Context.Overflow over = fitting.over();
        if (over != null) {
            throw new ContextOverflowException(key, over);
        }
        // If no limit removed or shortened a message, the request is returned unchanged, even if the messages were
        // repaired here.
        boolean cut = fitting.shown().size() < whole.shown().size()
                || !results(fitting.messages()).equals(results(request.messages()));
        return cut ? request.toBuilder().messages(fitting.messages()).build() : request;
    }

    /** Removes the messages of a kind, and returns the first one, or null if there is none. */
    private static @Nullable LoggedMessage taken(List<LoggedMessage> messages, Predicate<ChatMessage> kind) {
        Predicate<LoggedMessage> isTaken = message -> kind.test(message.message());
        LoggedMessage first = messages.stream().filter(isTaken).findFirst().orElse(null);
        messages.removeIf(isTaken);
        return first;
    }

    private static List<ChatMessage> results(List<ChatMessage> messages) {
        return messages.stream()
                .filter(ToolExecutionResultMessage.class::isInstance)
                .toList();
    }

    private List<LoggedMessage> logged(List<ChatMessage> messages, IdentityHashMap<ChatMessage, LoggedMessage> known) {
        List<LoggedMessage> logged = new ArrayList<>();
        long sequence = 0;
        for (ChatMessage message : messages) {
            LoggedMessage same = known.get(message);
            LoggedMessage next = same != null ? same : count(message, sequence + 1);
            sequence = Math.max(sequence, next.sequence());
            logged.add(next);
        }
        return logged;
    }

    private LoggedMessage count(ChatMessage message, long sequence) {
        TokenCounter.Count count = memories.settings.counter().count(message);
        return new LoggedMessage(Ids.next(), null, sequence, message, count.tokens(), count.counter(), Instant.EPOCH);
    }

    /** Returns the stored messages of a context by the returned instance. */
    private static IdentityHashMap<ChatMessage, LoggedMessage> byInstance(@Nullable Context context) {
        IdentityHashMap<ChatMessage, LoggedMessage> messages = new IdentityHashMap<>();
        if (context != null) {
            Map<String, LoggedMessage> originals = context.originals();
            context.shown()
                    .forEach(message -> messages.put(message.message(), originals.getOrDefault(message.id(), message)));
        }
        return messages;
    }

    private static @Nullable LoggedMessage system(List<LoggedMessage> messages) {
        return messages.stream()
                .filter(message -> message.message() instanceof SystemMessage)
                .reduce((older, newer) -> newer)
                .orElse(null);
    }

    /**
     * Returns the tokens of the tools and the response format. They are counted as the text that describes them, which
     * is somewhat longer than the JSON that is sent.
     */
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
        return tokensOfTools.computeIfAbsent(description, text -> memories.strategy()
                .tokenCounter()
                .filter(counter -> !counter.isRemote())
                .orElse(memories.settings.counter())
                .count(UserMessage.from(text.toString()))
                .tokens());
    }
}
