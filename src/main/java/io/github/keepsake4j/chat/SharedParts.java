package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage.Asked;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.view.ViewWriter;
import java.lang.ref.SoftReference;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parts that all chat memories of a {@code Keepsake} share, and the reads and appends that all of them make.
 * Thread-safe.
 */
final class SharedParts {

    /** The maximum number of cached contexts: about the number of conversations with a turn at the same time. */
    private static final int MEMORIES = 1_000;

    final ChatSettings settings;
    final Meter meter;
    final Summaries summaries;
    final ViewWriter views;
    private final TailLoader loader;

    /** The running turns of AI services. */
    final RunningTurns turns = new RunningTurns();

    final LeavingMessages leaving;

    /** The context that each memory returned last. A missing context is counted again. */
    private final RecentlyUsed<MemoryKey, SoftReference<Context>> contexts = new RecentlyUsed<>(MEMORIES);

    SharedParts(ChatSettings settings) {
        this.settings = settings;
        meter = new Meter(settings.metrics(), settings.logs());
        summaries = new Summaries(this, settings.worker());
        leaving = new LeavingMessages(settings.logs(), settings.executor(), settings.listener());
        loader = loader(settings.strategy());
        views = new ViewWriter(settings.logs(), this::append, meter::read, this::prepare);
    }

    /** Returns the key of a memory id. */
    MemoryKey key(Object memoryId) {
        return settings.ids().apply(memoryId);
    }

    MessageLog log(MemoryKey key) {
        return settings.logs().apply(key);
    }

    ContextStrategy strategy() {
        return settings.strategy();
    }

    /** Runs a task of a memory on the executor. An exception completes the future. */
    CompletableFuture<Void> runAsync(MemoryKey memory, Runnable task) {
        try {
            return CompletableFuture.runAsync(settings.capture().apply(memory, task), executor());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    Executor executor() {
        return settings.executor();
    }

    long nanoTime() {
        return settings.nanoTime().getAsLong();
    }

    /**
     * Prepares a message for an append: counts it and gives it a new id.
     *
     * @param message the message
     * @return the message with its id and count
     */
    NewMessage prepare(ChatMessage message) {
        return prepare(Ids.next(), message, null);
    }

    /** Prepares a message with an id, and possibly a time, for an append. */
    NewMessage prepare(String messageId, ChatMessage message, @Nullable Instant createdAt) {
        TokenCounter.Count count = settings.counter().count(InvalidInputException.given("message", message));
        return new NewMessage(messageId, message, count.tokens(), count.counter(), createdAt);
    }

    /** Adds what the user wrote to a question. Its size is that of the form that later requests show. */
    NewMessage asked(NewMessage question, @Nullable Asked asked) {
        UserMessage later = asked == null ? null : asked.later();
        if (asked == null || later == null) {
            return question.withAsked(asked);
        }
        TokenCounter.Count count = settings.counter().count(later);
        int sent = count.counter().equals(question.tokenCounter()) ? question.tokens() : -1;
        return new NewMessage(question.id(), question.message(), count.tokens(), count.counter(), question.createdAt())
                .withAsked(asked.withLater(later, sent));
    }

    /** Appends, and counts it. */
    AppendResult append(MemoryKey key, Append append) {
        AppendResult result;
        try {
            result = log(key).append(key, append);
        } catch (HeadConflictException e) {
            meter.conflict(key);
            throw e;
        }
        meter.appended(key, append, result);
        loader.appended(key, append.messages().size());
        append.messages().forEach(message -> views.tellId(key, message.message(), message.id()));
        return result;
    }

    /**
     * Reads as far back as the strategy requires.
     *
     * @param id the id as LangChain4j passed it
     * @param key the memory
     * @param atLeast the number of messages to read even if the strategy requires fewer
     */
    Tail load(Object id, MemoryKey key, int atLeast) {
        return load(id, key, atLeast, query -> read(key, query));
    }

    /** Reads as {@link #load(Object, MemoryKey, int)} does, with a function that reads within bounds. */
    Tail load(Object id, MemoryKey key, int atLeast, Function<ReadQuery, Tail> read) {
        return meter.read(key, loader.load(id, key, atLeast, read));
    }

    /** Reads what a memory shows, within bounds. */
    Tail read(MemoryKey key, ReadQuery query) {
        return loader.read(log(key), key, query);
    }

    /** Selects the messages that a model sees. */
    Context select(Object id, MemoryKey key, Tail tail, @Nullable Remembered made) {
        return select(strategy(), loader.context(id, key, tail).remembering(made));
    }

    /** Selects the messages that a model would see with another strategy, for which its loader has read them. */
    Context select(TailLoader other, ContextStrategy strategy, Object id, MemoryKey key, Tail tail) {
        return select(strategy, other.context(id, key, tail).remembering(remembered(key, tail)));
    }

    /** Selects with a strategy. Long-term memories must not exclude a turn that fits without them. */
    static Context select(ContextStrategy strategy, Context read) {
        Context selected = InvalidInputException.given("result of the strategy", strategy.select(read));
        return read.remembered() != null && selected.overflow() ? strategy.select(read.remembering(null)) : selected;
    }

    /** Returns a loader that reads as far back as another strategy requires. */
    TailLoader loader(ContextStrategy other) {
        return new TailLoader(other, settings.showsRetrieved(), settings.executor(), settings.nanoTime());
    }

    /** Returns the long-term memories that are shown in addition to messages that were already read. */
    @Nullable
    Remembered remembered(MemoryKey key, Tail tail) {
        return settings.remembered().begin(key).apply(tail).orElse(null);
    }

    /**
     * Returns the part that does not fit even if all results of the newest calls are empty, or null. This is a check
     * before the tools run, so no remote counter is called.
     */
    Context.@Nullable Overflow overflowWithResults(Object id, MemoryKey key, Tail tail, AiMessage calls) {
        if (strategy().tokenCounter().filter(TokenCounter::isRemote).isPresent()) {
            return null;
        }
        List<NewMessage> empty = calls.toolExecutionRequests().stream()
                .map(call -> prepare(ToolExecutionResultMessage.from(call, "")))
                .toList();
        return loader.selectLocally(id, key, tail.followedBy(empty)).over();
    }

    /** Returns the sizes of messages for one read of a memory. */
    TokenSizes sizes(MemoryKey key) {
        return loader.sizes(key);
    }

    /** Records the context that a memory returned. */
    void shown(MemoryKey key, Context context, boolean cut) {
        meter.shown(key, shown(key), context, cut);
        contexts.put(key, new SoftReference<>(context));
    }

    /** Returns the context that a memory returned last, or null if it is not known. */
    @Nullable
    Context shown(MemoryKey key) {
        SoftReference<Context> context = contexts.get(key);
        return context == null ? null : context.get();
    }
}
