package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.LockFile;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.memories.FactQuery;
import io.github.keepsake4j.recall.memories.FoundMemory;
import io.github.keepsake4j.recall.memories.MadeMemory;
import io.github.keepsake4j.recall.memories.MemoryKind;
import io.github.keepsake4j.recall.memories.MemoryRules;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.memories.Overview;
import io.github.keepsake4j.recall.memories.Passage;
import io.github.keepsake4j.recall.memories.Progress;
import io.github.keepsake4j.recall.memories.Trust;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.sql.SqliteMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps memories that were made in files, as WilmerAI names them, in a directory for each tenant.
 *
 * <ul>
 *   <li>{@code <id>_memories.jsonl}: the chunks, one a line. Lines are only added, unless a memory is corrected, pinned or
 *       forgotten.
 *   <li>{@code <id>_summary.jsonl}: the summary that holds, in one line. Its versions are in {@code <id>.summaries.jsonl}. What
 *       another program wrote there before is the first version.
 *   <li>{@code <id>_vector_memory.db}: the facts in SQLite, with the tables {@code memories}, {@code memories_fts} and
 *       {@code vector_memory_tracker}. It is made with the first fact. Needs {@code org.xerial:sqlite-jdbc}.
 *   <li>{@code <id>.key}: the discussion's key, by which a clean-up finds what an erasure left that was ended by a crash.
 * </ul>
 *
 * <p>An id of up to 40 lower-case ASCII letters, digits, {@code -} and {@code _} is used as it is. In the names of other ids its
 * harmless characters and a hash stand for it.
 *
 * <p>Other programs may read the files at any time. Several processes on one machine may share the directory; it must not be on a
 * network drive. What is erased is in no file afterwards, and a small file without ids remains. Thread-safe.
 */
public final class FileMemoryStore implements MemoryStore {

    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(10);

    private final Path root;
    private final Words words;
    private @Nullable LockFile lockFile;
    private boolean closed;

    private FileMemoryStore(Path root, Words words) {
        this.root = root;
        this.words = words;
    }

    /**
     * Keeps memories in a directory, which is made on the first change.
     *
     * @param directory the directory, best not that of a log
     * @return the store, to be closed at the end
     */
    public static FileMemoryStore of(Path directory) {
        return of(directory, Words.standard());
    }

    /**
     * Keeps memories in a directory, which is made on the first change.
     *
     * @param directory the directory, best not that of a log
     * @param words splits texts into the words by which facts are found. Facts that were stored by other words are found too, and
     *     more slowly until the next change of the discussion.
     * @return the store, to be closed at the end
     */
    public static FileMemoryStore of(Path directory, Words words) {
        return new FileMemoryStore(Objects.requireNonNull(directory, "directory"), Objects.requireNonNull(words, "words"));
    }

    @Override
    public List<MadeMemory> chunks(MemoryKey key, int last) {
        return reading("memories", key, MemoryKind.CHUNK, chunks -> chunks.chunks(key, last));
    }

    @Override
    public List<MadeMemory> facts(MemoryKey key, int last) {
        return reading("memories", key, MemoryKind.FACT, facts -> facts.facts(key, last));
    }

    @Override
    public List<FoundMemory> search(MemoryKey key, FactQuery query) {
        Objects.requireNonNull(query, "query");
        return reading("search in memories", key, MemoryKind.FACT, facts -> facts.search(key, query));
    }

    @Override
    public @Nullable MadeMemory summary(MemoryKey key) {
        return reading("summary", key, MemoryKind.SUMMARY, all -> Optional.ofNullable(all.summary(key)))
                .orElse(null);
    }

    @Override
    public List<MadeMemory> summaries(MemoryKey key) {
        return reading("summaries", key, MemoryKind.SUMMARY, all -> all.summaries(key));
    }

    /** Reads each file once. */
    @Override
    public Overview overview(MemoryKey key, int last, Trust leastTrust) {
        InvalidInputException.checkAtLeast("last", 0, last);
        Overview.Track facts = reading("memories", key, MemoryKind.FACT, store -> Overview.Track.of(store, key, MemoryKind.FACT));
        return reading("memories", key, MemoryKind.CHUNK, store -> Overview.of(store.summary(key), List.of(Overview.Track.of(store, key, MemoryKind.CHUNK), facts), last, leastTrust));
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey key, String id) {
        Objects.requireNonNull(id, "id");
        return reading("memory", key, MemoryKind.CHUNK, texts -> texts.find(key, id))
                .or(() -> reading("memory", key, MemoryKind.FACT, facts -> facts.find(key, id)));
    }

    @Override
    public Progress progress(MemoryKey key, MemoryKind kind) {
        return reading("progress", key, kind, store -> store.progress(key, kind));
    }

