package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.words.Words;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks up memories for the conversation that a call of an AI service works with. It only reads: the memories, and whether
 * their messages are still on the conversation's branch. This class is not for users: a {@code Keepsake} makes retrievers and
 * tools with it. Thread-safe.
 *
 * @param reader reads the memories
 * @param logs returns the log of a conversation
 * @param keys returns the conversation of a LangChain4j memory id
 * @param scopes returns where to look for a conversation
 * @param options which memories
 * @param stale is told of conversations whose newest memories are not of their branch; it must not wait
 */
public record MemoryLookup(
        MemoryReader reader,
        Function<MemoryKey, MessageLog> logs,
        Function<Object, MemoryKey> keys,
        Function<MemoryKey, Scope> scopes,
        MemoryOptions options,
        Consumer<MemoryKey> stale) {

    /** How many of a conversation's newest chunks are looked at in a search. */
    private static final int CHUNKS = 200;

    private static final FactWords WORDS = new FactWords(Words.standard());

    /** Checks the components. */
    public MemoryLookup {
        Objects.requireNonNull(reader, "reader");
        Objects.requireNonNull(logs, "logs");
        Objects.requireNonNull(keys, "keys");
        Objects.requireNonNull(scopes, "scopes");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(stale, "stale");
    }

    /** Returns the memories that fit a question, the best first. */
    List<MadeMemory> search(@Nullable Object memoryId, String question) {
        FactQuery query = new FactQuery(List.of(question.split(";", -1)), options.limit(), options.minTrust());
        BranchCheck branch = new BranchCheck(logs, reader, stale);
        List<MadeMemory> found = new ArrayList<>();
        for (MemoryKey key : scope(memoryId)) {
            // Some of what is found may be of another branch.
            FactQuery more = new FactQuery(query.keywords(), 2 * MemoryOptions.MAX_LIMIT, query.leastTrust());
            List<MadeMemory> facts =
                    reader.search(key, more).stream().map(FoundMemory::memory).toList();
            found.addAll(branch.onBranch(key, facts));
            found.addAll(branch.onBranch(key, trusted(reader.chunks(key, CHUNKS))));
        }
        // The scores of different conversations and kinds cannot be compared.
        return WORDS.search(query, found).stream().map(FoundMemory::memory).toList();
    }

    /** Returns the newest memories, oldest first. Pinned ones come first and count too. */
    List<MadeMemory> recent(@Nullable Object memoryId) {
        BranchCheck branch = new BranchCheck(logs, reader, stale);
        List<MadeMemory> all = new ArrayList<>();
        for (MemoryKey key : scope(memoryId)) {
            all.addAll(branch.onBranch(key, trusted(reader.chunks(key, Integer.MAX_VALUE))));
            all.addAll(branch.onBranch(key, trusted(reader.facts(key, Integer.MAX_VALUE))));
        }
        List<MadeMemory> newest = all.stream()
                .sorted(Comparator.comparing(MadeMemory::pinned)
                        .thenComparing(MadeMemory::madeAt)
                        .reversed())
                .limit(options.limit())
                .toList();
        return newest.stream()
                .sorted(Comparator.comparing(MadeMemory::pinned).reversed().thenComparing(MadeMemory::madeAt))
                .toList();
    }

    private List<MadeMemory> trusted(List<MadeMemory> memories) {
        return memories.stream()
                .filter(memory -> memory.trust().isAtLeast(options.minTrust()))
                .toList();
    }

    private List<MemoryKey> scope(@Nullable Object memoryId) {
        if (memoryId == null) {
            throw new InvalidInputException(
                    "memory id",
                    "is missing; call the AI service with a @MemoryId, so that it is known whose memories are meant");
        }
        MemoryKey key = keys.apply(memoryId);
        List<MemoryKey> named = scopes.apply(key).memories();
        if (named == null) {
            throw new InvalidInputException(
                    "scope",
                    "must name memories; all of tenant " + key.tenant() + " would tell one user what another said");
        }
        return named;
    }
}
