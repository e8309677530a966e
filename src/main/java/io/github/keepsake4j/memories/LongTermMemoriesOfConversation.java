package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The long-term memories of one conversation. An application and its user interface read, correct, pin and forget them
 * here. {@link #list} and {@link #search} return only memories whose messages are on the conversation's current branch.
 *
 * <p>Thread-safe.
 */
public final class LongTermMemoriesOfConversation {

    private final LongTermMemoryStore store;
    private final MemoryKey key;
    private final BranchCheck branch;

    /**
     * Creates it. Nothing is read.
     *
     * @param store keeps the memories
     * @param logs returns the log of a conversation
     * @param key the conversation
     * @param stale called with the conversation if its newest memories do not belong to its branch; must not block
     */
    public LongTermMemoriesOfConversation(
            LongTermMemoryStore store, Function<MemoryKey, MessageLog> logs, MemoryKey key, Consumer<MemoryKey> stale) {
        this.store = Objects.requireNonNull(store, "store");
        this.key = Objects.requireNonNull(key, "key");
        this.branch = new BranchCheck(logs, store, stale);
    }

    /**
     * Returns the current memories of a kind.
     *
     * @param kind the kind; there is at most one summary
     * @return the memories, oldest first
     * @throws StorageUnavailableException if a store cannot be reached
     */
    public List<MadeMemory> list(MadeMemory.Kind kind) {
        List<MadeMemory> all =
                switch (kind) {
                    case CHUNK -> store.chunks(key, Integer.MAX_VALUE);
                    case FACT -> store.facts(key, Integer.MAX_VALUE);
                    case SUMMARY ->
                        Optional.ofNullable(store.summary(key)).stream().toList();
                };
        return branch.onBranch(key, all);
    }

    /**
     * Finds facts by their words.
     *
     * @param query the query
     * @return the facts, the best first
     * @throws StorageUnavailableException if a store cannot be reached
     */
    public List<MadeMemory> search(FactQuery query) {
        FactQuery more = new FactQuery(query.keywords(), FactQuery.MAX_LIMIT, query.leastTrust());
        List<MadeMemory> found = store.search(key, more).stream()
                .map(FoundLongTermMemory::memory)
                .toList();
        return branch.onBranch(key, found).stream().limit(query.limit()).toList();
    }

    /**
     * Finds a memory, even if it was replaced or its messages are on another branch.
     *
     * @param id the memory's id
     * @return the memory, or empty if there is none
     * @throws StorageUnavailableException if the store cannot be reached
     */
    public Optional<MadeMemory> find(String id) {
        return store.find(key, id);
    }

    /**
     * Remembers a fact that no model made, such as what a user entered in a profile. It belongs to every branch of the
     * conversation, even before its first message. A {@link LongTermMemoryBlock}, the retriever and the tools show it like
     * the other memories.
     *
     * @param title what the fact is about; not blank
     * @param text the fact; not blank
     * @param by the author of the fact; the fact has this trust
     * @return the fact
     * @throws InvalidInputException if the title or the text is blank, or the conversation was erased and has no message
     *     since
     * @throws StorageUnavailableException if the store cannot be reached; list the memories before you try again
     */
    public MadeMemory remember(String title, String text, Trust by) {
        checkNotBlank("title", title);
        checkNotBlank("text", text);
        branch.checkNotErased(key);
        MadeMemory fact = MadeMemory.fact(title, text, List.of(), List.of(), Passage.NONE, by);
        while (!add(fact)) {
            // Another process added a fact in between.
        }
        return fact;
    }

    /**
     * Corrects a memory. The correction is a new memory that names the older one and has the same source messages. Both
     * can be read by their ids, but only the correction is shown. Summaries that contain a corrected chunk are
     * forgotten, and the next update creates the summary again.
     *
     * @param id the id of the current memory
     * @param text its new text
     * @param by the author of the correction; the correction has this trust
     * @return the correction
     * @throws InvalidInputException if there is no such memory, or it is not current
     * @throws StorageUnavailableException if the store cannot be reached; list the memories before you try again
     */
    public MadeMemory correct(String id, String text, Trust by) {
        while (true) {
            MadeMemory older = current(id);
            MadeMemory newer = MadeMemory.made(
                            older.kind(),
                            text,
                            older.title(),
                            older.kind() == MadeMemory.Kind.FACT ? text : "",
                            older.entities(),
                            older.keyPhrases(),
                            older.source(),
                            by)
                    .madeBy(null, "correction", Instant.now())
                    .withPinned(older.pinned())
                    .replacing(older.id());
            if (older.kind() == MadeMemory.Kind.SUMMARY) {
                long revision = store.progress(key, MadeMemory.Kind.CHUNK).revision();
                if (store.addSummary(key, store.summaries(key).size(), revision, newer)) {
                    return newer;
                }
            } else if (add(newer)) {
                forgetSummariesOf(older);
                return newer;
            }
        }
    }

    /**
     * Pins or unpins a memory. Pinned memories come first among the recent ones, and no model replaces them.
     *
     * @param id the memory's id
     * @param pinned whether it is pinned
     * @throws InvalidInputException if there is no such memory, or it is not current
     * @throws StorageUnavailableException if the store cannot be reached; then try again
     */
    public void pin(String id, boolean pinned) {
        store.put(key, current(id).withPinned(pinned));
    }

    /**
     * Forgets a memory: removes its text and the texts of the older memories that it replaced. It is not created again
     * from the same messages. Summaries that contain a forgotten chunk are forgotten too, and the next update creates
     * the summary from the remaining chunks.
     *
     * @param id the memory's id
     * @throws InvalidInputException if there is no such memory
     * @throws StorageUnavailableException if the store cannot be reached; then try again
     */
    public void forget(String id) {
        Optional<MadeMemory> next = Optional.of(required(id));
        List<MadeMemory> chain = new ArrayList<>();
        while (next.isPresent()) {
            MadeMemory memory = next.get();
            chain.add(memory);
            String older = memory.replaces();
            // Otherwise the replaced memories could become current again.
            next = older == null || chain.stream().anyMatch(each -> each.id().equals(older))
                    ? Optional.empty()
                    : store.find(key, older);
        }
        forgetSummariesOf(chain.get(0));
        // The oldest first, so that after a failure no memory is current by mistake.
        for (int i = chain.size() - 1; i >= 0; i--) {
            store.put(key, chain.get(i).withStatus(MadeMemory.Status.FORGOTTEN));
        }
    }

    /**
     * Removes all memories of the conversation and keeps its messages. Erasing the conversation with the
     * {@code Keepsake} does this too. Call this method if other code, such as a clean-up of the bare log, erased the
     * conversation and no turn follows. The results of a running creator are refused.
     *
     * @throws StorageUnavailableException if the store cannot be reached; then try again
     */
    public void erase() {
        store.erase(key);
    }

    /** Returns the class and the key, without text of memories. */
    @Override
    public String toString() {
        return "LongTermMemoriesOfConversation[" + key + "]";
    }

    private static void checkNotBlank(String field, String text) {
        if (Objects.requireNonNull(text, field).isBlank()) {
            throw new InvalidInputException(field, "must not be blank");
        }
    }

    /** Adds a memory that was made by hand. Returns false if others were added in between. */
    private boolean add(MadeMemory memory) {
        long revision = store.progress(key, memory.kind()).revision();
        return store.add(key, memory.kind(), revision, Passage.NONE, List.of(memory));
    }

    private void forgetSummariesOf(MadeMemory memory) {
        if (memory.kind() == MadeMemory.Kind.CHUNK) {
            forgetSummaries(store, key, memory.source());
        }
    }

    /** Forgets the versions of the summary that contain, or may contain, the chunk of a passage. */
    static void forgetSummaries(LongTermMemoryStore store, MemoryKey key, Passage passage) {
        List<Passage> path = store.progress(key, MadeMemory.Kind.CHUNK).path().stream()
                .map(Progress.Step::passage)
                .toList();
        int place = path.indexOf(passage);
        for (MadeMemory version : store.summaries(key)) {
            int end = path.indexOf(version.source());
            // A version of another branch may contain the same chunk.
            if (version.status() != MadeMemory.Status.FORGOTTEN && (end < 0 || end >= place)) {
                store.put(key, version.withStatus(MadeMemory.Status.FORGOTTEN));
            }
        }
    }

    private MadeMemory current(String id) {
        MadeMemory memory = required(id);
        if (memory.status() != MadeMemory.Status.CURRENT) {
            throw new InvalidInputException(
                    "id",
                    "memory " + id + " of conversation " + key + " is " + memory.status() + ". Only a "
                            + "current memory can be changed: list the memories and use the id of a current one");
        }
        return memory;
    }

    private MadeMemory required(String id) {
        return store.find(key, id)
                .orElseThrow(() -> new InvalidInputException(
                        "id", "conversation " + key + " has no memory " + id + "; list the memories for their ids"));
    }
}