    @Override
    public boolean add(MemoryKey key, MemoryKind kind, long revision, Passage passage, List<MadeMemory> made) {
        MemoryRules.checkAdd(kind, passage, made);
        return writing("add to the memories", key, kind, store -> store.add(key, kind, revision, passage, made));
    }

    @Override
    public boolean addFailure(MemoryKey key, MemoryKind kind, long revision, Passage passage) {
        return writing("failure in the memories", key, kind, store -> store.addFailure(key, kind, revision, passage));
    }

    @Override
    public boolean moveTo(MemoryKey key, MemoryKind kind, long revision, long step) {
        return writing("move of the memories", key, kind, store -> store.moveTo(key, kind, revision, step));
    }

    @Override
    public boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary) {
        return writing("new summary", key, MemoryKind.SUMMARY, all -> all.addSummary(key, versions, revision, summary));
    }

    @Override
    public boolean put(MemoryKey key, MadeMemory memory) {
        MemoryKind kind = memory.kind();
        boolean isEmpty = kind == MemoryKind.FACT && !Files.exists(MemoryFiles.of(root, key).facts());
        return !isEmpty && writing("change of a memory", key, kind, store -> store.put(key, memory));
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return writing("lease on the memories", key, MemoryKind.CHUNK, store -> store.acquireLease(key, name, owner, duration));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        writing("release of the memories", key, MemoryKind.CHUNK, store -> {
            store.releaseLease(key, name, owner);
            return true;
        });
    }

    @Override
    public void erase(MemoryKey key) {
        writing("erasure of the memories", key, MemoryKind.CHUNK, store -> {
            store.erase(key);
            return true;
        });
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        reading("list of memories", tenant, () -> {
            new LedgerStore(root, words).discussions(tenant, action);
            return true;
        });
    }

    /** Does nothing: each change leaves nothing behind. */
    @Override
    public void compact() {}

    @Override
    public String backend() {
        return "file";
    }

    @Override
    public synchronized void close() {
        closed = true;
        LockFile locks = lockFile;
        lockFile = null;
        if (locks != null) {
            try {
                locks.close();
            } catch (IOException e) {
                throw unavailable("close", root, e);
            }
        }
    }

    private <T> T reading(String what, Object of, Supplier<T> work) {
        checkOpen(what);
        try {
            return work.get();
        } catch (UncheckedIOException e) {
            throw unavailable(what, of, e.getCause());
        }
    }

    private static StorageUnavailableException unavailable(String what, Object of, IOException e) {
        return new StorageUnavailableException(what + " of " + of + ": the files cannot be used at the moment", e);
    }

    private <T> T reading(String what, MemoryKey key, MemoryKind kind, Function<MemoryStore, T> work) {
        return reading(what, key, () -> {
            LedgerStore texts = new LedgerStore(root, words);
            Path facts = MemoryFiles.of(root, key).facts();
            return kind == MemoryKind.FACT && Files.exists(facts)
                    ? withFacts(facts, SqliteMode.SMALL_IF_THERE, texts.least(key), work)
                    : work.apply(texts);
        });
    }

    private <T> T writing(String what, MemoryKey key, MemoryKind kind, Function<MemoryStore, T> work) {
        MemoryFiles files = MemoryFiles.of(root, key);
        return reading(what, key, () -> LedgerStore.io(() -> locks(what).holding(files.lock(), what + " of " + key, LOCK_TIMEOUT, () -> {
            if (!Files.isDirectory(files.directory())) {
                Files.createDirectories(files.directory(), SmallFiles.ownersDirectory(files.directory()));
                SmallFiles.forceNames(root);
            }
            LedgerStore texts = new LedgerStore(root, words);
            if (kind != MemoryKind.FACT) {
                return work.apply(texts);
            }
            texts.noteKey(key);
            return withFacts(files.facts(), SqliteMode.SMALL, texts.least(key), work);
        })));
    }

    private <T> T withFacts(Path file, SqliteMode mode, long least, Function<MemoryStore, T> work) {
        try (MemoryStore facts = JdbcMemoryStore.sqlite(file, mode, words, least)) {
            return work.apply(facts);
        }
    }

    private synchronized LockFile locks(String what) throws IOException {
        checkOpen(what);
        LockFile locks = lockFile;
        if (locks == null || !locks.isThere()) {
            if (locks != null) {
                locks.close();
            }
            Files.createDirectories(root, SmallFiles.ownersDirectory(root));
            locks = LockFile.open(root);
            lockFile = locks;
        }
        return locks;
    }

    private synchronized void checkOpen(String what) {
        if (closed) {
            throw new StorageClosedException(what + " on the memories in " + root);
        }
    }
}
