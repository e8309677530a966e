package io.github.keepsake4j.memories;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the memories that a {@link LongTermMemoryBlock} shows. A store that fails or hangs does not break turns: its memories
 * are left out, and while a call hangs, no other turn waits for it. This class is not for users: a {@code Keepsake}
 * creates one. Thread-safe.
 */
final class MemoryBlocks {

    private static final Logger LOG = LoggerFactory.getLogger(MemoryBlocks.class);
    static final Duration LONGEST_WAIT = Duration.ofSeconds(1);
    private static final int CONVERSATIONS = 1_000;

    private final LongTermMemoryBlock block;
    private final LongTermMemoryReader reader;
    private final BranchFilter branch;
    private final TokenCounter counter;
    private final Executor executor;
    private final Duration longestWait;

    /** The calls that did not return in time. */
    private final Set<CompletableFuture<Overview>> late = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean isTold = new AtomicBoolean();

    /** The last message that was written, so that the tokens of an unchanged conversation are not counted again. */
    private final RecentlyUsed<MemoryKey, Written> written = new RecentlyUsed<>(CONVERSATIONS);

    private record Written(List<MadeMemory> memories, Optional<Remembered> message) {}

    /**
     * Creates it. Nothing is read.
     *
     * @param block the settings of the message
     * @param reader reads the memories
     * @param logs returns the log of a conversation
     * @param counter counts the tokens of the message; a fast, local one
     * @param executor runs the reads; it must not make them wait for other work
     * @param longestWait how long a turn waits for its memories
     */
    MemoryBlocks(
            LongTermMemoryBlock block,
            LongTermMemoryReader reader,
            Function<MemoryKey, MessageLog> logs,
            TokenCounter counter,
            Executor executor,
            Duration longestWait) {
        this.block = Objects.requireNonNull(block, "block");
        this.reader = Objects.requireNonNull(reader, "reader");
        this.branch = new BranchFilter(logs);
        this.counter = Objects.requireNonNull(counter, "counter");
        this.executor = Objects.requireNonNull(executor, "executor");
        this.longestWait = longestWait;
    }

    /**
     * Begins to load the memories of a conversation.
     *
     * @param key the conversation
     * @return a function that waits for the memories and returns those of the branch that was read; it returns none if
     * there are none, if they cannot be loaded in time, or for a node
     */
    Function<Tail, Optional<Remembered>> begin(MemoryKey key) {
        if (!(key instanceof ConversationKey) || isHanging()) {
            return tail -> Optional.empty();
        }
        CompletableFuture<Overview> loading;
        try {
            loading = CompletableFuture.supplyAsync(
                    () -> reader.overview(key, block.maxRecent(), block.minTrust()), executor);
        } catch (RuntimeException e) {
            tell(key, e);
            return tail -> Optional.empty();
        }
        return tail -> remembered(key, tail, loading);
    }

    private boolean isHanging() {
        late.removeIf(CompletableFuture::isDone);
        return !late.isEmpty();
    }

    private Optional<Remembered> remembered(MemoryKey key, Tail tail, CompletableFuture<Overview> loading) {
        try {
            Overview overview = loading.get(longestWait.toNanos(), TimeUnit.NANOSECONDS);
            List<MadeMemory> memories = MadeMemory.trusted(branch.of(key, tail, overview), block.minTrust());
            isTold.set(false);
            Written known = written.get(key);
            if (known == null || !known.memories().equals(memories)) {
                known = new Written(memories, write(memories));
                written.put(key, known);
            }
            return known.message();
        } catch (TimeoutException e) {
            late.add(loading);
            tell(key, e);
        } catch (ExecutionException e) {
            tell(key, e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            tell(key, e);
        }
        return Optional.empty();
    }

    /** Logs a failure once, until loading works again. The message of a foreign exception may quote texts of users. */
    private void tell(MemoryKey key, @Nullable Throwable failure) {
        String why = failure instanceof KeepsakeException
                ? failure.getMessage()
                : failure instanceof TimeoutException
                        ? "they were not loaded within " + longestWait.toMillis() + " ms"
                        : String.valueOf(
                                failure == null ? null : failure.getClass().getName());
        if (isTold.compareAndSet(false, true)) {
            LOG.warn("Memory {}: its turns continue without long-term memories ({})", key, why);
        } else {
            LOG.debug("Memory {}: a turn continues without long-term memories ({})", key, why);
        }
    }

    /** Writes as many memories as fit: the summary, pinned memories, and then the newest ones. */
    private Optional<Remembered> write(List<MadeMemory> memories) {
        List<MadeMemory> inOrder = memories.stream().sorted(ORDER).toList();
        List<MadeMemory> chosen = new ArrayList<>();
        long empty = message(List.of()).message().tokens();
        long tokens = empty;
        for (MadeMemory memory : byPriority(inOrder)) {
            long size = message(List.of(memory)).message().tokens() - empty;
            if (tokens + size <= block.maxTokens()) {
                tokens += size;
                chosen.add(memory);
            }
        }
        while (!chosen.isEmpty()) {
            Set<MadeMemory> set = new HashSet<>(chosen);
            Remembered message = message(inOrder.stream().filter(set::contains).toList());
            // The tokens of a whole text may differ from the sum of the tokens of its parts.
            if (message.message().tokens() <= block.maxTokens()) {
                return Optional.of(message);
            }
            chosen.remove(chosen.size() - 1);
        }
        return Optional.empty();
    }

    /** The summary, pinned memories and others, each from the oldest on. */
    private static final Comparator<MadeMemory> ORDER = Comparator.<MadeMemory>comparingInt(MemoryBlocks::rank)
            .thenComparing(MadeMemory::madeAt)
            .thenComparing(MadeMemory::id);

    private static int rank(MadeMemory memory) {
        return memory.kind() == MadeMemory.Kind.SUMMARY ? 0 : memory.pinned() ? 1 : 2;
    }

    private static List<MadeMemory> byPriority(List<MadeMemory> inOrder) {
        List<MadeMemory> newestFirst = new ArrayList<>(inOrder);
        Collections.reverse(newestFirst);
        newestFirst.sort(Comparator.comparingInt(MemoryBlocks::rank));
        return newestFirst;
    }

    private Remembered message(List<MadeMemory> memories) {
        return Remembered.of(
                MemoryText.block(memories, block.zone()),
                memories.stream().map(MadeMemory::id).toList(),
                counter);
    }
}
